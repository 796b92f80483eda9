"""Workloads: how many pods, what a release does to them, and what the serving container runs.

Defaults are those of the Kubernetes API reference (apps/v1, autoscaling/v2) and of KEDA's ScaledObject.
"""

from __future__ import annotations

import pytest

from sselint.facts import Pool, Rolling, Truth
from tests.read.kubernetes.objects import deployment, together
from tests.read.texts import numbers, only_pool, reading_of, workers


def pool(spec: str = "", container: str = "", kind: str = "Deployment") -> Pool:
    return only_pool(together(deployment(spec, container, kind)))


HPA = """\
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: %s}
  minReplicas: 2
  maxReplicas: 8
"""
KEDA = """\
apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata: {name: web}
spec:
  scaleTargetRef: {name: web}
"""


@pytest.mark.parametrize(
    ("spec", "kind", "expected"),
    [
        ("replicas: 3", "Deployment", (3, 3)),
        ("replicas: 1", "Deployment", (1, 1)),
        ("", "Deployment", (1, 1)),
        ("replicas: 0", "Deployment", (0, 0)),
        ("replicas: 3", "StatefulSet", (3, 3)),
        ("replicas: ${REPLICAS}", "Deployment", (1, None)),
        ("replicas: {{ replicas }}", "Deployment", (1, None)),
        ("", "DaemonSet", (1, None)),
        # Numbers that scale nothing.
        ("revisionHistoryLimit: 5", "Deployment", (1, 1)),
        ("minReadySeconds: 3", "Deployment", (1, 1)),
    ],
)
def test_how_many_pods(spec: str, kind: str, expected: tuple[int, int | None]) -> None:
    assert numbers(pool(spec, kind=kind).processes) == expected


@pytest.mark.parametrize(
    ("scaler", "expected"),
    [
        (HPA % "web", (2, 8)),
        (HPA % "other", (1, 1)),
        ((HPA % "web").replace("  minReplicas: 2\n", ""), (1, 8)),
        ((HPA % "web").replace("kind: Deployment", "kind: StatefulSet"), (1, 1)),
        ((HPA % "web").replace("8", "{{ most }}"), (2, None)),
        (KEDA, (0, 100)),
        (KEDA + "  minReplicaCount: 1\n  maxReplicaCount: 5\n", (1, 5)),
    ],
)
def test_an_autoscaler_overrides_replicas(scaler: str, expected: tuple[int, int | None]) -> None:
    pools = reading_of(together(deployment("replicas: 1"), scaler)).pools
    assert [numbers(p.processes) for p in pools if p.line == 2] == [expected]


def test_an_autoscaler_of_another_namespace_is_not_its_own() -> None:
    here = deployment("replicas: 1").replace("{name: web}", "{name: web, namespace: a}", 1)
    there = (HPA % "web").replace("{name: web}", "{name: web, namespace: b}", 1)
    found = [p for p in reading_of(together(here, there)).pools if p.line == 2]
    assert [numbers(p.processes) for p in found] == [(1, 1)]


@pytest.mark.parametrize(
    ("spec", "kind", "expected"),
    [
        ("", "Deployment", Rolling.SURGE_DEFAULT),
        ("strategy: {type: RollingUpdate}", "Deployment", Rolling.SURGE_DEFAULT),
        ("strategy: {rollingUpdate: {maxUnavailable: 1}}", "Deployment", Rolling.SURGE_DEFAULT),
        ("strategy: {rollingUpdate: {maxSurge: 1}}", "Deployment", Rolling.SURGE_WRITTEN),
        ("strategy: {rollingUpdate: {maxSurge: 25%}}", "Deployment", Rolling.SURGE_WRITTEN),
        ("strategy: {rollingUpdate: {maxSurge: 0, maxUnavailable: 1}}", "Deployment", Rolling.REPLACED),
        ("strategy: {rollingUpdate: {maxSurge: '0%'}}", "Deployment", Rolling.REPLACED),
        ("strategy: {type: Recreate}", "Deployment", Rolling.REPLACED),
        ("strategy: {type: {{ strategy }}}", "Deployment", Rolling.UNKNOWN),
        ("updateStrategy: {type: RollingUpdate}", "StatefulSet", Rolling.REPLACED),
        ("", "DaemonSet", Rolling.REPLACED),
        ("updateStrategy: {rollingUpdate: {maxSurge: 1}}", "DaemonSet", Rolling.SURGE_WRITTEN),
    ],
)
def test_what_a_release_does(spec: str, kind: str, expected: Rolling) -> None:
    assert pool(spec, kind=kind).rolling is expected


