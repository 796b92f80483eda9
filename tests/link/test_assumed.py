"""Where `--assume ids=...` puts its server: behind every route and pool that has none, and nowhere else."""

from pathlib import Path

import pytest

from sselint.facts import AppReference, Count, Match, Reading
from sselint.settings import Assumptions, Settings
from sselint.stated import ASSUMED
from tests.link.builders import linked, pool, route, stream


def assumed():
    return stream(ASSUMED, apps=(AppReference("", "", ASSUMED),), url=None)


def chains(audit):
    return sorted(" -> ".join(hop.name for hop in d.hops) for d in audit.deployments)


def test_services_of_one_image_are_one_server():
    services = [pool(name=n, count=Count.exactly(1, ""), image="agent:1", addresses=frozenset({n})) for n in "abc"]
    proxy = route(hosts=("a", "b", "c"))
    audit = linked(Reading(streams=(assumed(),), routes=(proxy,), pools=tuple(services)))
    assert chains(audit) == ["location / -> feed -> a and 2 more"]
    assert audit.deployments[0].hops[0].route.members.low == 3


def test_each_route_may_have_it_behind_it():
    routes = (route(hosts=("a",), name="one", prefix="/a"), route(hosts=("b",), name="two", prefix="/b"))
    assert chains(linked(Reading(streams=(assumed(),), routes=routes))) == ["one", "two"]


def test_a_pool_without_a_route_may_have_it():
    assert chains(linked(Reading(streams=(assumed(),), pools=(pool(),)))) == ["Deployment app"]


def test_a_pool_that_runs_a_server_of_the_tree_has_it_not():
    """The silent twin: that place is taken, and what stands there is known."""
    taken, free = pool(name="web", starts="app:app"), pool(name="feed", image="feed:1")
    audit = linked(Reading(streams=(stream(), assumed()), pools=(taken, free)))
    assert chains(audit) == ["feed", "web"]


def test_infrastructure_has_it_not():
    audit = linked(Reading(streams=(assumed(),), pools=(pool(name="cache", image="redis:7"), pool(name="feed"))))
    assert chains(audit) == ["feed"]


def test_a_route_on_a_header_belongs_to_the_plain_one_of_its_file():
    plain, conditional = route(name="plain"), route(name="by id")
    conditional = type(conditional)(**{**vars(conditional), "match": Match(headers=("last-event-id",))})
    assert chains(linked(Reading(streams=(assumed(),), routes=(plain, conditional)))) == ["plain"]


def test_one_server_and_services_of_one_image_are_linked():
    """The last resort counts what runs, not how often it is written down."""
    services = tuple(pool(name=n, count=Count.exactly(1, ""), image="agent:1") for n in "ab")
    audit = linked(Reading(streams=(stream(),), pools=services))
    assert chains(audit) == ["a", "b"]
    assert all("one thing that runs" in d.assumptions[0] for d in audit.deployments)


def test_one_server_and_services_of_two_images_are_not_guessed():
    services = tuple(pool(name=n, image=f"{n}:1") for n in ("web", "jobs"))
    audit = linked(Reading(streams=(stream(),), pools=services))
    assert chains(audit) == [""]
    assert len(audit.deployments[0].candidates) == 2


@pytest.mark.parametrize(
    ("routes", "pools", "expected"),
    [
        ((), (), [3]),  # nothing starts it
        ((route(),), (), [1, 3]),  # one address, behind which there may be several
        ((route(hosts=("a", "b")),), (), [2]),  # the members are written down
        ((), (pool(count=Count.exactly(1, "one")),), [1]),
        ((), (pool(count=Count.unknown("templated")),), [3]),
    ],
)
def test_replicas_stand_for_every_number_that_the_tree_leaves_open(routes, pools, expected):
    settings = Settings(Path("/nowhere"), assume=Assumptions(replicas=Count.exactly(3, "--assume")))
    audit = linked(Reading(streams=(stream(),), routes=routes, pools=pools), settings=settings)
    (deployment,) = audit.deployments
    assert [(h.route.members if h.route else h.pool.processes).low for h in deployment.hops] == expected
