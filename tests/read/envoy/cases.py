"""Cases for the strength of a route: configurations of one route to one cluster, and the row that speaks of each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sselint.facts import Affinity, Strength
from tests.read.envoy.helpers import TYPES, Json, bootstrap, cluster, manager, route, routes, session

RING = {"lb_policy": "RING_HASH"}
CHECKED = {
    "health_checks": [
        {
            "timeout": "1s",
            "interval": "1s",
            "unhealthy_threshold": 1,
            "healthy_threshold": 1,
            "http_health_check": {"path": "/health"},
        }
    ]
}
STRICT = session(strict=True)
LOOSE = session()


def hashes(*policies: Json) -> Json:
    return {"hash_policy": [*policies]}


COOKIE = {"cookie": {"name": "key", "path": "/", "ttl": "0s"}}
SOURCE = {"connection_properties": {"source_ip": True}}
MCP = {"header": {"header_name": "mcp-session-id"}}
CHOSEN = {"header": {"header_name": "x-client-id"}}


def retry(on: str = "connect-failure", **fields: Any) -> Json:
    return {"retry_policy": {"retry_on": on, **fields}}


PREVIOUS_HOSTS = {
    "retry_host_predicate": [
        {
            "name": "envoy.retry_host_predicates.previous_hosts",
            "typed_config": {"@type": f"{TYPES}extensions.retry.host.previous_hosts.v3.PreviousHostsPredicate"},
        }
    ]
}


def config(
    action: Json | None = None, filters: tuple[Json, ...] = (), of_cluster: Json | None = None, **level: Any
) -> Json:
    """One route to one cluster of three hosts; `level` are fields of the route beside its action."""
    return bootstrap(manager([route(action, **level)], filters), [cluster(**(of_cluster or {}))])


def extension(name: str, message: str, **fields: Any) -> Json:
    typed = {"@type": f"{TYPES}extensions.load_balancing_policies.{name}.v3.{message}", **fields}
    entry = {"name": f"envoy.load_balancing_policies.{name}", "typed_config": typed}
    return {"load_balancing_policy": {"policies": [{"typed_extension_config": entry}]}}


def honouring(*states: str) -> Json:
    return {"common_lb_config": {"override_host_status": {"statuses": list(states)}}}


def per_route(override: Json, name: str = "envoy.filters.http.stateful_session") -> Json:
    message = f"{TYPES}extensions.filters.http.stateful_session.v3.StatefulSessionPerRoute"
    return {"typed_per_filter_config": {name: {"@type": message, **override}}}


def own_session(**fields: Any) -> Json:
    """A route's own session."""
    inner = {key: value for key, value in session(**fields)["typed_config"].items() if key != "@type"}
    return per_route({"stateful_session": inner})


def hcm_options(**fields: Any) -> Json:
    """HTTP protocol options of a cluster."""
    message = f"{TYPES}extensions.upstreams.http.v3.HttpProtocolOptions"
    options = {"@type": message, "explicit_http_config": {"http_protocol_options": {}}, **fields}
    return {"typed_extension_protocol_options": {"envoy.extensions.upstreams.http.v3.HttpProtocolOptions": options}}


@dataclass(frozen=True)
class Case:
    """A configuration and the measured row that speaks of it ("" where nothing was measured)."""

    id: str
    config: Json
    row: str
    undone: int = 0
    without_effect: int = 0


def affinity_of(configuration: Json) -> Affinity:
    """The affinity of a configuration's first route."""
    return routes(configuration)[0].affinity


def check(case: Case) -> None:
    """That the reader makes of a case what it says."""
    affinity = affinity_of(case.config)
    assert affinity.row == (f"envoy/{case.row}" if case.row else "")
    assert (affinity.strength is Strength.UNKNOWN) == (not case.row)
    assert len(affinity.undone_by) == case.undone, affinity.undone_by
    assert len(affinity.no_effect) == case.without_effect, affinity.no_effect