def test_a_rollout_has_two_generations_where_it_says_so() -> None:
    text = deployment("strategy: {canary: {steps: [{setWeight: 20}]}}", kind="Rollout")
    assert only_pool(together(text.replace("apps/v1", "argoproj.io/v1alpha1"))).rolling is Rolling.SURGE_WRITTEN


@pytest.mark.parametrize(
    ("container", "starts", "expected"),
    [
        ("command: [uvicorn, app:app]", "app:app", (1, 1)),
        ("command: [uvicorn, app:app]\nargs: [--workers, '4']", "app:app", (4, 4)),
        ("command: [sh, -c, 'exec uvicorn app:app --workers 3']", "app:app", (3, 3)),
        ("command:\n  - sh\n  - -c\n  - |\n    set -e\n    uvicorn app:app --workers 3", "app:app", (3, 3)),
        ("args: [gunicorn, -w, '2', app:app]", "app:app", (2, 2)),
        ("command: [uvicorn, app:app]\nenv: [{name: WEB_CONCURRENCY, value: '5'}]", "app:app", (5, 5)),
        ("command: [uvicorn, app:app, --workers, $(N)]\nenv: [{name: N, value: '6'}]", "app:app", (6, 6)),
        ("command: [gunicorn, -w, $(N), app:app]\nenv: [{name: N, valueFrom: {}}]", "app:app", (1, None)),
        ("command: [uvicorn, app:app, --workers, '{{ n }}']", "app:app", (1, None)),
        ("livenessProbe: {exec: {command: [uvicorn, other:app, --workers, '9']}}", None, (1, 1)),
    ],
)  # fmt: skip
def test_what_the_container_starts(container: str, starts: str | None, expected: tuple[int, int | None]) -> None:
    found = pool(container=container)
    assert (found.starts, workers(found)) == (starts, expected)


def test_the_container_that_serves_is_chosen() -> None:
    text = deployment(container="command: [uvicorn, app:app, --workers, '2']\nports: [{containerPort: 8000}]")
    proxy = "      - {name: envoy, image: 'envoyproxy/envoy:v1', ports: [{containerPort: 80}]}\n"
    text = text.replace("      containers:\n", "      containers:\n  " + proxy)
    found = only_pool(together(text))
    assert (found.image, workers(found)) == ("shop/web:1", (2, 2))


def test_init_containers_are_over_when_it_serves() -> None:
    text = deployment(container="image: shop/web:1").replace(
        "      containers:\n",
        "      initContainers: [{name: a, image: b, command: [uvicorn, x:y, --workers, '9']}]\n      containers:\n",
    )
    assert workers(only_pool(together(text))) == (1, 1)


CONFIG = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\ndata: {WEB_CONCURRENCY: '3', MODE: redis}\n"


def test_the_environment_out_of_a_config_map() -> None:
    container = (
        "command: [uvicorn, app:app]\nenvFrom: [{configMapRef: {name: settings}}]\nenv: [{name: MODE, value: memory}]"
    )
    found = only_pool(together(deployment(container=container), CONFIG))
    assert {s.name: s.value for s in found.environment} == {"WEB_CONCURRENCY": "3", "MODE": "memory"}
    assert found.settles_environment
    assert workers(found) == (3, 3)


@pytest.mark.parametrize(
    "container",
    [
        "envFrom: [{configMapRef: {name: elsewhere}}]",
        "envFrom: [{secretRef: {name: settings}}]",
        "env:\n  {{ more }}",
    ],
)
def test_an_environment_that_is_out_of_sight_is_not_settled(container: str) -> None:
    assert not only_pool(together(deployment(container=container), CONFIG)).settles_environment


CLAIM = "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: data}\nspec: {accessModes: [%s]}\n"


