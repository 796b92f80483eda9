"""Envoy configuration for tests, in pieces: what a test is about is written out, the rest is a plain configuration."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from sselint.facts import Reading, Route
from sselint.read import envoy
from sselint.source import Source, Tree

TYPES = "type.googleapis.com/envoy."
Json = Mapping[str, Any]

ROUTER = {
    "name": "envoy.filters.http.router",
    "typed_config": {"@type": f"{TYPES}extensions.filters.http.router.v3.Router"},
}


def reading(files: Mapping[str, str] | str) -> Reading:
    """What the reader finds in files (path -> text; a single text is envoy.yaml)."""
    files = {"envoy.yaml": files} if isinstance(files, str) else dict(files)
    tree = Tree("/root", tuple(sorted(files)), lambda path: files[path].encode())
    return envoy.read([Source(path, text, "envoy") for path, text in files.items()], tree)


def routes(files: Mapping[str, str] | str | Json) -> tuple[Route, ...]:
    """The routes of files, or of a configuration as data; every file must have been read."""
    if isinstance(files, str) or all(isinstance(value, str) for value in files.values()):
        found = reading(files)
    else:
        found = reading(json.dumps(files, indent=1))
    assert {report.outcome.value for report in found.files} == {"analysed"}, found.files
    return found.routes


def only_route(files: Mapping[str, str] | str | Json) -> Route:
    """The one route of a configuration."""
    found = routes(files)
    assert len(found) == 1, [route.name for route in found]
    return found[0]


def address(port: int, host: str = "127.0.0.1") -> Json:
    return {"socket_address": {"address": host, "port_value": port}}


def cluster(name: str = "feed", hosts: int = 3, **fields: Any) -> Json:
    """A STATIC cluster of so many hosts."""
    endpoints = [{"endpoint": {"address": address(9001 + number)}} for number in range(hosts)]
    return {
        "name": name,
        "type": "STATIC",
        "connect_timeout": "1s",
        "load_assignment": {"cluster_name": name, "endpoints": [{"lb_endpoints": endpoints}]},
        **fields,
    }


def route(action: Json | None = None, match: Json | None = None, **fields: Any) -> Json:
    """A route to the cluster `feed`."""
    return {
        "match": match or {"prefix": "/"},
        "route": {"cluster": "feed", "timeout": "0s", **(action or {})},
        **fields,
    }


def manager(routes: Sequence[Json] = (), filters: Sequence[Json] = (), **fields: Any) -> Json:
    """A connection manager with one virtual host."""
    host = {"name": "site", "domains": ["*"], "routes": [*routes] or [route()]}
    return {
        "@type": f"{TYPES}extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
        "stat_prefix": "in",
        "route_config": {"name": "local", "virtual_hosts": [host]},
        "http_filters": [*filters, ROUTER],
        **fields,
    }


def listener(config: Json, name: str = "public", port: int = 10000) -> Json:
    """A listener with this connection manager."""
    chain = {"filters": [{"name": "envoy.filters.network.http_connection_manager", "typed_config": config}]}
    return {"name": name, "address": address(port), "filter_chains": [chain]}


def bootstrap(config: Json | None = None, clusters: Sequence[Json] = ()) -> Json:
    """A whole configuration: one listener, and the cluster `feed` unless others are given."""
    return {"static_resources": {"listeners": [listener(config or manager())], "clusters": [*clusters] or [cluster()]}}


def session(state: str = "cookie", *, ttl: str | None = None, **fields: Any) -> Json:
    """A stateful_session filter; `fields` go beside the session state (strict)."""
    message = {"cookie": "CookieBased", "header": "HeaderBased", "envelope": "Envelope"}[state] + "SessionState"
    inner: Json = {
        "cookie": {"cookie": {"name": "feed-host", "path": "/", **({"ttl": ttl} if ttl else {})}},
        "header": {"name": "x-session-host"},
        "envelope": {"header": {"name": "mcp-session-id"}},
    }[state]
    return {
        "name": "envoy.filters.http.stateful_session",
        "typed_config": {
            "@type": f"{TYPES}extensions.filters.http.stateful_session.v3.StatefulSession",
            "session_state": {
                "name": f"envoy.http.stateful_session.{state}",
                "typed_config": {"@type": f"{TYPES}extensions.http.stateful_session.{state}.v3.{message}", **inner},
            },
            **fields,
        },
    }
