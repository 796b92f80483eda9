"""The routing keys an Envoy configuration knows: hash policies and stateful sessions, and what their lifetime is.

Sources: envoy.config.route.v3.RouteAction.HashPolicy, the stateful_session filter and its session states in the API
reference; what each does on which event is measured in tests/premises/test_envoy.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache

from sselint import catalogue
from sselint.facts import Span
from sselint.read.envoy.fields import field, has, is_template, line, seconds, typed, unpacked
from sselint.read.yaml_nodes import Node

_WEAKEST_FIRST = ("unknown", "per_request", "server", "client", "query", "address", "cookie")


@dataclass(frozen=True)
class Key:
    """A routing key as written. `kind`: cookie (Envoy issues it), cookie_of_others (nothing here issues it), client,
    server and per_request (headers, by who makes their value), query, address, unknown.

    `seconds` is the lifetime that Envoy gives the cookie, None for a session cookie; `path` the path it is issued for.
    """

    kind: str
    name: str
    span: Span
    seconds: float | None = None
    path: str = ""

    @property
    def always_there(self) -> bool:
        """Whether every request yields this key (a cookie with a ttl is made up where the request has none)."""
        return self.kind in {"cookie", "address", "per_request"}


@cache
def _headers() -> dict[str, str]:
    """Who makes the value of a request header, by its lower-case name (rules/affinity/envoy.yaml, `headers`)."""
    document = catalogue.load_yaml(catalogue.rules_directory() / "affinity" / "envoy.yaml")
    return {str(name).lower(): str(kind) for kind, names in document["headers"].items() for name in names}


def header_kind(name: str) -> str:
    """client, server, address or per_request."""
    return _headers().get(name.lower(), "client")


def hash_key(policies: Iterable[Node]) -> Key | None:
    """The key that a list of hash policies really hashes; None for no policies.

    Policies are combined in order, and a terminal one that yields a hash ends the list: so the key is as unstable as
    its weakest part, and parts behind a terminal one that every request yields do not count.
    """
    parts: list[Key] = []
    for policy in policies:
        key = _hash_part(policy)
        if key is None:
            continue
        parts.append(key)
        if key.always_there and field(policy, "terminal").truth:
            break
    stable = [p for p in parts if p.kind != "cookie_of_others"]
    if not stable:
        return parts[0] if parts else None
    return min(stable, key=lambda p: _WEAKEST_FIRST.index(p.kind))


def _hash_part(policy: Node) -> Key | None:
    header, cookie = field(policy, "header"), field(policy, "cookie")
    if header:
        header_name = field(header, "header_name").text
        span = line(header, "header_name", f"hash of header {header_name}")
        return Key("unknown" if header_name is None else header_kind(header_name), header_name or "", span)
    if cookie:
        return _cookie_key(cookie, issues=has(cookie, "ttl"))
    connection = field(policy, "connection_properties")
    if connection:
        source = field(connection, "source_ip")
        if is_template(source):
            return Key("unknown", "source_ip", line(connection, "source_ip"))
        address = Key("address", "", line(connection, "source_ip", "hash of the client's address"))
        return address if source.truth else None
    query = field(policy, "query_parameter")
    if query:
        name = query["name"].text or ""
        return Key("query", name, line(query, "name", f"hash of query parameter {name}"))
    if has(policy, "source_ip"):  # TcpProxy's hash policy
        return Key("address", "", line(policy, "source_ip", "hash of the client's address"))
    return Key("unknown", "filter_state", policy.line_span()) if has(policy, "filter_state") else None


def _cookie_key(cookie: Node, *, issues: bool) -> Key:
    name, ttl = cookie["name"], field(cookie, "ttl")
    span = line(cookie, "name", f"cookie {name.text}")
    if is_template(ttl) or is_template(name):
        return Key("unknown", name.text or "", span)
    if not issues:
        return Key("cookie_of_others", name.text or "", span)
    lifetime = seconds(ttl)
    if lifetime is not None and lifetime > 0:
        span = line(cookie, "ttl", f"cookie {name.text} lapses after {ttl.text}")
    return Key("cookie", name.text or "", span, lifetime or None, cookie["path"].text or "")


# -- stateful sessions -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Session:
    """The stateful session that acts on a route. `state` is cookie, header or envelope, "" for one that nothing here
    knows or that a template decides (then `why`). `strict` None is unknown."""

    state: str
    key: Key
    strict: bool | None
    span: Span
    why: str = ""


def session_on(filters: Sequence[Node], levels: Sequence[Node], *, filters_known: bool) -> Session | None:
    """The session of a route: `filters` are the HTTP filters of the chain, `levels` the mappings that may carry a
    `typed_per_filter_config`, least specific first. Without a known chain only what the levels spell out counts."""
    acting: Session | None = None
    names = set()
    for entry in filters:
        name, config = typed(entry)
        if name == "StatefulSession" or (entry["name"].text or "") == "envoy.filters.http.stateful_session":
            names.add(entry["name"].text or "")
            acting = _acting(entry, config, levels) or acting
    if not filters_known:
        for level in levels:
            for name, override in field(level, "typed_per_filter_config").items():
                if name not in names and unpacked(override)[0] == "StatefulSessionPerRoute":
                    acting = _overridden(None, override)
    return acting


def _acting(entry: Node, config: Node, levels: Sequence[Node]) -> Session | None:
    """The session of one filter after the overrides of route configuration, virtual host, route and weighted cluster:
    the most specific one wins."""
    disabled = entry["disabled"]
    session = None if disabled.truth else _session(config, entry)
    if is_template(disabled):
        session = Session("", Key("unknown", "", entry.span()), None, entry.line_span(), "a template may disable it")
    base = _session(config, entry)
    for level in levels:
        overrides = field(level, "typed_per_filter_config") or field(level, "per_filter_config")
        override = overrides[entry["name"].text or ""]
        if override:
            session = _overridden(base, override)
    return session


def _overridden(base: Session | None, override: Node) -> Session | None:
    name, config = unpacked(override)
    if name == "FilterConfig":
        if config["disabled"].truth:
            return None
        inner = config["config"]
        return _overridden(base, inner) if inner and inner["@type"].text else base
    if config["disabled"].truth:
        return None
    replacement = field(config, "stateful_session")
    return _session(replacement, override) if replacement else base


def _session(config: Node, entry: Node) -> Session | None:
    """A StatefulSession message. One without a session state does nothing."""
    state = field(config, "session_state")
    if not state:
        if config.raw is None and has(entry, "config_discovery"):
            return Session("", Key("unknown", "", entry.span()), None, entry.line_span(), "ECDS configures the session")
        return None
    name, inner = typed(state)
    strict_node = config["strict"]
    strict = None if is_template(strict_node) else bool(strict_node.truth)
    note = "strict: true" if strict else "strict is not set: another host is chosen when this one is not there"
    span = line(config, "strict", note) if has(config, "strict") else line(entry, "name", note)
    if name == "CookieBasedSessionState":
        return Session("cookie", _cookie_key(inner["cookie"], issues=True), strict, span)
    if name == "HeaderBasedSessionState":
        header_name = inner["name"].text or ""
        key = Key(header_kind(header_name), header_name, line(inner, "name", "the host is sent in this header"))
        return Session("header", key, strict, span)
    if name == "EnvelopeSessionState":
        header = field(inner, "header")
        key = Key("cookie", header["name"].text or "", line(header, "name", "the host is wrapped into this header"))
        return Session("envelope", key, strict, span)
    return Session("", Key("unknown", "", state.span()), strict, span, f"session state {name or '?'} is not known here")
