"""kustomize: what an overlay makes of its base, each part with the place that says it."""

from __future__ import annotations

import pytest

from sselint.facts import Pool
from tests.read.kubernetes.objects import deployment, service
from tests.read.texts import numbers, only_pool, reading_of, workers

BASE = {
    "base/kustomization.yaml": "resources: [web.yaml, service.yaml]\n",
    "base/web.yaml": deployment("replicas: 1", "command: [uvicorn, app:app]"),
    "base/service.yaml": service(),
}


def overlaid(text: str, **files: str) -> Pool:
    named = {name.replace("__", "/").replace("_yaml", ".yaml"): content for name, content in files.items()}
    return only_pool({**BASE, "prod/kustomization.yaml": "resources: [../base]\n" + text, **named})


REPLACE = "    - op: replace\n      path: /spec/replicas\n      value: 5\n"
STRATEGIC = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {replicas: 4}\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", (1, 1)),
        ("replicas: [{name: web, count: 3}]\n", (3, 3)),
        ("replicas: [{name: other, count: 3}]\n", (1, 1)),
        ("patches: [{path: patch.yaml}]\n", (4, 4)),
        ("patchesStrategicMerge: [patch.yaml]\n", (4, 4)),
        ("patches: [{patch: '[{op: replace, path: /spec/replicas, value: 5}]', target: {kind: Deployment}}]\n", (5, 5)),
        ("patches:\n- target: {name: web}\n  patch: |-\n" + REPLACE, (5, 5)),
        ("patches:\n- target: {name: api}\n  patch: |-\n" + REPLACE, (1, 1)),
        ("patches: [{patch: '[{op: remove, path: /spec/replicas}]', target: {kind: Deployment}}]\n", (1, 1)),
    ],
)  # fmt: skip
def test_replicas(text: str, expected: tuple[int, int | None]) -> None:
    assert numbers(overlaid(text, prod__patch_yaml=STRATEGIC).processes) == expected


def test_a_list_is_merged_by_name() -> None:
    patch = STRATEGIC.replace(
        "spec: {replicas: 4}",
        "spec: {template: {spec: {containers: [{name: web, args: [--workers, '3']}, {name: side, image: redis}]}}}",
    )
    pool = overlaid("patches: [{path: patch.yaml}]\n", prod__patch_yaml=patch)
    assert (pool.starts, workers(pool), pool.image) == ("app:app", (3, 3), "shop/web:1")


def test_images_and_names() -> None:
    pool = overlaid("namePrefix: prod-\nimages: [{name: shop/web, newName: registry.test/web, newTag: '9'}]\n")
    assert (pool.image, pool.name) == ("registry.test/web:9", "Deployment prod-web")


def test_a_generated_config_map_is_an_environment() -> None:
    base = deployment("replicas: 1", "command: [uvicorn, app:app]\nenvFrom: [{configMapRef: {name: settings}}]")
    generator = "configMapGenerator:\n- name: settings\n  literals: [WEB_CONCURRENCY=4]\n"
    files = {**BASE, "base/web.yaml": base, "prod/kustomization.yaml": "resources: [../base]\n" + generator}
    assert workers(only_pool(files)) == (4, 4)


def test_overlays_of_one_base_are_alternatives() -> None:
    files = {
        **BASE,
        "dev/kustomization.yaml": "resources: [../base]\n",
        "prod/kustomization.yaml": "resources: [../base]\nreplicas: [{name: web, count: 3}]\n",
    }
    reading = reading_of(files)
    assert {p.variant: numbers(p.processes) for p in reading.pools} == {"dev": (1, 1), "prod": (3, 3)}
    assert {r.variant for r in reading.routes} == {"dev", "prod"}, "a Service is in front of its own alternative"


def test_a_patch_keeps_its_own_place() -> None:
    pool = overlaid("patches: [{path: patch.yaml}]\n", prod__patch_yaml=STRATEGIC)
    assert ("prod/patch.yaml", 4) in {(s.path, s.line) for s in pool.evidence}


@pytest.mark.parametrize(
    "text",
    [
        "resources: [../base, ../nowhere, https://x.test/y]\n",
        "resources: [.]\n",
        "resources: [[a], {b: c}, ~]\n",
        "[a]\n",
    ],
)
def test_what_leads_nowhere_raises_nothing(text: str) -> None:
    reading_of({**BASE, "prod/kustomization.yaml": text})


def test_kustomizations_that_build_on_each_other_end() -> None:
    files = {"a/kustomization.yaml": "resources: [../b]\n", "b/kustomization.yaml": "resources: [../a]\n"}
    assert reading_of(files).pools == ()
