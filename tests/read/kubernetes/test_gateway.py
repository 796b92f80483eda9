"""Gateway API, Istio and Traefik's own kinds as hops."""

from __future__ import annotations

import pytest

from sselint.facts import CursorTreatment, Route
from tests.read.kubernetes.objects import deployment, service, together
from tests.read.texts import numbers, reading_of


def outer(*documents: str, format_: str) -> list[Route]:
    files = together(deployment("replicas: 3"), service(), *documents)
    return [r for r in reading_of(files).routes if r.format == format_]


HTTP_ROUTE = """\
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: edge}
spec:
  hostnames: [shop.test]
  rules:
    - matches: [{path: {type: PathPrefix, value: /events}}]
      backendRefs: [{name: web, port: 80}]
%s"""


@pytest.mark.parametrize(
    ("rule", "row", "seconds"),
    [
        ("", "gateway_api/none", None),
        ("      sessionPersistence: {sessionName: s}\n", "gateway_api/persistence_cookie", None),
        ("      sessionPersistence: {type: Header, sessionName: s}\n", "gateway_api/persistence_header", None),
        ("      sessionPersistence: {type: Cookie, absoluteTimeout: 1h}\n", "gateway_api/persistence_cookie", 3600),
        ("      timeouts: {request: 1h}\n", "gateway_api/none", None),
    ],
)
def test_session_persistence(rule: str, row: str, seconds: float | None) -> None:
    (route,) = outer(HTTP_ROUTE % rule, format_="gateway_api")
    assert (route.affinity.row, route.affinity.key.seconds) == (row, seconds)


POLICY = """\
apiVersion: gateway.envoyproxy.io/v1alpha1
kind: BackendTrafficPolicy
metadata: {name: hash}
spec:
  targetRefs: [{kind: %s, name: %s}]
  loadBalancer: {%s}
"""
SESSIONS = """\
apiVersion: gateway.networking.x-k8s.io/v1alpha1
kind: XBackendTrafficPolicy
metadata: {name: sessions}
spec:
  targetRefs: [{kind: Service, name: %s}]
  sessionPersistence: {type: Cookie, sessionName: s}
"""
COOKIE = "type: ConsistentHash, consistentHash: {type: Cookie, cookie: {name: c, ttl: 60s}}"


@pytest.mark.parametrize(
    ("policy", "row", "seconds"),
    [
        (POLICY % ("HTTPRoute", "edge", COOKIE), "gateway_api/hash_cookie", 60),
        (POLICY % ("HTTPRoute", "edge", "consistentHash: {type: SourceIP}"), "gateway_api/hash_address", None),
        (
            POLICY % ("HTTPRoute", "edge", "consistentHash: {type: Header, header: {name: Mcp-Session-Id}}"),
            "gateway_api/hash_server_header",
            None,
        ),
        (
            POLICY % ("HTTPRoute", "edge", "consistentHash: {type: Headers, headers: [{name: X-Client}]}"),
            "gateway_api/hash_header",
            None,
        ),
        (POLICY % ("Gateway", "public", COOKIE), "gateway_api/hash_cookie", 60),
        (SESSIONS % "web", "gateway_api/persistence_cookie", None),
        # Attached to something else, or balancing without a key.
        (POLICY % ("HTTPRoute", "other", COOKIE), "gateway_api/none", None),
        (POLICY % ("Gateway", "private", COOKIE), "gateway_api/none", None),
        (POLICY % ("HTTPRoute", "edge", "type: LeastRequest"), "gateway_api/none", None),
        (SESSIONS % "other", "gateway_api/none", None),
    ],
)
def test_policies_that_are_attached(policy: str, row: str, seconds: float | None) -> None:
    text = (HTTP_ROUTE % "").replace("spec:\n", "spec:\n  parentRefs: [{name: public}]\n", 1)
    (route,) = outer(text, policy, format_="gateway_api")
    assert (route.affinity.row, route.affinity.key.seconds) == (row, seconds)


def test_what_a_route_takes_and_where_it_leads() -> None:
    (route,) = outer(HTTP_ROUTE % "", format_="gateway_api")
    assert (route.match.paths, route.match.hosts) == ((("prefix", "/events"),), ("shop.test",))
    assert ([t.host for t in route.targets], numbers(route.members)) == (["web"], (3, 3))


