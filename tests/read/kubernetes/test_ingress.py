"""Ingresses: which controller serves one, and what its annotations make of it (rows of rules/affinity)."""

from __future__ import annotations

import pytest

from sselint.facts import CursorTreatment, KeyIssuer, Route, Strength
from tests.read.kubernetes.objects import deployment, ingress, service, together
from tests.read.texts import numbers, reading_of


def route(annotations: str = "", spec: str = "ingressClassName: nginx", services: str = "") -> Route:
    text = service() if not services else service().replace("{name: web}", "{name: web, " + services + "}", 1)
    found = reading_of(together(deployment("replicas: 3"), text, ingress(annotations, spec))).routes
    (only,) = [r for r in found if r.name.startswith("Ingress")]
    return only


NGINX = "nginx.ingress.kubernetes.io/"
COOKIE = "INGRESSCOOKIE"


@pytest.mark.parametrize(
    ("annotations", "row", "key"),
    [
        ("", "ingress_nginx/none", ""),
        (f"{NGINX}affinity: cookie", "ingress_nginx/cookie_balanced", COOKIE),
        (f"{NGINX}affinity: cookie\n{NGINX}affinity-mode: balanced", "ingress_nginx/cookie_balanced", COOKIE),
        (f"{NGINX}affinity: cookie\n{NGINX}affinity-mode: persistent", "ingress_nginx/cookie_persistent", COOKIE),
        (f"{NGINX}affinity: cookie\n{NGINX}session-cookie-name: route", "ingress_nginx/cookie_balanced", "route"),
        (f"{NGINX}upstream-hash-by: $http_mcp_session_id", "ingress_nginx/hash_server_header", "mcp-session-id"),
        (f"{NGINX}upstream-hash-by: $binary_remote_addr", "ingress_nginx/hash_address", "binary_remote_addr"),
        (f"{NGINX}upstream-hash-by: $host", "ingress_nginx/hash_constant", "host"),
        (f"{NGINX}upstream-hash-by: $http_x_client", "ingress_nginx/hash_header", "x-client"),
        (f"{NGINX}upstream-hash-by: $arg_run", "ingress_nginx/hash_query", "run"),
        (f"{NGINX}upstream-hash-by: $request_id", "ingress_nginx/hash_per_request", "request_id"),
        # Settings of a cookie that nothing switches on, and of buffering.
        (f"{NGINX}session-cookie-name: route", "ingress_nginx/none", ""),
        (f"{NGINX}proxy-buffering: 'off'", "ingress_nginx/none", ""),
        # Another controller's annotations have no effect here.
        ("haproxy.org/cookie-persistence: SRV", "ingress_nginx/none", ""),
    ],
)  # fmt: skip
def test_ingress_nginx(annotations: str, row: str, key: str) -> None:
    affinity = route(annotations).affinity
    assert (affinity.row, affinity.key.name) == (row, key)


def test_the_cookie_wins_over_the_hash() -> None:
    affinity = route(f"{NGINX}affinity: cookie\n{NGINX}upstream-hash-by: $http_x_client").affinity
    assert affinity.row == "ingress_nginx/cookie_balanced"
    assert len(affinity.no_effect) == 1


def test_service_upstream_leaves_nothing_to_choose() -> None:
    found = route(f"{NGINX}affinity: cookie\n{NGINX}service-upstream: 'true'")
    assert (found.affinity.row, found.to_endpoints) == ("ingress_nginx/none", False)
    assert found.affinity.no_effect


def test_a_cookie_that_expires() -> None:
    affinity = route(f"{NGINX}affinity: cookie\n{NGINX}session-cookie-max-age: '600'").affinity
    assert (affinity.key.lifetime, affinity.key.seconds) == ("expires", 600)
    assert route(f"{NGINX}affinity: cookie").affinity.key.lifetime == "session"


@pytest.mark.parametrize(
    ("snippet", "expected"),
    [
        ('proxy_set_header Last-Event-ID "";', CursorTreatment.STRIPPED),
        ("more_clear_input_headers Last-Event-ID;", CursorTreatment.STRIPPED),
        ("proxy_set_header Last-Event-ID $http_last_event_id;", CursorTreatment.PASSED),
        ('proxy_set_header Connection "";', CursorTreatment.PASSED),
    ],
)
def test_a_snippet_that_takes_the_cursor_off(snippet: str, expected: CursorTreatment) -> None:
    assert route(f"{NGINX}configuration-snippet: |\n  {snippet}").last_event_id is expected


def test_routing_on_the_cursor_itself() -> None:
    assert route(f"{NGINX}upstream-hash-by: $http_last_event_id").last_event_id is CursorTreatment.ROUTED_ON


