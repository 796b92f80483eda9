"""Which requests an Envoy route takes: path, conditions on headers, and what an earlier route leaves over."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from sselint.read.envoy.fields import field, has, is_template, message
from sselint.read.yaml_nodes import Node

_PATH_FIELDS = ("prefix", "path", "safe_regex", "regex", "path_separated_prefix", "path_match_policy")


@dataclass(frozen=True)
class Condition:
    """A condition of a match beside the path. `header` is a lower-case name (":path" for a query parameter);
    `by_range` says that a number in it is compared; `node` is where it is written."""

    header: str
    node: Node
    by_range: bool = False


@dataclass(frozen=True)
class RouteMatch:
    """A RouteMatch. `paths` as in facts.Match; `streams` is False where no SSE request can match (gRPC, CONNECT);
    `whole` is False where only a share of the matching requests is taken (runtime_fraction)."""

    paths: tuple[tuple[str, str], ...]
    conditions: tuple[Condition, ...]
    streams: bool = True
    whole: bool = True

    @property
    def headers(self) -> tuple[str, ...]:
        """The names the choice depends on."""
        return tuple(dict.fromkeys(c.header for c in self.conditions))


class Taken:
    """What the routes of a virtual host have taken so far: the first match wins."""

    def __init__(self) -> None:
        self._everything = False
        self._prefixes: tuple[str, ...] = ()
        self._paths: set[tuple[str, str]] = set()

    def add(self, match: RouteMatch) -> None:
        """Counts in what a route takes without a condition."""
        if match.conditions or not match.whole or not match.streams:
            return
        self._everything = self._everything or not match.paths or ("prefix", "/") in match.paths
        self._prefixes += tuple(value for kind, value in match.paths if kind == "prefix")
        self._paths.update(match.paths)

    def leaves_nothing_of(self, match: RouteMatch) -> bool:
        """Whether every request that `match` would take is taken already."""
        return self._everything or (bool(match.paths) and all(self._covers(*path) for path in match.paths))

    def _covers(self, kind: str, value: str) -> bool:
        return (kind, value) in self._paths or (kind != "regex" and value.startswith(self._prefixes))


def read_match(match: Node) -> RouteMatch:
    """The match of a route. An unknown path (a template) is any path."""
    conditions = [c for h in field(match, "headers") if (c := _header_condition(h)) is not None]
    if list(field(match, "query_parameters")):
        conditions.append(Condition(":path", field(match, "query_parameters")))
    for other in ("dynamic_metadata", "filter_state", "tls_context", "cookies"):
        if has(match, other):
            conditions.append(Condition("cookie" if other == "cookies" else ":" + other, field(match, other)))
    streams = not has(match, "grpc", "connect_matcher") and not _refuses_get(match)
    return RouteMatch(_paths(match), tuple(conditions), streams, _takes_all(field(match, "runtime_fraction")))


def routes_of(host: Node) -> Iterator[tuple[Node, RouteMatch]]:
    """The routes of a virtual host in the order in which they are tried. What a matcher tree leads to is taken on a
    condition."""
    for node in field(host, "routes"):
        yield node, read_match(node["match"])
    tree = host["matcher"]
    for node in _inside(tree):
        match = read_match(node["match"])
        yield node, replace(match, conditions=(*match.conditions, Condition(":matcher", tree)))


def _inside(tree: Node) -> Iterator[Node]:
    """The Route messages in a matcher tree."""
    if tree.is_sequence:
        for item in tree:
            yield from _inside(item)
    elif message(tree) == "Route":
        yield tree
    else:
        for _, value in tree.items():
            yield from _inside(value)


def _paths(match: Node) -> tuple[tuple[str, str], ...]:
    if any(is_template(field(match, name)) for name in _PATH_FIELDS):
        return ()
    prefix, exact = match["prefix"].text, match["path"].text
    if prefix is not None:
        return (("prefix", prefix),)
    if exact is not None:
        return (("exact", exact),)
    separated = field(match, "path_separated_prefix").text
    if separated is not None:
        return (("exact", separated), ("prefix", separated + "/"))
    regex = field(match, "safe_regex", "regex").text or match["regex"].text
    if regex is not None:
        return (("regex", f"^(?:{regex})$"),)
    template = field(match, "path_match_policy", "typed_config", "path_template").text
    return (("regex", _template_regex(template)),) if template is not None else ()


def _template_regex(template: str) -> str:
    """A URI template (`/feeds/{id}/*`, `/files/**`) as a regular expression."""
    parts = re.split(r"(\{[^}]*\}|\*\*|\*)", template)
    wild = {False: r"[^/]+", True: r".*"}
    return "^" + "".join(wild["**" in p] if p[:1] in {"{", "*"} else re.escape(p) for p in parts) + "$"


def _header_condition(header: Node) -> Condition | None:
    """The condition that a HeaderMatcher makes; None for one that every SSE request over GET meets."""
    name = (header["name"].text or "?").lower()
    exact = _exact(header)
    if name == ":method" and exact == "GET" and not field(header, "invert_match").truth:
        return None
    if name == "accept" and "text/event-stream" in str(header.plain()) and not field(header, "invert_match").truth:
        return None
    return Condition(name, header, has(header, "range_match"))


def _exact(header: Node) -> str | None:
    return field(header, "string_match", "exact").text or field(header, "exact_match").text


def _refuses_get(match: Node) -> bool:
    """Whether the route only takes CONNECT or OPTIONS, which carry no stream."""
    methods = [_exact(h) for h in field(match, "headers") if h["name"].text == ":method"]
    return any(m in {"CONNECT", "OPTIONS"} for m in methods)


def _takes_all(fraction: Node) -> bool:
    """Whether a `runtime_fraction` is absent or one hundred per cent."""
    value = field(fraction, "default_value") or field(fraction, "runtime_fraction", "default_value")
    numerator = value["numerator"]
    if not fraction or not value:
        return True
    whole = {"HUNDRED": 100, "TEN_THOUSAND": 10_000, "MILLION": 1_000_000}.get(value["denominator"].text or "HUNDRED")
    return numerator.number is not None and numerator.number == whole


def domains(host: Node) -> tuple[str, ...]:
    """The domains of a virtual host; empty where it takes any."""
    names = tuple(d.text for d in field(host, "domains") if d.text is not None)
    return () if "*" in names or len(names) < len(list(field(host, "domains"))) else names


def host_rank(names: tuple[str, ...]) -> int:
    """How early a virtual host is tried: exact names, then suffixes, then prefixes, then any."""
    if not names:
        return 3
    return min(1 if n.startswith("*") else 2 if n.endswith("*") else 0 for n in names)
