"""Which requests reach which `*_pass`: servers, locations with nginx's precedence, named locations, `if` blocks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from sselint.facts import Match
from sselint.read.nginx.parser import Directive
from sselint.read.nginx.scopes import Scope
from sselint.read.nginx.variables import words_variables

PASSES = {
    "proxy_pass": "proxy",
    "grpc_pass": "grpc",
    "uwsgi_pass": "uwsgi",
    "scgi_pass": "scgi",
    "fastcgi_pass": "fastcgi",
}
"""The directives that hand a request to an upstream, and the prefix of the settings that go with each."""

GATEWAY_ERRORS = frozenset({"500", "502", "503", "504"})
"""What nginx answers when an upstream fails."""

SERVER_STRIDE = 100_000
"""Distance between the priorities of two ranks of server: more than any server has locations."""

_GLUED = re.compile(r"(=|\^~|~\*|~)(.+)", re.S)
_NAMED_GROUP = re.compile(r"\(\?<(?![=!])")


@dataclass(frozen=True)
class Pattern:
    """A location's pattern: `modifier` is "=", "^~", "~", "~*", "@" or "" (prefix)."""

    modifier: str
    text: str

    @property
    def is_regex(self) -> bool:
        """Whether this is a regular expression."""
        return self.modifier in ("~", "~*")

    def path(self) -> tuple[str, str]:
        """(kind, value) as facts.Match has it."""
        if self.is_regex:
            text = _NAMED_GROUP.sub("(?P<", self.text)
            return ("regex", f"(?i){text}" if self.modifier == "~*" else text)
        return ("exact" if self.modifier == "=" else "prefix", self.text)


@dataclass(frozen=True)
class PassPlace:
    """A `*_pass` with where it stands. `scope` is the block it is in; `server` and `location` are None where a fragment
    does not write them. `conditions` are the variables of the `if` blocks around it."""

    directive: Directive
    scope: Scope
    server: Scope | None
    location: Scope | None
    match: Match
    conditions: frozenset[str] = frozenset()


def passes(http: Scope) -> Iterator[PassPlace]:
    """Every `*_pass` under an http or stream context, with the requests that reach it."""
    servers = [http.inside(d) for d in http.children if d.name == "server" and d.block is not None]
    for server in servers:
        yield from _Server(server, http.kind == "stream").passes()
    loose = Scope("server", None, tuple(d for d in http.children if d.name in ("location", "if", *PASSES)), http)
    if loose.children:
        yield from _Server(loose, http.kind == "stream").passes()


class _Server:
    """One server block: its locations in the order in which nginx prefers them."""

    def __init__(self, scope: Scope, is_stream: bool) -> None:
        self.scope = scope
        self.is_stream = is_stream
        self.locations = list(_locations(scope))
        self.referrers = _referrers(self.locations)
        self.ranks = _ranks([pattern for pattern, _ in self.locations])
        self.hosts, self.rank = _hosts(scope)

    def passes(self) -> Iterator[PassPlace]:
        for directive, scope, conditions in _own_passes(self.scope, frozenset()):
            match = Match((), self.hosts, (), self.rank * SERVER_STRIDE + SERVER_STRIDE - 1)
            yield PassPlace(directive, scope, self._written(self.scope), None, match, conditions)
        for index, (pattern, location) in enumerate(self.locations):
            yield from self._of_location(pattern, location, self.ranks[index])

    def _of_location(self, pattern: Pattern, location: Scope, rank: int) -> Iterator[PassPlace]:
        for directive, scope, conditions in _own_passes(location, frozenset()):
            if pattern.modifier == "@":
                paths = self._paths_of_named(pattern.text)
                if paths is None:
                    continue
            else:
                paths = (pattern.path(),)
            priority = self.rank * SERVER_STRIDE + rank
            yield PassPlace(
                directive,
                scope,
                self._written(self.scope),
                location,
                Match(paths, self.hosts, (), priority),
                conditions,
            )

    def _paths_of_named(self, name: str) -> tuple[tuple[str, str], ...] | None:
        """The paths whose locations hand over to a named location; None where only a failure leads there.

        A named location that nobody names here is reached by a file that is out of sight: any path.
        """
        referrers = self.referrers.get(name)
        if referrers is None:
            return ()
        normal = [pattern for pattern, failure in referrers if not failure]
        if not normal:
            return None
        if any(pattern is None for pattern in normal):
            return ()
        return tuple(dict.fromkeys(p.path() for p in normal if p is not None))

    @staticmethod
    def _written(scope: Scope) -> Scope | None:
        return scope if scope.directive is not None else None