@pytest.mark.parametrize(
    ("volume", "claim", "expected"),
    [
        ("emptyDir: {}", "", Truth.NO),
        ("configMap: {name: x}", "", Truth.YES),
        ("nfs: {server: x, path: /}", "", Truth.YES),
        ("hostPath: {path: /data}", "", Truth.UNKNOWN),
        ("persistentVolumeClaim: {claimName: data}", "ReadWriteMany", Truth.YES),
        ("persistentVolumeClaim: {claimName: data}", "ReadWriteOncePod", Truth.NO),
        ("persistentVolumeClaim: {claimName: data}", "ReadWriteOnce", Truth.UNKNOWN),
        ("persistentVolumeClaim: {claimName: other}", "ReadWriteMany", Truth.UNKNOWN),
    ],
)
def test_volumes(volume: str, claim: str, expected: Truth) -> None:
    text = deployment(container="volumeMounts: [{name: v, mountPath: /data}]").replace(
        "      containers:\n", f"      volumes: [{{name: v, {volume}}}]\n      containers:\n"
    )
    (found,) = only_pool(together(text, *([CLAIM % claim] if claim else []))).volumes
    assert (found.mount_path, found.shared) == ("/data", expected)


def test_a_stateful_set_gives_each_pod_its_own_claim_and_name() -> None:
    spec = "replicas: 2\nserviceName: feed\nvolumeClaimTemplates: [{metadata: {name: v}}]"
    found = pool(spec, "volumeMounts: [{name: v, mountPath: /data}]", "StatefulSet")
    assert [v.shared for v in found.volumes] == [Truth.NO]
    assert {"web-0.feed", "web-1.feed", "web-1.feed.default.svc"} <= found.addresses


@pytest.mark.parametrize("kind", ["Job", "CronJob"])
def test_what_serves_nobody(kind: str) -> None:
    assert reading_of(together(deployment(kind=kind))).pools == ()


def test_a_list_holds_objects() -> None:
    items = "".join(
        "- " + line if not n else "  " + line for n, line in enumerate(deployment().splitlines(keepends=True))
    )
    assert only_pool({"all.yaml": "apiVersion: v1\nkind: List\nitems:\n" + items}).name == "Deployment web"


def test_the_same_object_in_two_folders_is_two_alternatives() -> None:
    files = {"dev/web.yaml": deployment("replicas: 1"), "prod/web.yaml": deployment("replicas: 4")}
    assert {p.variant: numbers(p.processes) for p in reading_of(files).pools} == {"dev": (1, 1), "prod": (4, 4)}


def test_a_piece_of_a_workload_is_no_alternative() -> None:
    """What `kubectl patch` is given: a container that only gets an environment."""
    piece = deployment("", "env: [{name: HTTPS_PROXY, value: x}]").replace("          image: shop/web:1\n", "")
    found = only_pool({"web.yaml": deployment("replicas: 3"), "proxy.yaml": piece})
    assert (numbers(found.processes), found.variant) == ((3, 3), "")
    scaled = {"web.yaml": deployment("replicas: 3"), "big.yaml": piece.replace("spec:\n", "spec:\n  replicas: 9\n", 1)}
    assert {numbers(p.processes) for p in reading_of(scaled).pools} == {(3, 3), (9, 9)}


def test_places() -> None:
    found = pool("replicas: 3")
    assert (found.path, found.line) == ("k8s.yaml", 2)
    assert [(s.line, s.column) for s in found.evidence] == [(5, 3), (2, 1)]


def test_an_object_that_a_template_repeats() -> None:
    text = "{% for team in teams %}\n---\n" + deployment("replicas: 2") + "{% endfor %}\n"
    assert numbers(only_pool(together(text)).processes) == (2, None)


def test_a_condition_around_replicas_alone_makes_two_numbers() -> None:
    text = deployment("replicas: 3").replace("  replicas: 3\n", "  {% if ha %}\n  replicas: 3\n  {% endif %}\n")
    assert numbers(only_pool(together(text)).processes) == (1, 3)
    whole = "{% if web %}\n" + deployment("replicas: 3") + "{% endif %}\n"
    assert numbers(only_pool(together(whole)).processes) == (3, 3)
