"""The five conditions as theorems about the model, over every combination of facts, and the exceptions by name."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from sselint import model
from sselint.conditions import DEFINITIONS
from sselint.facts import Outcome, Scope, Where
from sselint.findings import CONDITION_NAMES
from sselint.model import Safe, Situation, Witness, search
from tests.model.situations import EXCEPTIONS, ROUTING, SCOPES, all_five, every_situation, exceptions

ALL_FIVE = Situation(scope=Scope.OVERLAPPING, on_foreign=Outcome.COMPARED)
"""A counter and a buffer in each process, compared with whatever comes, behind a balancer without affinity."""

NEGATED = {
    "no_shared_replay": {"replay": Where.SHARED, "live_tail": Where.SHARED, "scope": Scope.UNIQUE_LOCAL},
    "per_process_ids": {"scope": Scope.SHARED, "live_tail": Where.SHARED},
    "client_honours_last_event_id": {"client_sends": False},
    "lb_can_route_elsewhere": {"elsewhere": ()},
    "unknown_id_tolerated": {"on_foreign": Outcome.FAIL_CLOSED, "scope": Scope.UNIQUE_LOCAL},
}
"""For each condition the change of facts that makes it false, and it alone (but for what an exception needs)."""


def corrupts(s: Situation) -> bool:
    return isinstance(search(s), Witness)


def of_scope(scope: Scope) -> Iterator[Situation]:
    return (s for s in every_situation() if s.scope is scope)


@pytest.mark.parametrize("scope", SCOPES, ids=lambda s: s.value)
def test_all_five_or_a_named_exception_and_nothing_else_corrupts(scope: Scope) -> None:
    for s in of_scope(scope):
        expected = all_five(s) or bool(exceptions(s))
        assert corrupts(s) is expected, (s, exceptions(s), search(s))


def test_every_exception_occurs_with_one_condition_false_and_by_itself() -> None:
    alone = {exceptions(s)[0] for s in every_situation() if not all_five(s) and len(exceptions(s)) == 1}
    assert alone == set(EXCEPTIONS)


def test_the_situation_of_the_negations_has_all_five_and_corrupts() -> None:
    assert all_five(ALL_FIVE)
    assert corrupts(ALL_FIVE)


@pytest.mark.parametrize("name", CONDITION_NAMES)
def test_one_condition_false_is_enough(name: str) -> None:
    safe = replace(ALL_FIVE, **NEGATED[name])
    assert not DEFINITIONS[name](safe)
    assert not exceptions(safe)
    assert not corrupts(safe)


def test_a_guard_with_a_key_of_this_process_makes_overlapping_ids_safe() -> None:
    """What must not overlap is the pair (key, id)."""
    bare = replace(ALL_FIVE, on_foreign=Outcome.FAIL_CLOSED)
    assert corrupts(bare)
    assert not corrupts(replace(bare, guarded=True))


@pytest.mark.parametrize("routing", ROUTING.values(), ids=ROUTING)
def test_which_event_moves_the_client_changes_nothing(routing: tuple[int, tuple[str, ...]]) -> None:
    """A key that lapses under strict affinity is as good as no affinity; so the verdict asks about one event only."""
    processes, elsewhere = routing
    moved = replace(ALL_FIVE, processes=processes, elsewhere=elsewhere)
    assert corrupts(moved) is bool(elsewhere)
    for scope in SCOPES:
        one = replace(moved, scope=scope, on_foreign=Outcome.FAIL_CLOSED)
        assert corrupts(one) is corrupts(replace(one, elsewhere=elsewhere and ("plain",)))


def test_which_answer_to_a_missing_cursor_changes_no_verdict() -> None:
    for s in every_situation():
        if s.on_missing is Outcome.FROM_HEAD:
            assert corrupts(s) is corrupts(replace(s, on_missing=Outcome.REPLAY_ALL)), s


@pytest.mark.parametrize("restarts", [False, True], ids=["", "restarts"])
def test_a_longer_story_finds_nothing_more(monkeypatch: pytest.MonkeyPatch, restarts: bool) -> None:
    """The bound is large enough: one event more corrupts nothing that was safe."""
    found_safe = [
        s
        for s in every_situation(restarts)
        if s.client_sends
        and not (restarts and s.guarded)
        and s.on_held is not Outcome.FAIL_CLOSED
        and s.on_missing is Outcome.FROM_HEAD
        and not s.stripped
        and s.elsewhere in ((), ("plain",))
        and isinstance(search(s), Safe)
    ]
    monkeypatch.setattr(model, "PUBLICATIONS", model.PUBLICATIONS + 1)
    assert len(found_safe) > 100
    for s in found_safe:
        assert isinstance(search.__wrapped__(s), Safe), s


def test_with_one_event_less_the_alias_of_a_refused_id_is_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The bound is not larger than it must be."""
    alias = replace(ALL_FIVE, on_foreign=Outcome.FAIL_CLOSED)
    assert isinstance(search.__wrapped__(alias), Witness)
    monkeypatch.setattr(model, "PUBLICATIONS", model.PUBLICATIONS - 1)
    assert isinstance(search.__wrapped__(alias), Safe)


def test_with_one_reconnect_a_number_given_again_after_a_restart_is_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A shared log, numbers that begin anew with each life, and a tail of the process: the client must have come back
    to the second life before it holds a number that is twice in the log."""
    twice = Situation(
        scope=Scope.OVERLAPPING, replay=Where.SHARED, live_tail=Where.MEMORY, processes=1, elsewhere=(), restarts=True
    )
    assert isinstance(search.__wrapped__(twice), Witness)
    monkeypatch.setattr(model, "RECONNECTS", model.RECONNECTS - 1)
    assert isinstance(search.__wrapped__(twice), Safe)


def test_the_number_of_combinations_that_the_documentation_names() -> None:
    page = (Path(__file__).parents[2] / "docs" / "model.md").read_text()
    assert f"{sum(1 for _ in every_situation()):,} combinations" in page
