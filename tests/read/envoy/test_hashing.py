"""Balancing policies and what they hash, each beside a look-alike that does something else or nothing."""

from __future__ import annotations

import pytest

from tests.read.envoy.cases import (
    CHECKED,
    CHOSEN,
    COOKIE,
    MCP,
    RING,
    SOURCE,
    Case,
    affinity_of,
    check,
    config,
    extension,
    hashes,
)
from tests.read.envoy.helpers import Json


def bound(**fields: object) -> Json:
    return {**RING, "common_lb_config": {"consistent_hashing_lb_config": fields}}


CASES = [
    # -- lb_policy and load_balancing_policy
    Case("no lb_policy is round robin", config(), "round_robin"),
    Case("least request", config(of_cluster={"lb_policy": "LEAST_REQUEST"}), "least_request"),
    Case("random", config(of_cluster={"lb_policy": "RANDOM"}), "random"),
    Case("a policy by its number", config(hashes(COOKIE), of_cluster={"lb_policy": 2}), "hash_cookie"),
    Case("extension: ring hash", config(hashes(COOKIE), (), extension("ring_hash", "RingHash")), "hash_cookie"),
    Case("extension: Maglev", config(hashes(COOKIE), (), extension("maglev", "Maglev")), "hash_cookie"),
    Case("extension: least request", config((), (), extension("least_request", "LeastRequest")), "least_request"),
    Case(
        "an extension wins over lb_policy",
        config(hashes(COOKIE), (), {**RING, **extension("round_robin", "RoundRobin")}),
        "round_robin",
        without_effect=1,
    ),
    Case(
        "an extension inside another",
        config(
            hashes(COOKIE),
            (),
            extension(
                "subset",
                "Subset",
                subset_lb_policy=extension("ring_hash", "RingHash")["load_balancing_policy"],
            ),
        ),
        "hash_cookie",
    ),
    Case(
        "an extension with a hash policy of its own",
        config(
            hashes(MCP),
            (),
            extension("ring_hash", "RingHash", consistent_hashing_lb_config={"hash_policy": [SOURCE]}),
        ),
        "hash_address",
    ),
    Case("an extension that nobody measured", config((), (), extension("pick_first", "PickFirst")), ""),
    # -- hash_policy
    Case("cookie with a ttl", config(hashes(COOKIE), (), RING), "hash_cookie"),
    Case("cookie without one", config(hashes({"cookie": {"name": "key"}}), (), RING), "hash_cookie_not_issued", 0, 1),
    Case("header of the client's", config(hashes(CHOSEN), (), RING), "hash_header"),
    Case("header of the server's", config(hashes(MCP), (), RING), "hash_of_server_key"),
    Case(
        "header of each request",
        config(hashes({"header": {"header_name": "Last-Event-ID"}}), (), RING),
        "hash_per_request",
    ),
    Case("source address", config(hashes(SOURCE), (), RING), "hash_address"),
    Case(
        "source address switched off",
        config(hashes({"connection_properties": {"source_ip": False}}), (), RING),
        "hash_of_nothing",
        0,
        1,
    ),
    Case("query parameter", config(hashes({"query_parameter": {"name": "sid"}}), (), RING), "hash_query"),
    Case("filter state", config(hashes({"filter_state": {"key": "k"}}), (), RING), ""),
    Case("a hash that no policy feeds", config((), (), RING), "hash_of_nothing", 0, 1),
    Case("a hash policy that no policy reads", config(hashes(COOKIE)), "round_robin", 0, 1),
    Case("two policies are as unstable as the weaker", config(hashes(COOKIE, MCP), (), RING), "hash_of_server_key"),
    Case("unless the first is terminal", config(hashes({**COOKIE, "terminal": True}, MCP), (), RING), "hash_cookie"),
    Case(
        "a terminal one that may be absent ends nothing",
        config(hashes({**CHOSEN, "terminal": True}, SOURCE), (), RING),
        "hash_header",
    ),
    Case(
        "a weaker one behind it decides then",
        config(hashes({**CHOSEN, "terminal": True}, MCP), (), RING),
        "hash_of_server_key",
    ),
    Case(
        "what changes with each request is weakest",
        config(hashes(MCP, {"header": {"header_name": "last-event-id"}}), (), RING),
        "hash_per_request",
    ),
    Case(
        "terminal on the last counts for nothing",
        config(hashes(MCP, {**COOKIE, "terminal": True}), (), RING),
        "hash_of_server_key",
    ),
    Case("load bound", config(hashes(COOKIE), (), bound(hash_balance_factor=150)), "hash_bounded", 1),
    Case(
        "hostname for hashing is no bound",
        config(hashes(COOKIE), (), {"type": "STRICT_DNS", **bound(use_hostname_for_hashing=True)}),
        "hash_cookie",
    ),
    Case(
        "load bound of an extension",
        config(
            hashes(COOKIE), (), extension("maglev", "Maglev", consistent_hashing_lb_config={"hash_balance_factor": 150})
        ),
        "hash_bounded",
        1,
    ),
    # -- health
    Case("health checks", config(hashes(COOKIE), (), {**RING, **CHECKED}), "hash_checked"),
    Case("an empty list of them", config(hashes(COOKIE), (), {**RING, "health_checks": []}), "hash_cookie"),
    Case("outlier detection", config(hashes(COOKIE), (), {**RING, "outlier_detection": {}}), "hash_ejected"),
]


@pytest.mark.parametrize("case", CASES, ids=[case.id for case in CASES])
def test_which_row_speaks_of_it(case: Case) -> None:
    check(case)


@pytest.mark.parametrize(("ttl", "lifetime", "seconds"), [("0s", "session", None), ("90s", "expires", 90.0)])
def test_lifetime_of_a_hash_cookie(ttl: str, lifetime: str, seconds: float | None) -> None:
    key = affinity_of(config(hashes({"cookie": {"name": "key", "ttl": ttl}}), (), RING)).key
    assert (key.name, key.lifetime, key.seconds) == ("key", lifetime, seconds)
