"""From listeners through routes to clusters: which requests a route takes, in which order, and who its members are."""

from __future__ import annotations

from typing import Any

import pytest

from sselint.facts import CursorTreatment, KeyIssuer, Strength
from tests.read.envoy.helpers import (
    TYPES,
    Json,
    address,
    bootstrap,
    cluster,
    listener,
    manager,
    only_route,
    route,
    routes,
    session,
)


def to(name: str, **match: Any) -> Json:
    """A route to a cluster of that name."""
    return route({"cluster": name}, match or {"prefix": "/"})


def pools(*entries: Json) -> list[str]:
    """The pools of the routes that a virtual host with these entries has."""
    names = ("a", "b", "c")
    found = routes(bootstrap(manager(entries), [cluster(name) for name in names]))
    assert [r.match.priority for r in found] == sorted(r.match.priority for r in found)
    return [r.pool for r in found]


# -- order -------------------------------------------------------------------------------------------------------------


def header(name: str, **how: Any) -> Json:
    return {"name": name, **(how or {"present_match": True})}


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ({"prefix": "/"}, {"prefix": "/events"}, ["a"]),
        ({"prefix": "/events"}, {"prefix": "/"}, ["a", "b"]),
        ({"prefix": "/api"}, {"path": "/api/events"}, ["a"]),
        ({"path": "/api"}, {"path": "/api/events"}, ["a", "b"]),
        ({"prefix": "/"}, {"safe_regex": {"regex": "/e.*"}}, ["a"]),
        ({"prefix": "/e"}, {"safe_regex": {"regex": "/.*"}}, ["a", "b"]),
        ({"prefix": "/", "headers": [header("x-version")]}, {"prefix": "/"}, ["a", "b"]),
        ({"prefix": "/", "query_parameters": [{"name": "v", "present_match": True}]}, {"prefix": "/"}, ["a", "b"]),
        ({"prefix": "/", "grpc": {}}, {"prefix": "/"}, ["b"]),
        ({"connect_matcher": {}}, {"prefix": "/"}, ["b"]),
        (
            {"prefix": "/", "headers": [header(":method", string_match={"exact": "OPTIONS"})]},
            {"prefix": "/"},
            ["b"],
        ),
        ({"prefix": "/", "headers": [header(":method", string_match={"exact": "GET"})]}, {"prefix": "/"}, ["a"]),
        (
            {"prefix": "/", "headers": [header("accept", string_match={"contains": "text/event-stream"})]},
            {"prefix": "/"},
            ["a"],
        ),
        (
            {"prefix": "/", "headers": [header("accept", string_match={"exact": "application/json"})]},
            {"prefix": "/"},
            ["a", "b"],
        ),
    ],
)
def test_the_first_match_wins(first: Json, second: Json, expected: list[str]) -> None:
    assert pools(to("a", **first), to("b", **second)) == expected


def test_a_route_that_forwards_nowhere_still_takes_its_requests() -> None:
    answer = {"match": {"prefix": "/healthz"}, "direct_response": {"status": 200}}
    redirect = {"match": {"prefix": "/"}, "redirect": {"https_redirect": True}}
    assert pools(answer, to("a")) == ["a"]
    assert pools(redirect, to("a")) == []


@pytest.mark.parametrize(
    ("match", "paths"),
    [
        ({"prefix": "/"}, (("prefix", "/"),)),
        ({"path": "/events"}, (("exact", "/events"),)),
        ({"path_separated_prefix": "/api"}, (("exact", "/api"), ("prefix", "/api/"))),
        ({"safe_regex": {"regex": "/feeds/[0-9]+"}}, (("regex", "^(?:/feeds/[0-9]+)$"),)),
    ],
)
def test_paths(match: Json, paths: tuple[tuple[str, str], ...]) -> None:
    assert only_route(bootstrap(manager([route(None, match)]))).match.paths == paths


