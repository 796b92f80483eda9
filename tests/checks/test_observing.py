"""SSE5xx: whether anybody would see it."""

from __future__ import annotations

import pytest

from sselint.facts import ClientSighting, IdKind, IdSource, Scope, Truth
from sselint.findings import Confidence, Judgement, Severity, Verdict
from tests.checks.helpers import found, only, with_stream
from tests.report import builders


def test_replica_not_named_fires() -> None:
    assert only("SSE501", with_stream(tags_replica=Truth.NO)).severity is Severity.WARNING


@pytest.mark.parametrize("tags", [Truth.YES, Truth.UNKNOWN])
def test_a_replica_that_is_named_or_may_be_is_silent(tags: Truth) -> None:
    assert not found("SSE501", with_stream(tags_replica=tags))


def test_without_ids_there_is_no_sequence_to_compare() -> None:
    assert not found("SSE501", with_stream(ids=IdSource(IdKind.NONE, Scope.NONE, "no id: field")))


def seen(swallows: Truth, verdict: Verdict = Verdict.LOUD) -> Judgement:
    client = ClientSighting("aiohttp-sse-client", swallows, "`except Exception: pass`", (builders.READS,))
    return builders.corrupt(deployment=builders.deployment(sightings=(client,)), verdict=verdict)


def test_refusal_swallowed_fires() -> None:
    finding = only("SSE502", seen(Truth.YES))
    assert (finding.severity, finding.confidence) == (Severity.WARNING, Confidence.MEDIUM)
    assert finding.message == "aiohttp-sse-client: `except Exception: pass`"


@pytest.mark.parametrize("swallows", [Truth.NO, Truth.UNKNOWN])
def test_a_client_that_minds_the_refusal_is_silent(swallows: Truth) -> None:
    assert not found("SSE502", seen(swallows))


def test_a_swallowed_refusal_is_silent_where_none_is_ever_made() -> None:
    """Under a shared log nothing is refused."""
    assert not found("SSE502", seen(Truth.YES, Verdict.SHARED_REPLAY))
