"""SSE4xx: how many processes stand behind one address."""

from __future__ import annotations

from typing import Any

import pytest

from sselint.facts import Count, Pool, Rolling
from sselint.findings import Severity
from tests.checks.helpers import behind, found, only
from tests.report import builders


def workers(count: Count) -> Pool:
    return builders.pool(kind="workers", name="gunicorn", processes=count)


def one_replica(rolling: Rolling, **changes: Any) -> Pool:
    facts: dict[str, Any] = {"processes": Count.exactly(1, "replicas: 1"), "rolling": rolling}
    return builders.pool(**(facts | changes))


@pytest.mark.parametrize("count", [Count.exactly(4, "-w 4"), Count(1, 4, "1 to 4"), Count(2, None, "2 or more")])
def test_workers_fire(count: Count) -> None:
    assert only("SSE401", behind(workers(count))).message.startswith(f"gunicorn: {count.why}")


def test_workers_inside_a_replica_fire() -> None:
    inside = builders.pool(workers=workers(Count.exactly(4, "-w 4")))
    assert only("SSE401", behind(inside)).severity is Severity.ERROR


@pytest.mark.parametrize("count", [Count.exactly(1, "-w 1"), Count.unknown("WEB_CONCURRENCY")])
def test_one_worker_and_an_unknown_number_are_silent(count: Count) -> None:
    """One is no balancer; a number that nobody can tell is what the verdict turns on, and no fault by itself."""
    assert not found("SSE401", behind(workers(count)))


def test_replicas_are_no_workers() -> None:
    assert not found("SSE401", behind(builders.pool()))


@pytest.mark.parametrize(
    "rolling, words",
    [(Rolling.SURGE_WRITTEN, "as written"), (Rolling.SURGE_DEFAULT, "by the platform's default")],
)
def test_rolling_update_fires(rolling: Rolling, words: str) -> None:
    assert words in only("SSE402", behind(one_replica(rolling))).message


@pytest.mark.parametrize("rolling", [Rolling.REPLACED, Rolling.UNKNOWN])
def test_a_release_that_does_not_overlap_is_silent(rolling: Rolling) -> None:
    assert not found("SSE402", behind(one_replica(rolling)))


def test_a_release_of_several_replicas_is_silent() -> None:
    """Several processes answer at all times; the release adds nothing."""
    assert not found("SSE402", behind(builders.pool(rolling=Rolling.SURGE_WRITTEN)))


@pytest.mark.parametrize(("members", "fires"), [(1, True), (3, False)])
def test_a_release_of_one_of_several_members_is_silent(members: int, fires: bool) -> None:
    """The pool stands for each member of the route before it: of three, a release makes four, not two of one."""
    pods = one_replica(Rolling.SURGE_DEFAULT)
    route = builders.route(members=Count.exactly(members, f"replicas: {members}"))
    hops = (builders.hop(route), builders.hop(pods, per_member=True))
    judgement = builders.corrupt(deployment=builders.deployment(hops=hops))
    assert bool(found("SSE402", judgement)) is fires
