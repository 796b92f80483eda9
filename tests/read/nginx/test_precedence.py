"""The order in which locations are tried, held against a real nginx that serves them."""

from __future__ import annotations

import http.client
import os
import random
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from sselint.facts import Route
from tests import proxies
from tests.read.nginx.helpers import reading

pytestmark = pytest.mark.premises

PATHS = ("/", "/x", "/x/", "/x/y", "/x/z", "/xy", "/X/Y", "/y", "/y/x/y")


def winner(found: tuple[Route, ...], path: str) -> str:
    """The pool that a path goes to, by the matches and priorities of the routes."""

    def takes(route: Route) -> bool:
        for kind, value in route.match.paths:
            if path == value if kind == "exact" else kind == "prefix" and path.startswith(value):
                return True
            if kind == "regex" and re.search(value, path):
                return True
        return not route.match.paths

    return min((r for r in found if takes(r)), key=lambda r: r.match.priority).pool


ORDERS = {
    "exact before all": ("location /x { proxy_pass http://a; } location = /x { proxy_pass http://b; }", "/x", "b"),
    "exact is exact": ("location /x { proxy_pass http://a; } location = /x { proxy_pass http://b; }", "/x/y", "a"),
    "longer prefix first": ("location / { proxy_pass http://a; } location /x/ { proxy_pass http://b; }", "/x/y", "b"),
    "regex before prefix": (
        "location /x/ { proxy_pass http://a; } location ~ y$ { proxy_pass http://b; }",
        "/x/y",
        "b",
    ),
    "regex without case": ("location / { proxy_pass http://a; } location ~* Y$ { proxy_pass http://b; }", "/y", "b"),
    "regex with case": ("location / { proxy_pass http://a; } location ~ Y$ { proxy_pass http://b; }", "/y", "a"),
    "first regex wins": ("location ~ ^/x { proxy_pass http://a; } location ~ y$ { proxy_pass http://b; }", "/x/y", "a"),
    "^~ before regex": ("location ^~ /x/ { proxy_pass http://a; } location ~ y$ { proxy_pass http://b; }", "/x/y", "a"),
    "^~ is no regex": ("location ^~ /x/ { proxy_pass http://a; } location / { proxy_pass http://b; }", "/y", "b"),
    "glued modifiers": ("location ~^/x { proxy_pass http://a; } location =/x { proxy_pass http://b; }", "/x", "b"),
    "nested": ("location /x/ { proxy_pass http://a; location /x/y { proxy_pass http://b; } }", "/x/y", "b"),
    "nested, outside": ("location /x/ { proxy_pass http://a; location /x/y { proxy_pass http://b; } }", "/x/z", "a"),
    "named groups": ("location / { proxy_pass http://a; } location ~ ^/(?<n>x)/ { proxy_pass http://b; }", "/x/", "b"),
}


def test_hard_orders(tmp_path: Path) -> None:
    """Each says which pool it thinks wins; nginx and the reader must both agree."""
    servers = [server for server, _, _ in ORDERS.values()]
    with serving(servers, tmp_path) as ports:
        for (name, (server, path, pool)), port in zip(ORDERS.items(), ports, strict=True):
            assert (name, winner(routes(server), path)) == (name, pool)
            assert (name, served(port, path)) == (name, pool)


def test_random_orders(tmp_path: Path) -> None:
    chance = random.Random(7)
    servers = [random_server(chance) for _ in range(60)]
    with serving(servers, tmp_path) as ports:
        for server, port in zip(servers, ports, strict=True):
            found = routes(server)
            answers = {path: served(port, path) for path in PATHS}
            answers = {path: pool for path, pool in answers.items() if len(pool) == 1}  # not `/x` sent on to `/x/`
            assert {path: winner(found, path) for path in answers} == answers, server


def random_server(chance: random.Random) -> str:
    """Three to seven locations, different ones, so that nginx finds no duplicate; `/` is always there.

    No regular expressions beside a prefix that lies under a `^~` one: for that no single order of locations is right.
    """
    kinds = ["location {}", "location = {}", "location ^~ {}"]
    prefixes = ["/x", "/x/", "/x/y", "/y", "/xy"]
    regexes = ["~ y$", "~ ^/x", "~* Y", "~ /x/", "~* ^/X/.$", "~ ^/(?<n>x|y)/?$"]
    chosen = [chance.choice(kinds).format(p) for p in chance.sample(prefixes, chance.randint(1, 3))]
    strong = [head.split()[-1] for head in chosen if "^~" in head]
    if not any(
        head.split()[-1].startswith(s) for head in chosen if "=" not in head and "^~" not in head for s in strong
    ):
        chosen += [f"location {r}" for r in chance.sample(regexes, chance.randint(1, 3))]
    chosen.append("location /")
    chance.shuffle(chosen)
    return " ".join(f"{head} {{ proxy_pass http://{chance.choice('abc')}; }}" for head in chosen)


def routes(server: str) -> tuple[Route, ...]:
    pools = " ".join(f"upstream {pool} {{ server {pool}:80; }}" for pool in "abc")
    return reading(f"events {{}} http {{ {pools} server {{ listen 80; {server} }} }}").routes


@contextmanager
def serving(servers: list[str], folder: Path) -> Iterator[list[int]]:
    """One nginx with all these servers, each on a port of its own, and pools that answer with their names."""
    ports = [proxies.free_port() for _ in servers]
    pools = {pool: proxies.free_port() for pool in "abc"}
    parts = [f"server {{ listen 127.0.0.1:{port}; {s} }}" for s, port in zip(servers, ports, strict=True)]
    for pool, port in pools.items():
        parts.append(f"server {{ listen 127.0.0.1:{port}; return 200 {pool}; }}")
        parts.append(f"upstream {pool} {{ server 127.0.0.1:{port}; }}")
    user = "user root;" if os.geteuid() == 0 else ""
    lines = "\n".join(parts)
    text = f"{user} daemon off; pid {folder}/pid; events {{}}\nhttp {{ access_log off;\n{lines}\n}}"
    (folder / "nginx.conf").write_text(text)
    command = [proxies.nginx(), "-p", folder, "-c", folder / "nginx.conf", "-e", folder / "error.log"]
    with proxies.running(command, ports[-1], folder / "log"):
        yield ports


def served(port: int, path: str) -> str:
    """The pool that answers."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    try:
        connection.request("GET", path)
        return connection.getresponse().read().decode()
    finally:
        connection.close()
