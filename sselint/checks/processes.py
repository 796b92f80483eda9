"""SSE4xx: how many processes stand behind one address."""

from __future__ import annotations

from collections.abc import Iterator

from sselint.checks.registry import Part, deployment_check
from sselint.facts import Count, Pool, Rolling
from sselint.findings import Judgement


def _worker_pools(judgement: Judgement) -> Iterator[Pool]:
    for hop in judgement.deployment.hops:
        if hop.pool is not None:
            if hop.pool.kind == "workers":
                yield hop.pool
            if hop.pool.workers is not None:
                yield hop.pool.workers


def _several(count: Count) -> bool:
    """Whether more than one is written down as possible; "nobody can say" is not."""
    return count.low > 1 or (count.high is not None and count.high > 1)


@deployment_check("SSE401")
def workers(judgement: Judgement) -> Iterator[Part]:
    """Worker processes behind one socket: a balancer without affinity that no configuration of a proxy reaches."""
    for pool in dict.fromkeys(_worker_pools(judgement)):
        if _several(pool.processes):
            message = f"{pool.name}: {pool.processes.why}, behind one socket and without affinity"
            yield Part(message, pool.evidence)


@deployment_check("SSE402")
def rolling_update(judgement: Judgement) -> Iterator[Part]:
    """One replica is two while a release is rolled out."""
    for hop in judgement.deployment.hops:
        pool = hop.pool
        if pool is None or pool.processes.high != 1 or judgement.deployment.is_one_of_several(pool):
            continue
        if pool.rolling in (Rolling.SURGE_WRITTEN, Rolling.SURGE_DEFAULT):
            written = "as written" if pool.rolling is Rolling.SURGE_WRITTEN else "by the platform's default"
            message = f"{pool.name}: one replica, and {written} a release runs the old and the new one side by side"
            yield Part(message, pool.rolling_evidence or pool.evidence)
