"""SSE2xx: what a handler does with a cursor that it has never issued."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sselint.facts import (
    Cursor,
    Guard,
    IdKind,
    IdSource,
    KeyOrigin,
    Outcome,
    Replay,
    Run,
    Scope,
    Stream,
    Truth,
    Where,
)
from sselint.findings import Finding, Severity
from tests.checks.helpers import found, only, with_stream
from tests.report import builders

WHY = "the search ends without a hit"
SHARED_IDS = IdSource(IdKind.STORE, Scope.SHARED, "XADD hands it out")
NO_IDS = IdSource(IdKind.NONE, Scope.NONE, "no id: field is sent")
CODE_OF = {
    Outcome.FROM_HEAD: {"SSE201"},
    Outcome.IGNORED: {"SSE202"},
    Outcome.NOT_READ: {"SSE202"},
    Outcome.COMPARED: {"SSE203"},
    Outcome.REPLAY_ALL: {"SSE205"},
    Outcome.EMPTY: {"SSE208"},
    Outcome.FAIL_CLOSED: set(),
    Outcome.UNKNOWN: set(),
}


def run(outcome: Outcome, **changes: object) -> Run:
    return replace(Run(outcome, WHY, (builders.COMPARES,)), **changes)  # type: ignore[arg-type]


def on_foreign(outcome: Outcome, **changes: object) -> Finding:
    (code,) = CODE_OF[outcome]
    finding = only(code, with_stream(on_foreign=run(outcome), **changes))
    assert finding.severity is Severity.ERROR
    assert finding.message.endswith(WHY)
    return finding


def test_from_head_fires() -> None:
    assert on_foreign(Outcome.FROM_HEAD).evidence == (builders.COMPARES,)


def test_ignored_fires() -> None:
    assert on_foreign(Outcome.IGNORED).evidence == (builders.COMPARES,)


def test_a_cursor_that_nothing_reads_is_shown_at_the_ids_that_promise_it() -> None:
    finding = on_foreign(Outcome.NOT_READ, cursor=Cursor(Truth.NO))
    assert finding.evidence[0] == builders.COUNTER
    assert finding.message.startswith("ids are sent, and nothing reads Last-Event-ID")


def test_compared_fires() -> None:
    on_foreign(Outcome.COMPARED)


def test_replays_everything_fires() -> None:
    on_foreign(Outcome.REPLAY_ALL)


@pytest.mark.parametrize("outcome", Outcome)
def test_an_outcome_fires_its_own_code_only(outcome: Outcome) -> None:
    judgement = with_stream(on_foreign=run(outcome), on_overlap=None)
    told = {f.code for f in builders.report(judgement).findings if f.code.startswith("SSE2")}
    assert told == CODE_OF[outcome]


@pytest.mark.parametrize(
    "outcome", [Outcome.FROM_HEAD, Outcome.COMPARED, Outcome.REPLAY_ALL, Outcome.EMPTY], ids=lambda o: o.value
)
@pytest.mark.parametrize("ids", [SHARED_IDS, NO_IDS], ids=lambda i: i.scope.value)
def test_no_cursor_is_foreign_where_ids_are_shared_or_absent(outcome: Outcome, ids: IdSource) -> None:
    (code,) = CODE_OF[outcome]
    assert not found(code, with_stream(on_foreign=run(outcome), ids=ids))


def test_ignored_is_told_of_shared_ids_too() -> None:
    """The promise is broken on one process already: the ids are there, and nobody serves the resumption."""
    assert found("SSE202", with_stream(on_foreign=run(Outcome.NOT_READ), ids=SHARED_IDS))


def test_ignored_is_silent_without_ids() -> None:
    """A client without an id has no cursor that could be ignored."""
    assert not found("SSE202", with_stream(on_foreign=run(Outcome.NOT_READ), ids=NO_IDS))


def test_malformed_fires() -> None:
    finding = only("SSE204", with_stream(on_malformed=run(Outcome.FROM_HEAD)))
    assert finding.severity is Severity.WARNING
    assert finding.message == f"a malformed cursor is swallowed: {WHY}"


@pytest.mark.parametrize(
    "malformed",
    [None, run(Outcome.FAIL_CLOSED), run(Outcome.NOT_READ), run(Outcome.UNKNOWN), run(Outcome.EMPTY, late=True)],
)
def test_malformed_is_silent_where_it_is_refused_or_cannot_be(malformed: Run | None) -> None:
    """Where nothing reads the cursor SSE202 speaks, and SSE208 where it is refused late; where every cursor parses
    there is no malformed one."""
    assert not found("SSE204", with_stream(on_malformed=malformed))


def bounded(evicts: Truth) -> Replay:
    return Replay(Where.MEMORY, Where.MEMORY, "`ring` keeps 500", (builders.RING,), evicts=evicts)


def test_evicted_fires() -> None:
    assert only("SSE206", with_stream(replay=bounded(Truth.YES))).evidence == (builders.RING,)


def test_evicted_is_silent_where_the_client_is_told() -> None:
    assert not found("SSE206", with_stream(replay=bounded(Truth.NO)))
    assert not found("SSE206", with_stream(replay=bounded(Truth.UNKNOWN)))


def test_evicted_is_silent_without_ids() -> None:
    """Nobody comes back with a cursor that could have fallen out of the buffer."""
    assert not found("SSE206", with_stream(replay=bounded(Truth.YES), ids=NO_IDS))


def test_evicted_is_told_under_a_shared_log_too() -> None:
    """It loses events without a second process, so the verdict does not silence it."""
    safe = builders.safe(deployment=builders.deployment(stream=builders.stream(replay=bounded(Truth.YES))))
    finding = only("SSE206", safe)
    assert finding.severity is Severity.NOTE
    assert "harmless" not in finding.text


def test_foreign_alias_fires() -> None:
    finding = only("SSE207", with_stream(on_overlap=run(Outcome.COMPARED)))
    assert finding.severity is Severity.ERROR


@pytest.mark.parametrize(
    "changes",
    [
        {"on_overlap": None},
        {"on_overlap": run(Outcome.FAIL_CLOSED)},
        {"ids": IdSource(IdKind.RANDOM, Scope.UNIQUE_LOCAL, "uuid4")},
    ],
    ids=["no id can be equal", "an equal one is refused", "two processes never have the same id"],
)
def test_foreign_alias_is_silent(changes: dict[str, object]) -> None:
    assert not found("SSE207", with_stream(**changes))


def test_refused_too_late_fires() -> None:
    finding = only("SSE208", with_stream(on_foreign=run(Outcome.IGNORED, late=True)))
    assert finding.message.startswith("an unknown cursor is refused only after the response has begun")


def test_an_empty_answer_fires() -> None:
    assert on_foreign(Outcome.EMPTY).message.startswith("200 and nothing")


def test_refused_too_late_is_silent_where_the_refusal_comes_first() -> None:
    assert not found("SSE208", with_stream(on_foreign=run(Outcome.FAIL_CLOSED, status=409)))


@pytest.mark.parametrize("code", ["SSE203", "SSE207"])
def test_behind_a_random_key_no_cursor_is_foreign(code: str) -> None:
    guard = Guard("run_id", KeyOrigin.RANDOM_LOCAL, "`runs` is looked up first", (builders.READS,), 404)
    finding = only(code, with_stream(guards=(guard,)))
    assert finding.severity is Severity.NOTE
    assert "harmless here: the key `run_id`" in finding.text


def test_a_run_without_places_is_shown_where_the_cursor_is_read() -> None:
    stream: Stream = builders.stream(on_foreign=Run(Outcome.FROM_HEAD, WHY))
    judgement = builders.corrupt(deployment=builders.deployment(stream=stream))
    assert only("SSE201", judgement).evidence == (builders.READS,)
