"""One real Envoy configuration for each row of rules/affinity/envoy.yaml."""

from __future__ import annotations

from typing import Any

from tests.premises.envoy_lab import HEALTH_CHECKS, Setup, stateful_session

CHECKED: dict[str, Any] = {"health_checks": HEALTH_CHECKS}
EJECTING: dict[str, Any] = {
    "outlier_detection": {
        "consecutive_5xx": 1,
        "consecutive_local_origin_failure": 1,
        "interval": "0.1s",
        "base_ejection_time": "300s",
        "max_ejection_percent": 100,
    }
}
RETRIES = {"retry_on": "connect-failure,refused-stream", "num_retries": 2}
PREVIOUS_HOSTS = {
    **RETRIES,
    "retry_host_predicate": [
        {
            "name": "envoy.retry_host_predicates.previous_hosts",
            "typed_config": {
                "@type": "type.googleapis.com/envoy.extensions.retry.host.previous_hosts.v3.PreviousHostsPredicate"
            },
        }
    ],
    "host_selection_retry_max_attempts": 5,
}
RING: dict[str, Any] = {"lb_policy": "RING_HASH"}
ALL_STATES = ["UNKNOWN", "HEALTHY", "DEGRADED", "DRAINING", "UNHEALTHY"]


def honouring(*states: str) -> dict[str, Any]:
    """A cluster that lets a session reach hosts in these states."""
    return {"common_lb_config": {"override_host_status": {"statuses": list(states)}}}


def cookie_session(*, strict: bool, ttl: str | None = None) -> tuple[dict[str, Any]]:
    """A session kept in the cookie `feed-host`."""
    cookie = {"name": "feed-host", "path": "/", **({"ttl": ttl} if ttl else {})}
    return (stateful_session("cookie", {"cookie": cookie}, **({"strict": True} if strict else {})),)


def hash_of(kind: str, **inner: Any) -> dict[str, Any]:
    """A route with one hash policy."""
    return {"hash_policy": [{kind: inner}]}


COOKIE_HASH = hash_of("cookie", name="feed-key", path="/", ttl="0s")
STRICT, LOOSE = cookie_session(strict=True), cookie_session(strict=False)
HEADER_STATE = {"name": "x-session-host"}
ENVELOPE_STATE = {"header": {"name": "mcp-session-id"}}


def by_range_of_last_event_id(replica: str) -> dict[str, Any]:
    """A header match that takes the fourth part of all ids that carries this replica's number."""
    number = int(replica[1])
    return {"name": "last-event-id", "range_match": {"start": 250_000 * (number - 1), "end": 250_000 * number}}


