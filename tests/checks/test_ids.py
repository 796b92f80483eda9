"""SSE1xx: how ids are made. Each fires on its own kind and is silent where the namespace is shared."""

from __future__ import annotations

import pytest

from sselint.facts import Guard, IdKind, IdSource, KeyOrigin, Scope
from sselint.findings import Finding, Severity, Verdict
from tests.checks.helpers import found, only, with_stream
from tests.report import builders

CODE_OF = {
    IdKind.COUNTER: "SSE101",
    IdKind.CLOCK: "SSE102",
    IdKind.RANDOM: "SSE103",
    IdKind.INDEX: "SSE104",
    IdKind.EPOCH_PREFIXED: "SSE105",
    IdKind.REPLICA_PREFIXED: "SSE105",
}


def fires(kind: IdKind, scope: Scope) -> Finding:
    source = IdSource(kind, scope, "made in `next_id`", (builders.COUNTER,))
    finding = only(CODE_OF[kind], with_stream(ids=source))
    assert finding.severity is Severity.ERROR
    assert finding.evidence == (builders.COUNTER,)
    assert finding.message.endswith("made in `next_id`")
    return finding


def test_counter_fires() -> None:
    fires(IdKind.COUNTER, Scope.OVERLAPPING)


def test_clock_fires() -> None:
    fires(IdKind.CLOCK, Scope.ORDERED_LOCAL)


def test_random_fires() -> None:
    fires(IdKind.RANDOM, Scope.UNIQUE_LOCAL)


def test_index_fires() -> None:
    fires(IdKind.INDEX, Scope.OVERLAPPING)


def test_epoch_fires() -> None:
    fires(IdKind.EPOCH_PREFIXED, Scope.UNIQUE_LOCAL)
    fires(IdKind.REPLICA_PREFIXED, Scope.UNIQUE_LOCAL)


@pytest.mark.parametrize("kind", CODE_OF)
def test_a_kind_fires_its_own_code_only(kind: IdKind) -> None:
    judgement = with_stream(ids=IdSource(kind, Scope.OVERLAPPING, "why"))
    told = {f.code for f in builders.report(judgement).findings if f.code.startswith("SSE1")}
    assert told == {CODE_OF[kind]}


@pytest.mark.parametrize("kind", CODE_OF)
@pytest.mark.parametrize("scope", [Scope.SHARED, Scope.UNKNOWN, Scope.NONE])
def test_ids_that_are_shared_unknown_or_absent_are_silent(kind: IdKind, scope: Scope) -> None:
    """A sequence of the database is a counter as well; an unknown scope is never reported as bad; and what is not on
    the wire harms nobody."""
    assert not found(CODE_OF[kind], with_stream(ids=IdSource(kind, scope, "why")))


@pytest.mark.parametrize("kind", [IdKind.STORE, IdKind.CONSTANT, IdKind.CLIENT_SUPPLIED, IdKind.UNKNOWN])
def test_other_kinds_have_no_code(kind: IdKind) -> None:
    """What a store hands out, a constant table or a client names is no process's own; unknown is SSE004's business."""
    judgement = with_stream(ids=IdSource(kind, Scope.OVERLAPPING, "why"))
    assert not [f for f in builders.report(judgement).findings if f.code.startswith("SSE1")]


def test_a_counter_behind_a_random_key_is_a_note() -> None:
    """The pair (session, id) cannot overlap: the session exists in one process only."""
    guard = Guard("session_id", KeyOrigin.RANDOM_LOCAL, "`sessions` is looked up first", (builders.READS,), 404)
    finding = only("SSE101", with_stream(guards=(guard,)))
    assert finding.severity is Severity.NOTE
    assert "harmless here: the key `session_id` is looked up first" in finding.text


def test_a_counter_behind_a_key_that_the_client_chooses_is_an_error() -> None:
    """Any process may hold a session of that name, so the guard passes where the id is foreign."""
    guard = Guard("chat", KeyOrigin.CLIENT, "`chats` is looked up first", (builders.READS,), 404)
    assert only("SSE101", with_stream(guards=(guard,))).severity is Severity.ERROR


@pytest.mark.parametrize("verdict", [Verdict.NO_RESUMPTION, Verdict.NONE, Verdict.SHARED_REPLAY])
def test_nobody_is_warned_about_a_counter_that_no_cursor_reaches(verdict: Verdict) -> None:
    assert not found("SSE101", builders.corrupt(verdict=verdict))


def test_a_counter_in_a_pinned_deployment_is_a_note_that_says_why() -> None:
    safe = builders.safe(deployment=builders.deployment())
    finding = only("SSE101", safe)
    assert finding.severity is Severity.NOTE
    assert "; harmless here: " in finding.text
