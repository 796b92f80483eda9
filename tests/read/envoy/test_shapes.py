"""The same configuration in every shape it comes in: whole or in pieces, YAML or JSON, in either spelling."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
import yaml

from sselint.facts import FileOutcome, Route, Strength
from sselint.read import envoy
from sselint.read.envoy.fields import camel
from sselint.source import Source, Tree
from tests.read.envoy.helpers import (
    ROUTER,
    TYPES,
    Json,
    bootstrap,
    cluster,
    listener,
    manager,
    only_route,
    reading,
    route,
    routes,
    session,
)

PINNED = manager(filters=[session(strict=True)])
WHOLE = bootstrap(PINNED)
TABLE = {"name": "local", "virtual_hosts": PINNED["route_config"]["virtual_hosts"]}


def facts(found: Route) -> tuple[object, ...]:
    """What must not depend on the shape."""
    affinity = found.affinity
    return found.pool, found.members, affinity.strength, affinity.row, affinity.key, found.match, found.last_event_id


def in_camel_case(value: Any) -> Any:
    """The names of fields as protobuf's JSON printer writes them; extension names and types stay."""
    if isinstance(value, dict):
        return {k if "." in k or k.startswith("@") else camel(k): in_camel_case(v) for k, v in value.items()}
    return [in_camel_case(v) for v in value] if isinstance(value, list) else value


SHAPES = {
    "block YAML": yaml.safe_dump(WHOLE),
    "flow YAML": yaml.safe_dump(WHOLE, default_flow_style=True),
    "JSON": json.dumps(WHOLE, indent=2),
    "JSON on one line": json.dumps(WHOLE),
    "JSON with tabs": json.dumps(WHOLE, indent="\t"),
    "camelCase YAML": yaml.safe_dump(in_camel_case(WHOLE)),
    "camelCase JSON": json.dumps(in_camel_case(WHOLE)),
    "static_resources alone": yaml.safe_dump(WHOLE["static_resources"]),
    "behind a document of something else": "title: notes\n---\n" + yaml.safe_dump(WHOLE),
    "a config dump": json.dumps(
        {
            "configs": [
                {"@type": f"{TYPES}admin.v3.BootstrapConfigDump", "bootstrap": WHOLE},
            ]
        }
    ),
}


@pytest.mark.parametrize("text", SHAPES.values(), ids=SHAPES)
def test_one_configuration_in_one_file(text: str) -> None:
    assert envoy.looks_like("edge.txt", text)
    assert facts(only_route(text)) == facts(only_route(WHOLE))


def typed(message: str, resource: Json) -> Json:
    return {"@type": TYPES + message, **resource}


BY_NAME = {**PINNED, "rds": {"route_config_name": "local", "config_source": {"ads": {}}}}
del BY_NAME["route_config"]
RESOURCES = {
    "lds": typed("config.listener.v3.Listener", listener(BY_NAME)),
    "rds": typed("config.route.v3.RouteConfiguration", TABLE),
    "cds": typed(
        "config.cluster.v3.Cluster",
        {"name": "feed", "type": "EDS", "connect_timeout": "1s", "eds_cluster_config": {"eds_config": {"ads": {}}}},
    ),
    "eds": typed("config.endpoint.v3.ClusterLoadAssignment", cluster()["load_assignment"]),
}
PIECES = {
    "bare resources, a file each": {f"{name}.yaml": yaml.safe_dump(value) for name, value in RESOURCES.items()},
    "lists of resources": {f"{name}.json": json.dumps([value]) for name, value in RESOURCES.items()},
    "DiscoveryResponses": {
        f"{name}.yaml": yaml.safe_dump({"version_info": "1", "resources": [value]}) for name, value in RESOURCES.items()
    },
    "one response for all": {"xds.json": json.dumps({"resources": list(RESOURCES.values())})},
    "wrapped in names": {
        "xds.yaml": yaml.safe_dump({"resources": [{"name": n, "resource": v} for n, v in RESOURCES.items()]})
    },
}


@pytest.mark.parametrize("files", PIECES.values(), ids=PIECES)
def test_resources_find_each_other_by_name(files: dict[str, str]) -> None:
    found = only_route(files)
    assert found.affinity.row == "envoy/session_cookie_strict"
    assert (found.members.low, found.members.high) == (3, 3)
    assert found.name == "listener public -> virtual host site -> cluster feed"


def test_a_name_that_is_nobodys_is_no_link() -> None:
    files = {"lds.json": json.dumps([RESOURCES["lds"]]), "rds.json": json.dumps([{**RESOURCES["rds"], "name": "else"}])}
    kinds = {r.fragment: r for r in routes(files)}
    assert kinds[True].affinity.row == "envoy/session_cookie_strict"
    assert kinds[False].affinity.strength is Strength.UNKNOWN


