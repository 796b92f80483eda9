"""What a file leaves open is said to be unknown, with the reason; what it does decide is not."""

from __future__ import annotations

import json
import re

import pytest

from sselint.facts import Affinity, FileOutcome, Meets, RoutingEvent, Strength
from sselint.read import envoy
from sselint.read.envoy import routes as envoy_routes
from sselint.source import Source, Tree
from tests.read.envoy.cases import COOKIE, RING, STRICT, affinity_of, config, extension, hashes, per_route, retry
from tests.read.envoy.helpers import TYPES, Json, bootstrap, cluster, manager, reading, route, routes, session

MARK = "@@"


def masked(configuration: Json) -> Affinity:
    """The affinity where a template fills in the values that are marked with `@@`."""
    text = json.dumps(configuration, indent=1)
    ranges = tuple(match.span() for match in re.finditer(f'"{MARK}"', text))
    assert ranges
    [found, *_] = envoy.read((Source("envoy.yaml", text, "envoy", masked=ranges),), Tree(".", (), lambda _: b"")).routes
    return found.affinity


OPEN = {
    "lb_policy": config(hashes(COOKIE), (), {"lb_policy": MARK}),
    "retry_on": config(retry(MARK), (STRICT,)),
    "num_retries": config(retry(num_retries=MARK), (STRICT,)),
    "retry_on before a hash": config({**hashes(COOKIE), **retry(MARK)}, (), RING),
    "strict": config((), (session(strict=MARK),)),
    "disabled": config((), ({**STRICT, "disabled": MARK},)),
    "ttl of a session": config((), (session(ttl=MARK, strict=True),)),
    "ttl of a hash": config(hashes({"cookie": {"name": "key", "ttl": MARK}}), (), RING),
    "name of the cookie": config(hashes({"cookie": {"name": MARK, "ttl": "0s"}}), (), RING),
    "name of the header": config(hashes({"header": {"header_name": MARK}}), (), RING),
    "source_ip": config(hashes({"connection_properties": {"source_ip": MARK}}), (), RING),
}


@pytest.mark.parametrize("configuration", OPEN.values(), ids=OPEN)
def test_a_value_that_a_template_fills_in(configuration: Json) -> None:
    affinity = masked(configuration)
    assert affinity.strength is Strength.UNKNOWN
    assert "template" in affinity.why


DECIDED = {
    "a name that decides nothing": config((), ({**STRICT, "name": "envoy.filters.http.stateful_session", "x": MARK},)),
    "a policy that a session wins over": config((), (STRICT,), {"lb_policy": MARK}),
    "a timeout": config({"timeout": MARK}, (STRICT,)),
}


@pytest.mark.parametrize("configuration", DECIDED.values(), ids=DECIDED)
def test_a_value_that_does_not_decide(configuration: Json) -> None:
    assert masked(configuration).strength is Strength.STRICT


# -- what is decided elsewhere -----------------------------------------------------------------------------------------


def test_a_session_that_is_configured_at_run_time() -> None:
    discovered = {"name": "envoy.filters.http.stateful_session", "config_discovery": {"config_source": {"ads": {}}}}
    affinity = affinity_of(config((), (discovered,)))
    assert affinity.strength is Strength.UNKNOWN and "ECDS" in affinity.why


def test_a_session_state_that_nobody_measured() -> None:
    kept = json.loads(json.dumps(STRICT))
    kept["typed_config"]["session_state"]["typed_config"] = {"@type": "type.googleapis.com/example.OwnState"}
    affinity = affinity_of(config((), (kept,)))
    assert affinity.strength is Strength.UNKNOWN and "OwnState" in affinity.why


def test_a_session_without_a_state_does_nothing() -> None:
    empty = {"name": STRICT["name"], "typed_config": {"@type": STRICT["typed_config"]["@type"]}}
    assert affinity_of(config((), (empty,))).row == "envoy/round_robin"