def test_virtual_hosts_are_tried_from_the_narrowest_name_to_any() -> None:
    names = {"any": ["*"], "prefix": ["www.*"], "suffix": ["*.example.org"], "exact": ["*.org", "feeds.example.org"]}
    config = dict(manager())
    hosts = [{"name": name, "domains": domains, "routes": [route()]} for name, domains in names.items()]
    config["route_config"] = {"name": "local", "virtual_hosts": hosts}
    found = sorted(routes(bootstrap(config)), key=lambda r: r.match.priority)
    assert [r.match.hosts for r in found] == [
        ("*.org", "feeds.example.org"),
        ("*.example.org",),
        ("www.*",),
        (),
    ]


def in_a_matcher(*entries: Json) -> Json:
    """A virtual host that chooses by a matcher tree over a request header."""
    actions = [
        {"name": f"route {n}", "typed_config": {"@type": "type.googleapis.com/envoy.config.route.v3.Route", **entry}}
        for n, entry in enumerate(entries)
    ]
    read = {
        "name": "tenant",
        "typed_config": {
            "@type": "type.googleapis.com/envoy.type.matcher.v3.HttpRequestHeaderMatchInput",
            "header_name": "x-tenant",
        },
    }
    exact = {"map": {f"tenant-{n}": {"action": action} for n, action in enumerate(actions)}}
    config = dict(manager())
    host = {"name": "site", "domains": ["*"], "matcher": {"matcher_tree": {"input": read, "exact_match_map": exact}}}
    config["route_config"] = {"name": "local", "virtual_hosts": [host]}
    return bootstrap(config, [cluster("a"), cluster("b", lb_policy="RANDOM")])


def test_routes_in_a_matcher_tree_are_taken_on_conditions() -> None:
    found = routes(in_a_matcher(to("a"), to("b")))
    assert [(r.pool, r.affinity.row) for r in found] == [("a", "envoy/round_robin"), ("b", "envoy/random")]
    assert {r.match.headers for r in found} == {(":matcher",)}


@pytest.mark.parametrize("kind", ["redis", "ext_proc"])
def test_a_hash_on_the_way_to_something_else_is_no_affinity(kind: str) -> None:
    """The cluster that hashes is one that no request is routed to."""
    hashing = cluster("store", lb_policy="MAGLEV")
    if kind == "ext_proc":
        typed = {"@type": f"{TYPES}extensions.filters.http.ext_proc.v3.ExternalProcessor"}
        called = {**typed, "grpc_service": {"envoy_grpc": {"cluster_name": "store"}}}
        config = manager(filters=[{"name": "envoy.filters.http.ext_proc", "typed_config": called}])
        [found] = routes(bootstrap(config, [cluster(), hashing]))
        assert (found.pool, found.affinity.row) == ("feed", "envoy/round_robin")
    else:
        typed = {"@type": f"{TYPES}extensions.filters.network.redis_proxy.v3.RedisProxy", "stat_prefix": "redis"}
        pool = {"prefix_routes": {"catch_all_route": {"cluster": "store"}}}
        chain = {"filters": [{"name": "envoy.filters.network.redis_proxy", "typed_config": {**typed, **pool}}]}
        redis = {"name": "redis", "address": address(6379), "filter_chains": [chain]}
        assert routes({"static_resources": {"listeners": [redis], "clusters": [hashing]}}) == ()


# -- weighted clusters and shares of requests --------------------------------------------------------------------------


def weighted(*weights: int, **fields: Any) -> Json:
    clusters = [{"name": name, "weight": weight} for name, weight in zip(("a", "b"), weights, strict=True)]
    return {"match": {"prefix": "/"}, "route": {"weighted_clusters": {"clusters": clusters, **fields}, **HASHED}}


HASHED = {"hash_policy": [{"cookie": {"name": "key", "ttl": "0s"}}], "timeout": "0s"}
RINGS = [cluster("a", 2, lb_policy="RING_HASH"), cluster("b", 3, lb_policy="RING_HASH")]


