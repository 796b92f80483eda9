"""Single moves of the model, and what counts as corrupted."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sselint.facts import Outcome, Scope, Where
from sselint.model import A, Action, B, Entry, Id, Situation, State, corrupted, moves

BACK = Action("reconnect", B, "plain")


def answered(*events: str, stream: tuple[str, ...] = ("a1", "a2", "a3"), **changes: object) -> State:
    """A client that held a1, came back, and was sent these events."""
    state = State(stream=stream, opened=True, at=B, held=("a1", *events), since=1, behind=1)
    return state._replace(**changes)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("events", "bad"),
    [
        (("a2", "a3"), False),
        ((), True),
        (("a2",), True),
        (("a3", "a2"), True),
        (("a2", "a2", "a3"), True),
        (("a1", "a2", "a3"), True),
        (("a2", "a3", "b1"), True),
        (("b1",), True),
    ],
)
def test_the_stream_after_the_cursor_in_order_once_each(events: tuple[str, ...], bad: bool) -> None:
    assert corrupted(BACK, answered(*events)) is bad


def test_a_refusal_corrupts_nothing() -> None:
    assert not corrupted(BACK, answered(refused=True))


def test_a_client_that_never_came_back_is_owed_nothing() -> None:
    assert not corrupted(Action("publish", A), answered(since=None))


def test_a_client_that_is_away_is_owed_nothing_until_it_asks() -> None:
    """A response that has ended, or a connection that was cut: what is published meanwhile is asked for later."""
    assert not corrupted(Action("publish", A), answered(at=None))
    assert corrupted(BACK, answered(at=None))
    assert corrupted(Action("publish", A), answered())


def came_back(s: Situation, state: State) -> set[tuple[int, tuple[str, ...]]]:
    """Where a client can come back to, and what it then holds."""
    return {(a.process, after.held) for a, after in moves(s, state) if a.kind == "reconnect"}


def away(*, mine: Entry, others: tuple[Entry, ...] = ()) -> State:
    """A client that was cut off from A, where it received an event, while B has published others."""
    return State(
        logs=((mine,), others, ()),
        named=(1, len(others)),
        published=(1, len(others)),
        stream=(mine.event,),
        opened=True,
        held=(mine.event,),
        cursor=mine,
    )


def test_ids_that_are_not_made_to_be_compared_can_turn_out_either_way() -> None:
    s = Situation(scope=Scope.UNIQUE_LOCAL, on_foreign=Outcome.COMPARED)
    state = away(mine=Entry("a1", Id("a0", 1)), others=(Entry("b1", Id("b0", 1)),))
    assert came_back(s, state) == {(A, ("a1",)), (B, ("a1",)), (B, ("a1", "b1"))}


def test_comparable_ids_are_compared_and_equal_is_not_greater() -> None:
    s = Situation(scope=Scope.ORDERED_LOCAL, on_foreign=Outcome.COMPARED)
    others = (Entry("b1", Id("", 1)), Entry("b2", Id("", 5)))
    assert came_back(s, away(mine=Entry("a1", Id("", 2)), others=others)) == {(A, ("a1",)), (B, ("a1", "b2"))}


def test_clocks_of_two_processes_never_read_the_same() -> None:
    s = Situation(scope=Scope.ORDERED_LOCAL)
    given = [after.logs[a.process][-1].id for a, after in moves(s, State()) if a.kind == "publish"]
    assert len(set(given)) == len(given) == 2


def test_a_restart_empties_the_memory_and_leaves_the_store() -> None:
    entry = Entry("a1", Id("", 1))
    state = away(mine=entry)._replace(logs=((entry,), (), (entry,)))
    s = Situation(scope=Scope.OVERLAPPING, restarts=True)
    (after,) = [after for a, after in moves(s, state) if a.kind == "restart"]
    assert after.logs == ((), (), (entry,))
    assert after.named[A] == 0
    assert not [a for a, _ in moves(s, after) if a.kind == "restart"]


def test_a_guard_is_passed_at_home_and_nowhere_else_nor_after_a_restart() -> None:
    s = Situation(scope=Scope.OVERLAPPING, guarded=True)
    state = away(mine=Entry("a1", Id("", 1)))
    refused = {a.process: after.refused for a, after in moves(s, state) if a.kind == "reconnect"}
    assert refused == {A: False, B: True}
    later = {a.process: after.refused for a, after in moves(s, state._replace(life=1)) if a.kind == "reconnect"}
    assert later == {A: True, B: True}


def test_an_empty_answer_ends_the_connection_and_one_from_the_head_keeps_it() -> None:
    state = away(mine=Entry("a1", Id("", 1)))
    for outcome, stays in ((Outcome.EMPTY, False), (Outcome.FROM_HEAD, True), (Outcome.REPLAY_ALL, True)):
        s = Situation(scope=Scope.OVERLAPPING, on_foreign=outcome)
        (after,) = [after for a, after in moves(s, state) if a.kind == "reconnect" and a.process == B]
        assert (after.at is not None) is stays


@pytest.mark.parametrize(
    ("changes", "publishers"),
    [
        ({}, {A, B}),
        ({"processes": 1}, {A}),
        ({"guarded": True}, {A}),
        ({"replay": Where.SHARED, "live_tail": Where.MEMORY}, {A}),
        ({"replay": Where.SHARED, "live_tail": Where.SHARED}, {A, B}),
    ],
)
def test_who_publishes(changes: dict[str, object], publishers: set[int]) -> None:
    s = replace(Situation(scope=Scope.OVERLAPPING), **changes)  # type: ignore[arg-type]
    assert {a.process for a, _ in moves(s, State()) if a.kind == "publish"} == publishers


def test_without_ids_or_a_client_that_sends_them_nothing_happens() -> None:
    assert not list(moves(Situation(scope=Scope.NONE), State()))
    assert not list(moves(Situation(scope=Scope.SHARED, client_sends=False), State()))