@pytest.mark.parametrize(("match", "strength"), [({"stage": "canary"}, Strength.UNKNOWN), (None, Strength.NONE)])
def test_hosts_that_metadata_selects(match: Json | None, strength: Strength) -> None:
    subsets = {"lb_subset_config": {"fallback_policy": "ANY_ENDPOINT", "subset_selectors": [{"keys": ["stage"]}]}}
    selected = {"metadata_match": {"filter_metadata": {"envoy.lb": match}}} if match else {}
    assert affinity_of(config(selected, (), subsets)).strength is strength


@pytest.mark.parametrize("policy", [{"lb_policy": "CLUSTER_PROVIDED"}, extension("pick_first", "PickFirst")])
def test_a_policy_whose_rules_are_not_in_the_file(policy: Json) -> None:
    affinity = affinity_of(config((), (), policy))
    assert affinity.strength is Strength.UNKNOWN and "not in this file" in affinity.why


# -- routes without the filter chain that they belong to ---------------------------------------------------------------


def table(**fields: object) -> Json:
    return {"name": "local", "virtual_hosts": [{"name": "site", "domains": ["*"], "routes": [route(**fields)]}]}


OWN = per_route({"stateful_session": {k: v for k, v in STRICT["typed_config"].items() if k != "@type"}})


def test_a_session_that_a_route_spells_out() -> None:
    found = routes(json.dumps({"resources": [table(**OWN), cluster()]}))
    assert found[0].affinity.row == "envoy/session_cookie_strict"


def test_a_route_that_only_switches_one_off_has_none() -> None:
    found = routes(json.dumps({"resources": [table(**per_route({"disabled": True})), cluster()]}))
    assert found[0].affinity.row == "envoy/round_robin"


def wrapped(**fields: object) -> Json:
    """An override inside the message that any filter's override may stand in."""
    message = "type.googleapis.com/envoy.config.route.v3.FilterConfig"
    return {"typed_per_filter_config": {STRICT["name"]: {"@type": message, **fields}}}


INNER = OWN["typed_per_filter_config"][STRICT["name"]]


@pytest.mark.parametrize(
    ("override", "off", "row"),
    [
        (wrapped(config=INNER), False, "session_cookie_strict"),
        (wrapped(config=INNER), True, "session_cookie_strict"),
        (wrapped(config={}), True, "session_cookie"),
        (wrapped(disabled=True), False, "round_robin"),
    ],
    ids=["replaces it", "replaces one that is off", "switches it on", "switches it off"],
)
def test_overrides_that_are_wrapped(override: Json, off: bool, row: str) -> None:
    chain = ({**session(), "disabled": off},)
    assert affinity_of(config((), chain, None, **override)).row == f"envoy/{row}"


# -- clusters ----------------------------------------------------------------------------------------------------------


def dns(single: bool | None = None) -> Json:
    message = f"{TYPES}extensions.clusters.dns.v3.DnsCluster"
    more = {} if single is None else {"all_addresses_in_single_endpoint": single}
    typed = {"name": "envoy.cluster.dns", "typed_config": {"@type": message, **more}}
    endpoints = [{"endpoint": {"address": {"socket_address": {"address": "feed", "port_value": 80}}}}]
    assignment = {"cluster_name": "feed", "endpoints": [{"lb_endpoints": endpoints}]}
    return {"name": "feed", "connect_timeout": "1s", "cluster_type": typed, "load_assignment": assignment}


@pytest.mark.parametrize(("single", "resolves"), [(None, "all"), (False, "all"), (True, "one")])
def test_the_dns_cluster_extension(single: bool | None, resolves: str) -> None:
    [found] = routes(bootstrap(clusters=[dns(single)]))
    assert found.resolves == resolves


def test_a_cluster_type_that_nobody_knows_has_members_at_run_time() -> None:
    own = {"name": "feed", "cluster_type": {"name": "example.own"}, "connect_timeout": "1s"}
    [found] = routes(bootstrap(clusters=[own]))
    assert found.members.high is None and "run time" in found.members.why