@pytest.mark.parametrize(
    ("filter_", "expected"),
    [
        ("remove: [Last-Event-ID]", CursorTreatment.STRIPPED),
        ("remove: [last-event-id]", CursorTreatment.STRIPPED),
        ("set: [{name: Last-Event-ID, value: ''}]", CursorTreatment.STRIPPED),
        ("remove: [X-Trace]", CursorTreatment.PASSED),
        ("add: [{name: X-Edge, value: a}]", CursorTreatment.PASSED),
    ],
)
def test_a_filter_that_takes_the_cursor_off(filter_: str, expected: CursorTreatment) -> None:
    rule = f"      filters: [{{type: RequestHeaderModifier, requestHeaderModifier: {{{filter_}}}}}]\n"
    (route,) = outer(HTTP_ROUTE % rule, format_="gateway_api")
    assert route.last_event_id is expected


RULE = """\
apiVersion: networking.istio.io/v1
kind: DestinationRule
metadata: {name: web}
spec:
  host: %s
  trafficPolicy: {loadBalancer: {%s}}
"""
VIRTUAL = """\
apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: {name: web}
spec:
  hosts: [shop.test]
  http:
    - match: [{uri: {prefix: /events}}]
      route: [{destination: {host: web}}]
%s"""


@pytest.mark.parametrize(
    ("balancer", "row"),
    [
        ("consistentHash: {httpHeaderName: Mcp-Session-Id}", "istio/hash_server_header"),
        ("consistentHash: {httpHeaderName: X-Client}", "istio/hash_header"),
        ("consistentHash: {httpCookie: {name: c, ttl: 0s}}", "istio/hash_cookie"),
        ("consistentHash: {useSourceIp: true}", "istio/hash_address"),
        ("consistentHash: {httpQueryParameterName: run}", "istio/hash_query"),
        ("consistentHash: {useSourceIp: false}", "istio/none"),
        ("simple: LEAST_REQUEST", "istio/none"),
    ],
)
def test_a_destination_rule(balancer: str, row: str) -> None:
    (alone,) = outer(RULE % ("web", balancer), format_="istio")
    (behind,) = outer(RULE % ("web.default.svc.cluster.local", balancer), VIRTUAL % "", format_="istio")
    assert alone.affinity.row == row
    assert behind.affinity.row == row


def test_a_rule_for_another_host_says_nothing() -> None:
    found = outer(RULE % ("other", "consistentHash: {useSourceIp: true}"), VIRTUAL % "", format_="istio")
    assert {r.name.split(" ")[0]: r.affinity.row for r in found} == {
        "VirtualService": "istio/none",
        "DestinationRule": "istio/hash_address",
    }


def test_headers_that_istio_takes_off() -> None:
    (route,) = outer(VIRTUAL % "      headers: {request: {remove: [last-event-id]}}\n", format_="istio")
    assert route.last_event_id is CursorTreatment.STRIPPED
    (route,) = outer(VIRTUAL % "      headers: {response: {remove: [last-event-id]}}\n", format_="istio")
    assert route.last_event_id is CursorTreatment.PASSED


INGRESS_ROUTE = """\
apiVersion: traefik.io/v1alpha1
kind: IngressRoute
metadata: {name: edge}
spec:
  routes:
    - match: Host(`shop.test`) && PathPrefix(`/events`)
      services: [{name: web, port: 80%s}]
"""


@pytest.mark.parametrize(
    ("more", "row"),
    [
        ("", "ingress_traefik/none"),
        (", sticky: {cookie: {name: s}}", "ingress_traefik/cookie"),
        (", sticky: {cookie: {}}", "ingress_traefik/cookie"),
        (", weight: 1", "ingress_traefik/none"),
    ],
)
def test_traefiks_own_kind(more: str, row: str) -> None:
    (route,) = outer(INGRESS_ROUTE % more, format_="ingress_traefik")
    assert route.affinity.row == row
    assert (route.match.paths, route.match.hosts) == ((("prefix", "/events"),), ("shop.test",))