def test_two_deployments_in_one_tree_keep_to_themselves() -> None:
    """Both name their cluster `feed`; the near one is meant."""
    files = {
        f"{place}/{name}": yaml.safe_dump(value)
        for place, hosts in (("one", 1), ("three", 3))
        for name, value in (
            ("listeners.yaml", {"listeners": [listener(PINNED)]}),
            ("clusters.yaml", {"clusters": [cluster(hosts=hosts)]}),
        )
    }
    assert {r.path.split("/")[0]: r.members.high for r in routes(files)} == {"one": 1, "three": 3}


def test_equally_near_clusters_of_one_name_are_no_guess() -> None:
    files = {
        "a/listeners.yaml": yaml.safe_dump({"listeners": [listener(PINNED)]}),
        "b/clusters.yaml": yaml.safe_dump({"clusters": [cluster(hosts=1)]}),
        "c/clusters.yaml": yaml.safe_dump({"clusters": [cluster(hosts=3)]}),
    }
    found = only_route(files)
    assert found.members.high is None


# -- fragments ---------------------------------------------------------------------------------------------------------

STICKY = session(strict=True)
FRAGMENTS = {
    "http_filters": {"http_filters": [STICKY, ROUTER]},
    "a connection manager without routes": {k: v for k, v in PINNED.items() if k != "route_config"},
    "a filter alone": STICKY,
    "a list of filters": [STICKY, ROUTER],
    "a filter chain": {
        "filter_chains": [
            {"filters": [{"name": "hcm", "typed_config": {k: v for k, v in PINNED.items() if k != "route_config"}}]}
        ]
    },
}


@pytest.mark.parametrize("piece", FRAGMENTS.values(), ids=FRAGMENTS)
def test_a_piece_that_keeps_sessions_is_a_fragment(piece: Any) -> None:
    text = yaml.safe_dump(piece)
    assert envoy.looks_like("filters.yaml", text)
    found = only_route(text)
    assert found.fragment and not found.targets and found.members.high is None
    assert found.affinity.row == "envoy/session_cookie_strict"


@pytest.mark.parametrize("piece", [{"http_filters": [ROUTER]}, ROUTER, [ROUTER]])
def test_a_piece_that_keeps_none_says_nothing(piece: Any) -> None:
    assert routes(yaml.safe_dump(piece)) == ()


def test_a_filter_that_routes_switch_on_is_unknown_alone() -> None:
    found = only_route(yaml.safe_dump({"http_filters": [{**STICKY, "disabled": True}, ROUTER]}))
    assert found.affinity.strength is Strength.UNKNOWN


@pytest.mark.parametrize(
    "piece",
    [TABLE, {"virtual_hosts": TABLE["virtual_hosts"]}, TABLE["virtual_hosts"][0], {"routes": [route()]}],
    ids=["table", "virtual hosts", "virtual host", "routes"],
)
def test_routes_without_a_listener(piece: Json) -> None:
    found = only_route(yaml.safe_dump({**piece, "clusters": [cluster()]}))
    assert (found.pool, found.members.high) == ("feed", 3)
    assert found.affinity.row == "envoy/round_robin"


def test_a_cluster_without_routes_has_members_and_no_verdict() -> None:
    found = only_route(yaml.safe_dump({"clusters": [cluster(lb_policy="MAGLEV")]}))
    assert (found.pool, found.members.high, found.affinity.strength) == ("feed", 3, Strength.UNKNOWN)
    assert "not in the tree" in found.affinity.why


# -- anchors, merge keys, lines ----------------------------------------------------------------------------------------


ANCHORED = """\
static_resources:
  listeners:
  - name: public
    address: {socket_address: {address: 127.0.0.1, port_value: 10000}}
    filter_chains:
    - filters:
      - name: envoy.filters.network.http_connection_manager
        typed_config:
          "@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
          stat_prefix: in
          route_config:
            virtual_hosts:
            - name: site
              domains: ["*"]
              routes:
              - match: {prefix: /events}
                route: {cluster: feed, timeout: &never 0s}
              - match: {prefix: /feeds}
                route:
                  cluster: feed
                  timeout: *never
                  hash_policy:
                  - cookie: {name: key, ttl: *never}
          http_filters:
          - name: envoy.filters.http.router
            typed_config: {"@type": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router}
  clusters:
  - name: feed
    type: STATIC
    connect_timeout: 1s
    lb_policy: RING_HASH
    load_assignment:
      cluster_name: feed
      endpoints:
      - lb_endpoints:
        - endpoint: {address: {socket_address: {address: 10.0.0.1, port_value: &port 9001}}}
        - endpoint: {address: {socket_address: {address: 10.0.0.2, port_value: *port}}}
"""