@pytest.mark.parametrize(
    "address", [{"pipe": {"path": "/run/feed.sock"}}, {"envoy_internal_address": {"server_listener_name": "inner"}}]
)
def test_addresses_that_are_no_sockets(address: Json) -> None:
    own = {"name": "feed", "load_assignment": {"endpoints": [{"lb_endpoints": [{"endpoint": {"address": address}}]}]}}
    [found] = routes(bootstrap(clusters=[own]))
    assert [(t.host, t.port) for t in found.targets] in ([("/run/feed.sock", None)], [("inner", None)])


@pytest.mark.parametrize(
    ("percent", "panics"),
    [({}, False), ({"value": 0}, False), ({"value": 60}, False), ({"value": 70}, True), ("x", False)],
)
def test_panic_mode_over_one_of_three(percent: object, panics: bool) -> None:
    checked = {**RING, "health_checks": [{}], "common_lb_config": {"healthy_panic_threshold": percent}}
    events = dict(affinity_of(config(hashes(COOKIE), (), checked)).events)
    assert (events[RoutingEvent.CHECK_FAILS] is Meets.SAME) is panics


def test_half_of_two_is_enough_not_to_panic() -> None:
    """The threshold is what must be there: at 50 per cent, one healthy host of two is."""
    checked = cluster(hosts=2, **RING, health_checks=[{}])
    events = dict(affinity_of(bootstrap(manager([route(hashes(COOKIE))]), [checked])).events)
    assert events[RoutingEvent.CHECK_FAILS] is Meets.OTHER


# -- matches -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("match", "taken", "left"),
    [
        (
            {"path_match_policy": {"typed_config": {"path_template": "/feeds/{id}/events"}}},
            "/feeds/7/events",
            "/feeds/7",
        ),
        ({"path_match_policy": {"typed_config": {"path_template": "/files/**"}}}, "/files/a/b", "/file"),
        ({"path_match_policy": {"typed_config": {"path_template": "/feeds/*"}}}, "/feeds/7", "/feeds/7/8"),
        ({"regex": "/old/.*"}, "/old/way", "/new"),
    ],
)
def test_paths_that_are_patterns(match: Json, taken: str, left: str) -> None:
    [found] = routes(bootstrap(manager([route(None, match)])))
    [(kind, pattern)] = found.match.paths
    assert kind == "regex"
    assert re.search(pattern, taken) and not re.search(pattern, left)


def test_a_path_from_a_template_is_any_path() -> None:
    text = json.dumps(bootstrap(manager([route(None, {"prefix": MARK})])))
    start = text.index(f'"{MARK}"')
    source = Source("envoy.yaml", text, "envoy", masked=((start, start + 4),))
    [found] = envoy.read((source,), Tree(".", (), lambda _: b"")).routes
    assert found.match.paths == ()


@pytest.mark.parametrize("name", ["dynamic_metadata", "filter_state", "tls_context", "cookies"])
def test_conditions_beside_headers_leave_requests_over(name: str) -> None:
    first = route({"cluster": "a"}, {"prefix": "/", name: [{}]})
    found = routes(bootstrap(manager([first, route()]), [cluster("a"), cluster()]))
    assert [r.pool for r in found] == ["a", "feed"]
    assert found[0].match.headers


# -- a fault of ours ---------------------------------------------------------------------------------------------------


def test_a_fault_in_one_resource_is_named_and_hides_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> None:
        raise RuntimeError("boom")

    monkeypatch.setattr(envoy_routes.timeouts, "observed", fails)
    table_alone = {"virtual_hosts": [{"name": "site", "domains": ["*"], "routes": [route()]}]}
    pieces = {"a.yaml": json.dumps(table_alone), "b.yaml": json.dumps({"http_filters": [session()]})}
    found = reading(pieces)
    reports = {report.path: report for report in found.files}
    assert reports["a.yaml"].outcome is FileOutcome.INTERNAL_ERROR and "boom" in reports["a.yaml"].why
    assert reports["a.yaml"].needed and reports["b.yaml"].outcome is FileOutcome.ANALYSED
    assert [r.path for r in found.routes] == ["b.yaml"]