def test_a_cluster_drawn_by_weight_undoes_a_hash_within_it() -> None:
    found = only_route(bootstrap(manager([weighted(50, 50)]), RINGS))
    assert (found.affinity.row, found.pool, found.members.low) == ("envoy/hash_split", "a, b", 5)
    assert [span.line for span in found.affinity.undone_by]


@pytest.mark.parametrize(
    ("entry", "members"),
    [(weighted(100, 0), 2), (weighted(0, 100), 3), (weighted(50, 50, use_hash_policy=True), 5)],
    ids=["the other has no weight", "the one has no weight", "drawn by the same hash"],
)
def test_weights_that_split_nothing(entry: Json, members: int) -> None:
    found = only_route(bootstrap(manager([entry]), RINGS))
    assert (found.affinity.row, found.members.high) == ("envoy/hash_cookie", members)
    assert not found.affinity.undone_by


@pytest.mark.parametrize(
    ("numerator", "denominator", "row"),
    [(10, "HUNDRED", "hash_split"), (100, "HUNDRED", "hash_cookie"), (1_000_000, "MILLION", "hash_cookie")],
)
def test_a_route_that_takes_a_share_of_its_requests(numerator: int, denominator: str, row: str) -> None:
    fraction = {"default_value": {"numerator": numerator, "denominator": denominator}}
    entries = [route({"cluster": "a", **HASHED}, {"prefix": "/", "runtime_fraction": fraction}), to("b")]
    found = routes(bootstrap(manager(entries), RINGS))
    assert found[0].affinity.row == f"envoy/{row}"
    assert len(found) == (1 if row == "hash_cookie" else 2)


# -- headers that choose -----------------------------------------------------------------------------------------------

REPLICAS = ("r1", "r2", "r3")


def by_header(name: str, **how: Any) -> Json:
    """A route to a cluster of one replica for each value of a header, and all three behind them."""
    singles = [
        to(f"only-{r}", prefix="/", headers=[header(name, **(how or {"string_match": {"prefix": f"{r}."}}))])
        for r in REPLICAS
    ]
    alone = [cluster(f"only-{r}", 1) for r in REPLICAS]
    for number, one in enumerate(alone):
        endpoint = one["load_assignment"]["endpoints"][0]["lb_endpoints"][0]
        endpoint["endpoint"]["address"] = address(9001 + number)
    return bootstrap(manager([*singles, to("feed")]), [*alone, cluster()])


def test_the_session_id_names_the_replica() -> None:
    *named, behind = routes(by_header("mcp-session-id"))
    assert {r.affinity.row for r in named} == {"envoy/route_per_replica"}
    assert {r.affinity.strength for r in named} == {Strength.STRICT}
    assert {r.affinity.key.issued_by for r in named} == {KeyIssuer.SERVER}
    assert {r.match.headers for r in named} == {("mcp-session-id",)}
    assert behind.affinity.strength is Strength.UNKNOWN


def test_a_header_of_the_clients_that_names_a_replica() -> None:
    *named, _ = routes(by_header("x-replica", string_match={"exact": "any"}))
    assert {(r.affinity.strength, r.affinity.key.issued_by) for r in named} == {(Strength.STRICT, KeyIssuer.CLIENT)}


def test_a_header_that_chooses_between_applications_names_no_replica() -> None:
    entries = [
        to("a", prefix="/", headers=[header("x-tool", string_match={"exact": "a"})]),
        to("b", prefix="/", headers=[header("x-tool", string_match={"exact": "b"})]),
        to("c"),
    ]
    apart = [cluster(name, 1) for name in ("a", "b", "c")]
    for number, one in enumerate(apart):
        one["load_assignment"]["endpoints"][0]["lb_endpoints"][0]["endpoint"]["address"] = address(9100 + number)
    found = routes(bootstrap(manager(entries), apart))
    assert {r.affinity.row for r in found} == {"envoy/round_robin"}