SETUPS: dict[str, Setup] = {
    "session_header_replaces_id": Setup("mcp", filters=(stateful_session("header", {"name": "mcp-session-id"}),)),
    "session_split_strict": Setup(filters=STRICT, weighted=True),
    "session_split": Setup(filters=LOOSE, weighted=True),
    "session_state_ignored_strict": Setup(filters=STRICT, cluster=honouring("HEALTHY", "DEGRADED", "DRAINING")),
    "session_state_ignored": Setup(filters=LOOSE, cluster=honouring("HEALTHY", "DEGRADED", "DRAINING")),
    "session_retried_strict": Setup(filters=STRICT, route={"retry_policy": RETRIES}),
    "session_retried": Setup(filters=LOOSE, route={"retry_policy": RETRIES}),
    "session_strict_honoured": Setup(filters=STRICT, cluster={**CHECKED, **honouring(*ALL_STATES)}),
    "session_strict_checked": Setup(filters=STRICT, cluster=CHECKED),
    "session_cookie_strict": Setup(filters=STRICT),
    "session_header_strict": Setup("echo", filters=(stateful_session("header", HEADER_STATE, strict=True),)),
    "session_envelope_strict": Setup("mcp", filters=(stateful_session("envelope", ENVELOPE_STATE, strict=True),)),
    "session_honoured_checked": Setup(filters=LOOSE, cluster={**CHECKED, **honouring(*ALL_STATES)}),
    "session_honoured": Setup(filters=LOOSE, cluster=honouring(*ALL_STATES)),
    "session_draining": Setup(filters=LOOSE, cluster=honouring(*ALL_STATES[:4])),
    "session_checked": Setup(filters=LOOSE, cluster=CHECKED),
    "session_ejected": Setup(filters=LOOSE, cluster=EJECTING),
    "session_cookie": Setup(filters=LOOSE),
    "session_header": Setup("echo", filters=(stateful_session("header", HEADER_STATE),)),
    "session_envelope": Setup("mcp", filters=(stateful_session("envelope", ENVELOPE_STATE),)),
    "hash_split": Setup(cluster=RING, route=COOKIE_HASH, weighted=True),
    "hash_per_request": Setup(cluster=RING, route=hash_of("header", header_name="last-event-id")),
    "hash_of_server_key": Setup("mcp", cluster=RING, route=hash_of("header", header_name="mcp-session-id")),
    "hash_cookie_not_issued": Setup(cluster=RING, route=hash_of("cookie", name="feed-key")),
    "hash_of_nothing": Setup(cluster={"lb_policy": "MAGLEV"}),
    "hash_bounded": Setup(
        cluster={
            **RING,
            "common_lb_config": {"consistent_hashing_lb_config": {"hash_balance_factor": 110}},
        },
        route=COOKIE_HASH,
        rounds=25,  # one round moves somebody with a probability of 0.4 or more
    ),
    "hash_retried": Setup(cluster=RING, route={**COOKIE_HASH, "retry_policy": PREVIOUS_HOSTS}),
    "hash_checked": Setup(cluster={**RING, **CHECKED}, route=COOKIE_HASH),
    "hash_ejected": Setup(cluster={**RING, **EJECTING}, route=COOKIE_HASH),
    "hash_cookie": Setup(cluster=RING, route=COOKIE_HASH),
    "hash_header": Setup("header", cluster={"lb_policy": "MAGLEV"}, route=hash_of("header", header_name="x-client-id")),
    "hash_query": Setup("query", cluster=RING, route=hash_of("query_parameter", name="sid")),
    "hash_address": Setup("address", cluster=RING, route=hash_of("connection_properties", source_ip=True)),
    "round_robin": Setup(),
    "least_request": Setup(cluster={"lb_policy": "LEAST_REQUEST"}),
    "random": Setup(cluster={"lb_policy": "RANDOM"}),
    "route_by_last_event_id": Setup(per_replica=by_range_of_last_event_id),
    "route_per_replica": Setup(
        "mcp",
        cluster=CHECKED,
        per_replica=lambda name: {"name": "mcp-session-id", "string_match": {"prefix": f"{name}."}},
    ),
}

VARIANTS: dict[str, tuple[str, Setup]] = {
    "envelope, checked": (
        "session_checked",
        Setup("mcp", filters=(stateful_session("envelope", ENVELOPE_STATE),), cluster=CHECKED),
    ),
    "envelope, strict and checked": (
        "session_strict_checked",
        Setup("mcp", filters=(stateful_session("envelope", ENVELOPE_STATE, strict=True),), cluster=CHECKED),
    ),
    "header, strict and checked": (
        "session_strict_checked",
        Setup("echo", filters=(stateful_session("header", HEADER_STATE, strict=True),), cluster=CHECKED),
    ),
    "header, draining hosts honoured": (
        "session_draining",
        Setup("echo", filters=(stateful_session("header", HEADER_STATE),), cluster=honouring(*ALL_STATES[:4])),
    ),
    "states without UNKNOWN, checked": (
        "session_state_ignored",
        Setup(filters=LOOSE, cluster={**CHECKED, **honouring("HEALTHY", "DEGRADED")}),
    ),
    "envelope, strict and retried": (
        "session_retried_strict",
        Setup(
            "mcp",
            filters=(stateful_session("envelope", ENVELOPE_STATE, strict=True),),
            route={"retry_policy": RETRIES},
        ),
    ),
    "ranges of Last-Event-ID before a session": (
        "session_split",
        Setup(filters=LOOSE, per_replica=by_range_of_last_event_id),
    ),
    "ranges of Last-Event-ID before a strict session": (
        "session_split_strict",
        Setup(filters=STRICT, per_replica=by_range_of_last_event_id),
    ),
    "Maglev": ("hash_cookie", Setup(cluster={"lb_policy": "MAGLEV"}, route=COOKIE_HASH)),
    "policy as an extension": (
        "hash_cookie",
        Setup(
            cluster={
                "load_balancing_policy": {
                    "policies": [
                        {
                            "typed_extension_config": {
                                "name": "envoy.load_balancing_policies.ring_hash",
                                "typed_config": {
                                    "@type": "type.googleapis.com/"
                                    "envoy.extensions.load_balancing_policies.ring_hash.v3.RingHash"
                                },
                            }
                        }
                    ]
                }
            },
            route=COOKIE_HASH,
        ),
    ),
    "retries without a predicate hash to the same host": (
        "hash_cookie",
        Setup(cluster=RING, route={**COOKIE_HASH, "retry_policy": RETRIES}),
    ),
    "hash policy under round robin": ("round_robin", Setup(route=COOKIE_HASH)),
}
"""Other configurations that a row speaks of."""
