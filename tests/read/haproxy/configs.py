"""Configurations for the tests of the HAProxy reader, and what it makes of them."""

from __future__ import annotations

from collections.abc import Mapping

from sselint.facts import Affinity, Reading, Route
from sselint.read import haproxy
from sselint.read.haproxy.persistence import NOTHING_ASSUMED, Assumed
from sselint.source import Source, Tree

NO_TREE = Tree(".", (), lambda _: b"")
TIMEOUTS = "timeout connect 1s\ntimeout client 1m\ntimeout server 1h"
DEFAULTS = f"defaults\nmode http\noption http-no-delay\n{TIMEOUTS}\n"
PINNED = "check cookie {n}"

WRITTEN: dict[str, None] = {}
"""Every complete configuration that a test has had made, for the test that asks HAProxy whether it takes them."""


def servers(parameters: str = PINNED, names: tuple[str, ...] = ("r1", "r2", "r3")) -> str:
    """Server lines; {n} in the parameters is the server's name."""
    return "".join(f"server {n} 10.0.0.{n[1:]}:8000 {parameters.replace('{n}', n)}".rstrip() + "\n" for n in names)


def config(
    backend: str = "", *, frontend: str = "", defaults: str = "", server: str = PINNED, more: str = "", after: str = ""
) -> str:
    """A complete configuration: `defaults`, `frontend` and `backend` are lines of these sections, `server` the
    parameters of three servers, `after` lines below them, `more` further sections."""
    text = f"""{DEFAULTS}{defaults}
frontend fe
bind :8080
{frontend}
default_backend be
backend be
{backend}
{servers(server)}{after}
{more}
"""
    WRITTEN[text] = None
    return text


def whole(text: str) -> str:
    """A complete configuration that is written out."""
    WRITTEN[text] = None
    return text


def read(text: str, assumed: Assumed = NOTHING_ASSUMED) -> Reading:
    """What the reader makes of one file."""
    return haproxy.read((Source("haproxy.cfg", text, "haproxy"),), NO_TREE, assumed)


def read_files(files: Mapping[str, str]) -> Reading:
    """What the reader makes of several files, in the order of their paths, as they are found."""
    return haproxy.read([Source(p, files[p], "haproxy") for p in sorted(files)], NO_TREE)


def routes(text: str) -> dict[str, Route]:
    """The routes of a file by name; of several with one name the last."""
    return {route.name: route for route in read(text).routes}


def affinity(text: str, assumed: Assumed = NOTHING_ASSUMED) -> Affinity:
    """The affinity of the only route of a file."""
    (route,) = read(text, assumed).routes
    return route.affinity


def row(text: str, assumed: Assumed = NOTHING_ASSUMED) -> str:
    """The measured row of the only route of a file, or `unknown`."""
    found = affinity(text, assumed)
    return found.row.removeprefix("haproxy/") or found.strength.value