def test_conditions_that_all_lead_to_one_replica_tell_nothing_apart() -> None:
    entries = [
        to("a", prefix="/", headers=[header("mcp-session-id", string_match={"prefix": "r1"})]),
        to("a", prefix="/", headers=[header("mcp-session-id", string_match={"prefix": "r2"})]),
    ]
    found = routes(bootstrap(manager(entries), [cluster("a", 1)]))
    assert {r.affinity.row for r in found} == {"envoy/round_robin"}


def test_a_header_that_chooses_between_clusters_of_many_names_no_replica() -> None:
    entries = [
        to("a", prefix="/", headers=[header("mcp-session-id", string_match={"prefix": "a"})]),
        to("b", prefix="/", headers=[header("mcp-session-id", string_match={"prefix": "b"})]),
    ]
    found = routes(bootstrap(manager(entries), [cluster("a"), cluster("b")]))
    assert {r.affinity.row for r in found} == {"envoy/round_robin"}


@pytest.mark.parametrize("name", ["Last-Event-ID", "last-event-id"])
def test_a_range_of_last_event_id_pins_nobody(name: str) -> None:
    found = routes(by_header(name, range_match={"start": 0, "end": 100}))
    assert {r.affinity.row for r in found[:-1]} == {"envoy/route_by_last_event_id"}
    assert {r.last_event_id for r in found[:-1]} == {CursorTreatment.ROUTED_ON}
    assert found[-1].last_event_id is CursorTreatment.PASSED


@pytest.mark.parametrize(("strict", "row"), [(True, "session_split_strict"), (False, "session_split")])
def test_a_range_of_last_event_id_goes_before_a_session(strict: bool, row: str) -> None:
    """The session only chooses among the hosts of the cluster that the range has chosen."""
    config = by_header("last-event-id", range_match={"start": 0, "end": 100})
    chain = config["static_resources"]["listeners"][0]["filter_chains"][0]["filters"][0]
    chain["typed_config"]["http_filters"].insert(0, session(strict=strict))
    *by_range, behind = routes(config)
    assert {r.affinity.row for r in by_range} == {f"envoy/{row}"}
    assert all(r.affinity.undone_by for r in by_range)
    assert behind.affinity.row == ("envoy/session_cookie_strict" if strict else "envoy/session_cookie")


def test_whether_ids_name_their_process_is_not_in_the_file() -> None:
    found = routes(by_header("last-event-id", string_match={"prefix": "r1:"}))
    assert {r.affinity.strength for r in found[:-1]} == {Strength.UNKNOWN}
    assert {r.last_event_id for r in found[:-1]} == {CursorTreatment.ROUTED_ON}


# -- members -----------------------------------------------------------------------------------------------------------


def dns(kind: str, *hosts: str) -> Json:
    endpoints = [{"endpoint": {"address": address(8080, host)}} for host in hosts]
    assignment = {"cluster_name": "feed", "endpoints": [{"lb_endpoints": endpoints}]}
    return {"name": "feed", "type": kind, "connect_timeout": "1s", "load_assignment": assignment}


@pytest.mark.parametrize(
    ("of_cluster", "low", "high", "resolves"),
    [
        (cluster(hosts=1), 1, 1, "all"),
        (cluster(hosts=3), 3, 3, "all"),
        (dns("STRICT_DNS", "agents"), 1, None, "all"),
        (dns("STRICT_DNS", "one", "two"), 2, None, "all"),
        (dns("STRICT_DNS", "10.0.0.1", "10.0.0.2"), 2, 2, "all"),
        (dns("LOGICAL_DNS", "agents"), 1, 1, "one"),
        ({"name": "feed", "type": "ORIGINAL_DST", "lb_policy": "CLUSTER_PROVIDED"}, 1, None, "all"),
        ({"name": "feed", "type": "EDS", "eds_cluster_config": {"eds_config": {"ads": {}}}}, 1, None, "all"),
    ],
)
def test_members(of_cluster: Json, low: int, high: int | None, resolves: str) -> None:
    found = only_route(bootstrap(manager(), [of_cluster]))
    assert (found.members.low, found.members.high, found.resolves) == (low, high, resolves)