def pattern_of(directive: Directive) -> Pattern:
    """The pattern of a `location` block."""
    args = directive.args
    if len(args) >= 2 and args[0] in ("=", "^~", "~", "~*"):
        return Pattern(args[0], args[1])
    text = args[0] if args else ""
    if text.startswith("@"):
        return Pattern("@", text)
    if match := _GLUED.match(text):
        return Pattern(match[1], match[2])
    return Pattern("", text)


def location_of(server: Scope, target: str) -> Scope | None:
    """The location of a server that an internal redirect to `target` reaches: a named one, or the one that a URI is
    looked up in. None where the target is no place in this server, or a variable. Regular expressions are not tried: an
    audited file's own may take for ever.
    """
    found = list(_locations(server))
    if target.startswith("@"):
        return next((scope for pattern, scope in found if pattern.text == target), None)
    if not target.startswith("/") or "$" in target:
        return None
    path = target.split("?")[0]
    prefixes = [(pattern, scope) for pattern, scope in found if pattern.modifier in ("", "^~", "=")]
    exact = next((scope for pattern, scope in prefixes if pattern.modifier == "=" and pattern.text == path), None)
    around = [(p, scope) for p, scope in prefixes if p.modifier != "=" and path.startswith(p.text)]
    return exact or (max(around, key=lambda pair: len(pair[0].text))[1] if around else None)


def passes_in(location: Scope) -> Iterator[Directive]:
    """The `*_pass` directives of a location, those under an `if` included."""
    return (directive for directive, _, _ in _own_passes(location, frozenset()))


def _locations(scope: Scope) -> Iterator[tuple[Pattern, Scope]]:
    """All locations of a server, nested ones after the one they stand in."""
    for child in scope.children:
        if child.block is None:
            continue
        if child.name == "location":
            inner = scope.inside(child)
            yield pattern_of(child), inner
            yield from _locations(inner)


def _own_passes(scope: Scope, conditions: frozenset[str]) -> Iterator[tuple[Directive, Scope, frozenset[str]]]:
    """The `*_pass` directives of a block and of the `if` and `limit_except` blocks in it."""
    for child in scope.children:
        if child.name in PASSES and child.args:
            yield child, scope, conditions
        elif child.name in ("if", "limit_except") and child.block is not None:
            inner = conditions | (words_variables(child.words[1:]) if child.name == "if" else frozenset())
            yield from _own_passes(scope.inside(child), inner)


def _referrers(locations: list[tuple[Pattern, Scope]]) -> dict[str, list[tuple[Pattern | None, bool]]]:
    """Who hands over to each named location: (pattern, whether only after a failure of the upstream)."""
    found: dict[str, list[tuple[Pattern | None, bool]]] = {}
    for pattern, scope in locations:
        own = None if pattern.modifier == "@" else pattern
        for block in (scope, *(scope.inside(d) for d in scope.children if d.name == "if" and d.block is not None)):
            for directive in block.inherited("try_files"):
                if directive.args:
                    found.setdefault(directive.args[-1], []).append((own, False))
            for directive in block.inherited("error_page"):
                if directive.args:
                    failure = all(c in GATEWAY_ERRORS or c.startswith("=") for c in directive.args[:-1])
                    found.setdefault(directive.args[-1], []).append((own, failure))
    return found


def _ranks(patterns: list[Pattern]) -> list[int]:
    """The rank of each location, 0 first: exact, `^~` prefixes, regular expressions as written, other prefixes; longer
    prefixes before shorter ones (nginx.org, "location").

    A plain prefix that is longer than a `^~` prefix it lies under goes before it: the longest match is what counts.
    There a regular expression goes before the one and after the other, which no single order can say: it is put after
    both.
    """
    strong = [p.text for p in patterns if p.modifier == "^~"]

    def key(index: int) -> tuple[int, int, int]:
        pattern = patterns[index]
        if pattern.modifier == "=":
            return (0, 0, index)
        if pattern.is_regex:
            return (2, index, 0)
        if pattern.modifier == "@":
            return (4, index, 0)
        group = 1 if pattern.modifier == "^~" or any(pattern.text.startswith(s) for s in strong) else 3
        return (group, -len(pattern.text), index)

    ranks = [0] * len(patterns)
    for rank, index in enumerate(sorted(range(len(patterns)), key=key)):
        ranks[index] = rank
    return ranks


def _hosts(server: Scope) -> tuple[tuple[str, ...], int]:
    """The names of a server (empty: any) and the rank of its kind of name: exact, wildcard, pattern, none."""
    lines = server.own("server_name")
    names = [name for d in lines for name in d.args]
    if any(d.is_masked for d in lines) or any("$" in name and not name.startswith("~") for name in names):
        return (), 3
    hosts = tuple(name for name in names if name not in ("_", "", "*"))
    if not hosts:
        return (), 3
    if any(name.startswith("~") for name in hosts):
        return hosts, 2
    return hosts, 1 if any("*" in name or name.startswith(".") for name in hosts) else 0
