"""Several platforms for one server: each is linked by the best evidence that its own files have."""

from __future__ import annotations

import pytest

from sselint.facts import Reading
from sselint.link import link
from sselint.link.units import Units
from sselint.settings import Settings
from sselint.source import Tree
from tests.link.builders import pool, route, stream

PYPROJECT = '[build-system]\nrequires = ["hatchling"]\n\n[project]\nname = "shop-feed"\nversion = "1"\n'


def linked_names(tmp_path, reading, files):
    """(file of the server, pool) of each deployment."""
    known = sorted({*files, *(s.path for s in reading.streams)})
    tree = Tree("/nowhere", tuple(known), lambda path: files.get(path, "").encode())
    units = Units({s.unit for s in reading.streams} | {"."})
    audit = link(reading, tree, units, Settings(tmp_path), ("redis",), lambda s, _environment, _settled: s)
    return sorted((d.stream.path, d.hops[0].pool.name) for d in audit.deployments if d.hops and d.hops[0].pool)


COMPOSE = pool("compose.yaml", "service web", format="compose", build_context=".")


@pytest.mark.parametrize("image", ["registry.test/team/shop-feed:1.2", "shop-feed@sha256:0"])
def test_an_image_called_like_the_project(tmp_path, image):
    """The compose file builds the server; that says nothing against the manifest that runs its image."""
    manifest = pool("deploy/k8s.yaml", "Deployment web", image=image)
    reading = Reading(streams=(stream(),), pools=(COMPOSE, manifest))
    assert linked_names(tmp_path, reading, {"pyproject.toml": PYPROJECT}) == [
        ("app.py", "Deployment web"),
        ("app.py", "service web"),
    ]


def test_an_image_of_another_name_is_no_alternative(tmp_path):
    manifest = pool("deploy/k8s.yaml", "Deployment web", image="registry.test/team/other:1.2")
    reading = Reading(streams=(stream(),), pools=(COMPOSE, manifest))
    assert linked_names(tmp_path, reading, {"pyproject.toml": PYPROJECT}) == [("app.py", "service web")]


def test_an_image_that_compose_builds(tmp_path):
    built = pool("compose.yaml", "service web", format="compose", build_context=".", image="team/feed:dev")
    manifest = pool("deploy/k8s.yaml", "Deployment web", image="registry.test/team/feed:1.2")
    reading = Reading(streams=(stream(),), pools=(built, manifest))
    assert linked_names(tmp_path, reading, {}) == [("app.py", "Deployment web"), ("app.py", "service web")]


def test_the_name_of_a_table_of_a_tool_is_not_the_projects(tmp_path):
    text = '[tool.other]\nname = "shop-feed"\n\n[project]\nversion = "1"\n\n[tool.last]\nname = "shop-feed"\n'
    manifest = pool("deploy/k8s.yaml", "Deployment web", image="shop-feed")
    reading = Reading(streams=(stream(),), pools=(COMPOSE, manifest))
    assert linked_names(tmp_path, reading, {"pyproject.toml": text}) == [("app.py", "service web")]


def test_a_pool_in_another_services_folder_stays_there(tmp_path):
    """Two services whose projects were copied from one template and kept its name."""
    streams = (stream("a/app.py", "a"), stream("b/app.py", "b"))
    pools = (
        pool("a/compose.yaml", "service a", format="compose", build_context="a"),
        pool("b/k8s.yaml", "Deployment b", image="shop-feed"),
    )
    files = {"a/pyproject.toml": PYPROJECT, "b/pyproject.toml": PYPROJECT}
    assert linked_names(tmp_path, Reading(streams=streams, pools=pools), files) == [
        ("a/app.py", "service a"),
        ("b/app.py", "Deployment b"),
    ]


def test_an_image_called_like_the_service_that_compose_builds(tmp_path):
    """Compose that says `build` alone calls the image by the service, and so does whoever pushes it."""
    built = pool("compose.yaml", "service feed", format="compose", build_context=".", addresses=frozenset({"feed"}))
    manifest = pool("chart/deployment.yaml", "Deployment release-feed", image="registry.test/team/feed:1.2")
    reading = Reading(streams=(stream(),), pools=(built, manifest))
    assert linked_names(tmp_path, reading, {}) == [("app.py", "Deployment release-feed"), ("app.py", "service feed")]


def test_a_route_to_something_that_runs_is_in_front_of_nothing_else(tmp_path):
    """The only route of the tree leads, through a Service, to a Deployment: it is not in front of the container that
    compose starts for development."""
    built = pool("compose.yaml", "service web", format="compose", build_context=".", addresses=frozenset({"web"}))
    manifest = pool("k8s.yaml", "Deployment other", image="other", addresses=frozenset({"deployment/other"}))
    routes = (
        route("k8s.yaml", ["svc"], name="Ingress other", to_endpoints=True),
        route("k8s.yaml", ["deployment/other"], name="Service svc", addresses=frozenset({"svc"})),
    )
    reading = Reading(streams=(stream(),), routes=routes, pools=(built, manifest))
    assert linked_names(tmp_path, reading, {}) == [("app.py", "service web")]