def test_targets_are_the_addresses_as_they_are_written() -> None:
    found = only_route(bootstrap(manager(), [dns("STRICT_DNS", "agent-1", "agent-2")]))
    assert [(t.host, t.port) for t in found.targets] == [("agent-1", 8080), ("agent-2", 8080)]


def test_several_localities_are_one_set_of_hosts() -> None:
    one = cluster()
    one["load_assignment"]["endpoints"].append({"lb_endpoints": [{"endpoint": {"address": address(9100)}}]})
    assert only_route(bootstrap(manager(), [one])).members.high == 4


def test_an_aggregate_cluster_has_the_members_of_all() -> None:
    aggregate = {
        "name": "feed",
        "connect_timeout": "1s",
        "lb_policy": "CLUSTER_PROVIDED",
        "cluster_type": {
            "name": "envoy.clusters.aggregate",
            "typed_config": {
                "@type": "type.googleapis.com/envoy.extensions.clusters.aggregate.v3.ClusterConfig",
                "clusters": ["a", "b"],
            },
        },
    }
    found = only_route(bootstrap(manager(), [aggregate, cluster("a", 2), cluster("b", 3)]))
    assert found.members.high == 5
    assert found.affinity.strength is Strength.UNKNOWN


def test_a_cluster_that_is_not_in_the_tree() -> None:
    found = only_route(bootstrap(manager([route({"cluster": "elsewhere"})])))
    assert (found.pool, found.members.high, found.affinity.strength) == ("elsewhere", None, Strength.UNKNOWN)
    assert "elsewhere" in found.members.why


def test_a_cluster_that_a_header_names() -> None:
    entry = {"match": {"prefix": "/"}, "route": {"cluster_header": "x-cluster", "timeout": "0s"}}
    found = only_route(bootstrap(manager([entry])))
    assert (found.members.high, found.affinity.strength) == (None, Strength.UNKNOWN)


# -- listeners ---------------------------------------------------------------------------------------------------------


def test_every_filter_chain_of_a_listener_is_read() -> None:
    both = {**listener(manager()), "default_filter_chain": listener(manager([to("other")]))["filter_chains"][0]}
    found = routes({"static_resources": {"listeners": [both], "clusters": [cluster(), cluster("other", 1)]}})
    assert [r.pool for r in found] == ["feed", "other"]


def tcp(**fields: Any) -> Json:
    config = {
        "@type": "type.googleapis.com/envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy",
        "stat_prefix": "tcp",
        "cluster": "feed",
        **fields,
    }
    chain = {"filters": [{"name": "envoy.filters.network.tcp_proxy", "typed_config": config}]}
    return {"name": "tcp", "address": address(10000), "filter_chains": [chain]}


@pytest.mark.parametrize(
    ("fields", "policy", "row"),
    [
        ({}, "ROUND_ROBIN", "round_robin"),
        ({"hash_policy": [{"source_ip": {}}]}, "RING_HASH", "hash_address"),
        ({"hash_policy": [{"source_ip": {}}]}, "ROUND_ROBIN", "round_robin"),
    ],
)
def test_connections_that_nobody_looks_into(fields: Json, policy: str, row: str) -> None:
    found = only_route({"static_resources": {"listeners": [tcp(**fields)], "clusters": [cluster(lb_policy=policy)]}})
    assert found.affinity.row == f"envoy/{row}"
    assert found.observations == ()


def test_evidence_is_the_chain_from_the_listener_to_the_cluster() -> None:
    notes = [span.note for span in only_route(bootstrap()).evidence]
    assert notes[0] == "listener public"
    assert "virtual host site" in notes
    assert notes.index("match") < notes.index("route") < notes.index("cluster feed")
