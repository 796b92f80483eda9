"""Services as hops: whom they select, and what `sessionAffinity` does."""

from __future__ import annotations

import pytest

from sselint.facts import Strength
from tests.read.kubernetes.objects import deployment, service, together
from tests.read.texts import numbers, only_route, reading_of


@pytest.mark.parametrize(
    ("spec", "row", "seconds"),
    [
        ("", "kubernetes/none", None),
        ("sessionAffinity: None", "kubernetes/none", None),
        ("sessionAffinity: ClientIP", "kubernetes/client_ip", 10_800),
        (
            "sessionAffinity: ClientIP\nsessionAffinityConfig: {clientIP: {timeoutSeconds: 60}}",
            "kubernetes/client_ip",
            60,
        ),
        # A timeout without the affinity that it is for.
        ("sessionAffinityConfig: {clientIP: {timeoutSeconds: 60}}", "kubernetes/none", None),
    ],
)
def test_affinity(spec: str, row: str, seconds: float | None) -> None:
    affinity = only_route(together(deployment("replicas: 3"), service(spec))).affinity
    assert (affinity.row, affinity.key.seconds) == (row, seconds)


def test_an_affinity_from_a_template_is_unknown() -> None:
    route = only_route(together(deployment(), service("sessionAffinity: {{ affinity }}")))
    assert route.affinity.strength is Strength.UNKNOWN


def test_members_are_the_pods_that_it_selects() -> None:
    route = only_route(together(deployment("replicas: 3"), deployment("replicas: 5", name="other"), service()))
    assert numbers(route.members) == (3, 3)
    assert [t.host for t in route.targets] == ["deployment/web"]


def test_two_workloads_behind_one_selector_add_up() -> None:
    stable, canary = (
        deployment("replicas: 3"),
        deployment("replicas: 1", name="canary").replace("app: canary", "app: web"),
    )
    assert numbers(only_route(together(stable, canary, service())).members) == (4, 4)


def test_of_workloads_with_the_same_labels_the_nearest_are_meant() -> None:
    files = {
        "shop/web.yaml": deployment("replicas: 3"),
        "shop/service.yaml": service(),
        "docs/web.yaml": deployment("replicas: 5", name="other").replace("app: other", "app: web"),
    }
    assert [t.host for t in only_route(files).targets] == ["deployment/web"]


def test_a_selector_that_chooses_nothing_here() -> None:
    route = only_route(together(deployment(), service(selects="elsewhere")))
    assert (route.targets, numbers(route.members)) == ((), (1, None))


def test_a_service_of_another_namespace_selects_nothing_here() -> None:
    here = deployment().replace("{name: web}", "{name: web, namespace: a}", 1)
    there = service().replace("{name: web}", "{name: web, namespace: b}", 1)
    assert only_route(together(here, there)).targets == ()


def test_names_and_answers() -> None:
    virtual = only_route(together(deployment(), service()))
    assert virtual.answers == "one"
    assert {"web", "web.default", "web.default.svc", "web.default.svc.cluster.local"} <= virtual.addresses
    assert only_route(together(deployment(), service("clusterIP: None"))).answers == "each"


def test_an_external_name_is_a_target() -> None:
    text = "apiVersion: v1\nkind: Service\nmetadata: {name: db}\nspec: {type: ExternalName, externalName: db.test}\n"
    assert [t.host for t in only_route({"s.yaml": text}).targets] == ["db.test"]


@pytest.mark.parametrize(
    ("annotation", "rows"),
    [("run.googleapis.com/sessionAffinity: 'true'", ["cloud_run/session_affinity"]), ("other: 'true'", [])],
)
def test_session_affinity_of_cloud_run(annotation: str, rows: list[str]) -> None:
    text = deployment(kind="Service").replace("apps/v1", "serving.knative.dev/v1")
    text = text.replace("metadata: {labels: {app: web}}", f"metadata: {{annotations: {{{annotation}}}}}")
    reading = reading_of(together(text))
    assert [r.affinity.row for r in reading.routes] == rows
    assert [numbers(p.processes) for p in reading.pools] == [(0, None)]


def test_the_knative_kind_of_that_name_is_a_workload() -> None:
    text = deployment(kind="Service").replace("apps/v1", "serving.knative.dev/v1")
    reading = reading_of(together(text))
    assert (len(reading.pools), reading.routes) == (1, ())


def test_a_virtual_address_chooses_among_the_pods_themselves() -> None:
    """The Service is the choice, with its affinity; the Deployment behind it makes none of its own."""
    assert only_route(together(deployment("replicas: 3"), service("sessionAffinity: ClientIP"))).resolves == "all"