STICKY = "traefik.ingress.kubernetes.io/service.sticky.cookie: 'true'"
ALB = "alb.ingress.kubernetes.io/target-group-attributes: stickiness."


@pytest.mark.parametrize(
    ("class_", "annotations", "services", "row"),
    [
        ("haproxy", "haproxy-ingress.github.io/affinity: cookie", "", "ingress_haproxy/cookie"),
        ("haproxy", "haproxy.org/cookie-persistence: SRV", "", "ingress_haproxy/cookie"),
        ("haproxy", "haproxy.org/load-balance: source", "", "ingress_haproxy/hash_address"),
        ("haproxy", "haproxy.org/load-balance: hdr(Mcp-Session-Id)", "", "ingress_haproxy/hash_server_header"),
        ("haproxy", "haproxy.org/load-balance: leastconn", "", "ingress_haproxy/none"),
        ("traefik", "", f"annotations: {{{STICKY}}}", "ingress_traefik/cookie"),
        # Traefik reads it of the Service, not of the Ingress.
        ("traefik", STICKY, "", "ingress_traefik/none"),
        ("alb", ALB + "enabled=true,stickiness.lb_cookie.duration_seconds=60", "", "alb/lb_cookie"),
        ("alb", ALB + "enabled=true,stickiness.type=app_cookie", "", "alb/app_cookie"),
        ("alb", ALB + "lb_cookie.duration_seconds=60", "", "alb/none"),
        ("gce", "", "", "gce/none"),
        ("somebody-elses", "", "", "kubernetes/ingress_none"),
    ],
)
def test_other_controllers(class_: str, annotations: str, services: str, row: str) -> None:
    assert route(annotations, f"ingressClassName: {class_}", services).affinity.row == row


def test_a_backend_config_of_gke() -> None:
    config = (
        "apiVersion: cloud.google.com/v1\nkind: BackendConfig\nmetadata: {name: sticky}\n"
        "spec: {sessionAffinity: {affinityType: GENERATED_COOKIE, affinityCookieTtlSec: 50}}\n"
    )
    named = service().replace(
        "{name: web}", '{name: web, annotations: {cloud.google.com/backend-config: \'{"default": "sticky"}\'}}', 1
    )
    files = together(deployment(), named, config, ingress(spec="ingressClassName: gce"))
    (found,) = [r for r in reading_of(files).routes if r.name.startswith("Ingress")]
    assert (found.affinity.row, found.affinity.key.seconds) == ("gce/cookie", 50)


@pytest.mark.parametrize(
    ("spec", "annotations", "format_"),
    [
        ("ingressClassName: nginx-internal", "", "ingress_nginx"),
        ("", "kubernetes.io/ingress.class: haproxy", "ingress_haproxy_ingress"),
        ("", f"{NGINX}proxy-buffering: 'off'", "ingress_nginx"),
        ("", "", "ingress"),
    ],
)
def test_who_serves_it(spec: str, annotations: str, format_: str) -> None:
    assert route(annotations, spec).format == format_


def test_a_class_says_its_controller() -> None:
    kind = (
        "apiVersion: networking.k8s.io/v1\nkind: IngressClass\nmetadata: {name: edge}\n"
        "spec: {controller: k8s.io/ingress-nginx}\n"
    )
    files = together(deployment(), service(), kind, ingress(f"{NGINX}affinity: cookie", "ingressClassName: edge"))
    (found,) = [r for r in reading_of(files).routes if r.name.startswith("Ingress")]
    assert found.affinity.row == "ingress_nginx/cookie_balanced"


def test_what_it_forwards_to() -> None:
    found = route()
    assert [(t.host, t.port) for t in found.targets] == [("web", 80)]
    assert (found.match.paths, found.match.hosts) == ((("prefix", "/events"),), ("shop.test",))
    assert numbers(found.members) == (3, 3)
    assert found.to_endpoints, "ingress-nginx balances over the pods, not over the Service"


def test_annotations_from_a_template_are_not_absent() -> None:
    text = ingress(f"{NGINX}proxy-buffering: 'off'").replace("  annotations:\n", "  annotations:\n    {{ extra }}\n")
    (found,) = [r for r in reading_of(together(deployment(), service(), text)).routes if r.name.startswith("Ingress")]
    assert found.affinity.strength is Strength.UNKNOWN
    assert route(f"{NGINX}affinity: {{{{ affinity }}}}").affinity.strength is Strength.UNKNOWN
    assert route(f"{NGINX}proxy-body-size: {{{{ size }}}}").affinity.strength is Strength.NONE


def test_who_makes_the_key() -> None:
    assert route(f"{NGINX}affinity: cookie").affinity.key.issued_by is KeyIssuer.PROXY
    assert route(f"{NGINX}upstream-hash-by: $http_mcp_session_id").affinity.key.issued_by is KeyIssuer.SERVER
