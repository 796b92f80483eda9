"""SSE5xx: whether anybody would see it."""

from __future__ import annotations

from collections.abc import Iterator

from sselint.checks.registry import Part, deployment_check
from sselint.facts import Scope, Truth
from sselint.findings import Confidence, Judgement


@deployment_check("SSE501")
def replica_not_named(judgement: Judgement) -> Iterator[Part]:
    """Events do not name the replica that made them, so that no client can notice a change of replica."""
    stream = judgement.deployment.stream
    if stream.tags_replica is Truth.NO and stream.ids.scope is not Scope.NONE:
        yield Part("events do not name the replica that made them", stream.ids.evidence)


@deployment_check("SSE502")
def refusal_swallowed(judgement: Judgement) -> Iterator[Part]:
    """A client in the tree swallows the refusal or retries it for ever."""
    for sighting in judgement.deployment.sightings:
        if sighting.swallows is Truth.YES:
            yield Part(f"{sighting.client}: {sighting.why}", sighting.evidence, Confidence.MEDIUM)
