"""The `upstream` blocks: members, balancing method, stickiness."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from sselint.facts import Count, Target
from sselint.read.nginx.knowledge import knowledge
from sselint.read.nginx.parser import Directive
from sselint.read.nginx.scopes import value_of

KEYLESS = ("round_robin", "least_conn", "random", "least_time")
METHODS = frozenset({"ip_hash", "hash", "least_conn", "least_time", "random", "sticky"})
"""Directives that choose the peer. `sticky` works on top of the method beside it."""

_ADDRESS = re.compile(r"(?P<host>\[[^\]]*\]|unix:[^\s]*|[^:]*)(?::(?P<port>.*))?\Z", re.S)


@dataclass(frozen=True)
class Member:
    """A `server` line of an upstream. `certain` is False where it does not stand for exactly one written address: a
    template writes or repeats it, or DNS service records list the members."""

    directive: Directive
    target: Target
    certain: bool
    backup: bool = False
    down: bool = False
    drain: bool = False
    never_fails: bool = False
    """max_fails=0: an error does not take it out of rotation."""
    route: str | None = None
    is_limited: bool = False
    """max_conns: once it has all the streams it may have, others get its clients."""


@dataclass(frozen=True)
class Upstream:
    """An upstream block.

    `method` is the balancing method that holds (the last one written), `overridden` those that a later one replaces.
    `sticky` works on top of the methods before it; a method after it replaces it as well. `opaque` is why its members
    or method cannot be known, "" if they can.
    """

    name: str
    directive: Directive
    members: tuple[Member, ...]
    method: Directive | None = None
    sticky: Directive | None = None
    overridden: tuple[Directive, ...] = ()
    opaque: str = ""

    def __hash__(self) -> int:
        """By place, as its directive."""
        return hash(self.directive)

    @property
    def serving(self) -> tuple[Member, ...]:
        """Members that may get a request, backups included."""
        return tuple(m for m in self.members if not m.down)

    @property
    def primaries(self) -> tuple[Member, ...]:
        """Members that get requests while all is well."""
        return tuple(m for m in self.serving if not m.backup)

    @property
    def backups(self) -> tuple[Member, ...]:
        """Members that get requests once the others are down."""
        return tuple(m for m in self.serving if m.backup)

    @property
    def never_fails(self) -> bool:
        """Whether every member has max_fails=0."""
        return bool(self.serving) and all(m.never_fails for m in self.serving)


def upstream_of(directive: Directive) -> Upstream:
    """An `upstream` block as facts."""
    block = directive.block or ()
    members = tuple(member_of(d) for d in block if d.name == "server" and d.args)
    chosen = [d for d in block if d.name in METHODS | knowledge().foreign_methods]
    methods = [d for d in chosen if d.name != "sticky"]
    sticky = chosen[-1] if chosen and chosen[-1].name == "sticky" else None
    return Upstream(
        name=directive.args[0] if directive.args else "",
        directive=directive,
        members=members,
        method=methods[-1] if methods else None,
        sticky=sticky,
        overridden=tuple(d for d in chosen if d is not sticky and d not in methods[-1:]),
        opaque=_opaque(directive, block),
    )


def member_of(directive: Directive) -> Member:
    """A `server` line of an upstream."""
    address = directive.words[1]
    masked = directive.word_masked(address)
    host, port = split_address(address.text)
    flags = set(directive.args[1:])
    return Member(
        directive=directive,
        target=Target("" if masked else host, None if masked else port, directive.span()),
        certain=not (
            masked
            or "$" in address.text
            or directive.in_loop
            or directive.source.is_optional(directive.start)
            or value_of(directive, "service") is not None
        ),
        backup="backup" in flags,
        down="down" in flags,
        drain="drain" in flags,
        never_fails=value_of(directive, "max_fails") == "0",
        route=value_of(directive, "route"),
        is_limited=value_of(directive, "max_conns") not in (None, "0"),
    )


def split_address(text: str) -> tuple[str, int | None]:
    """Host and port of an address; the port is None where it is not a number (a socket, a variable, not written)."""
    match = _ADDRESS.match(text)
    if match is None:
        return text, None
    host = match["host"]
    if host.startswith("unix:"):
        return host.rstrip(":"), None
    return host, int(match["port"]) if (match["port"] or "").isdigit() else None


def count_members(members: Iterable[Member]) -> Count:
    """How many members server lines stand for: distinct addresses, and one or more for what is not written out."""
    members = tuple(members)
    certain = {(m.target.host, m.target.port) for m in members if m.certain}
    number = len(certain)
    if len(members) > 0 and all(m.certain for m in members):
        return Count.exactly(number, f"{number} server line{'s' * (number != 1)}")
    if not members:
        return Count.unknown("no server line stands in the upstream")
    return Count(max(number, 1), None, "not every server line is written out")


def _opaque(directive: Directive, block: tuple[Directive, ...]) -> str:
    known = knowledge()
    for child in block:
        if child.name == "include":
            return f"{child.args[0] if child.args else 'a file'} is included and not in the tree"
        if child.name in known.foreign_methods:
            return f"{child.name} is not part of nginx: what it does has not been measured"
        if child.name not in METHODS | known.neutral:
            masked = child.source.is_masked(child.start, child.end)
            return "a template writes the balancing method" if masked else f"{child.name} is not known"
        if child.name in METHODS and (child.is_masked or child.source.is_optional(child.start)):
            return "a template decides the balancing method"
    return ""