MERGED = ANCHORED.replace(
    "route: {cluster: feed, timeout: &never 0s}", "route: &quiet {cluster: feed, timeout: &never 0s}"
)
MERGED = MERGED.replace("cluster: feed\n                  timeout: *never", "<<: *quiet")
"""Envoy itself knows no merge keys (tests/read/envoy/test_valid.py); what expands them first does."""


@pytest.mark.parametrize("text", [ANCHORED, MERGED], ids=["anchors", "merge keys"])
def test_anchors_and_merge_keys(text: str) -> None:
    plain, hashed = routes(text)
    assert (plain.affinity.row, hashed.affinity.row) == ("envoy/hash_of_nothing", "envoy/hash_cookie")
    assert [(t.host, t.port) for t in hashed.targets] == [("10.0.0.1", 9001), ("10.0.0.2", 9001)]
    assert [o.code for o in hashed.observations] == ["SSE602"]


def test_lines_are_those_of_the_file() -> None:
    found = routes(ANCHORED)[1]
    lines = ANCHORED.splitlines()
    assert lines[found.line - 1].strip() == "- match: {prefix: /feeds}"
    for span in (*found.evidence, *found.affinity.evidence):
        wanted = "cluster: feed" if span.note == "route" else span.note.split()[-1]
        assert wanted in lines[span.line - 1], span


def test_a_template_makes_what_it_touches_unknown() -> None:
    start = ANCHORED.index("RING_HASH")
    source = Source("envoy.yaml.j2", ANCHORED, "envoy", masked=((start, start + 9),))
    *_, found = envoy.read((source,), Tree(".", (), lambda _: b"")).routes
    assert found.affinity.strength is Strength.UNKNOWN
    assert "template" in found.affinity.why


def test_endpoints_in_a_template_loop_are_one_or_more() -> None:
    start = ANCHORED.index("- endpoint")
    source = Source("envoy.yaml.j2", ANCHORED, "envoy", loops=((start, start + 60),))
    *_, found = envoy.read((source,), Tree(".", (), lambda _: b"")).routes
    assert (found.members.low, found.members.high) == (1, None)


# -- what it is told by ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "",
        "just words about lb_policy and filter_chains\n",
        "# static_resources:\nversion: 1\n",
        "services:\n  app:\n    image: envoyproxy/envoy\n",
        "apiVersion: v1\nkind: ConfigMap\ndata:\n  http_filters: x\n",
        'apiVersion: gateway.envoyproxy.io/v1alpha1\nkind: EnvoyProxy\nspec:\n  value: "static_resources:"\n',
        "upstream be { server r1; }\nserver { listen 80; }\n",
        "global\n    daemon\ndefaults\n    mode http\n",
        'lb_policy = "ring_hash"\n',
        "def static_resources():\n    return {'clusters': []}\n",
    ],
    ids=["empty", "prose", "comment", "compose", "manifest", "envoy gateway", "nginx", "haproxy", "toml", "python"],
)
def test_what_is_not_envoy(text: str) -> None:
    assert not envoy.looks_like("envoy.yaml", text)


def test_a_file_is_what_it_contains() -> None:
    assert envoy.looks_like("lb.txt", ANCHORED)
    assert envoy.looks_like("envoy.yaml.j2", "{% if edge %}\n" + ANCHORED + "{% endif %}\n")


def test_what_is_not_yaml_is_said_with_its_place() -> None:
    files = {"good.yaml": ANCHORED, "bad.yaml": "static_resources:\n  clusters: [\n"}
    found = reading(files)
    outcomes = {report.path: report for report in found.files}
    assert outcomes["good.yaml"].outcome is FileOutcome.ANALYSED
    assert outcomes["bad.yaml"].outcome is FileOutcome.UNREADABLE
    assert outcomes["bad.yaml"].span is not None and outcomes["bad.yaml"].span.line >= 2
    assert {route.path for route in found.routes} == {"good.yaml"}


def test_types_of_the_second_api_version_are_the_same_things() -> None:
    text = yaml.safe_dump(WHOLE)
    old = re.sub(
        r"envoy\.extensions\.filters\.network\.http_connection_manager\.v3",
        "envoy.config.filter.network.http_connection_manager.v2",
        text,
    )
    assert facts(only_route(old)) == facts(only_route(WHOLE))
