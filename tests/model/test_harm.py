"""What corrupting runs do to the client."""

from __future__ import annotations

from itertools import islice

import pytest

from sselint.facts import Outcome, Scope, Where
from sselint.harm import Harm, harm, harms
from sselint.model import Situation, State, Witness, search
from tests.model.situations import every_situation


def test_the_harm_of_one_end() -> None:
    end = State(stream=("a1", "a2", "a3"), held=("a1", "a1", "b1"), since=1, behind=1)
    assert harm(end) == Harm(lost=("a2", "a3"), repeated=("a1",), foreign=("b1",))
    assert harm(end).kinds == {"lost", "repeated", "foreign"}


def test_events_that_are_all_there_and_out_of_order() -> None:
    assert harm(State(stream=("a1", "a2", "b1"), held=("a1", "b1", "a2"), since=1, behind=1)).kinds == frozenset()


@pytest.mark.parametrize(
    ("s", "kinds"),
    [
        (Situation(Scope.OVERLAPPING, on_foreign=Outcome.COMPARED), {"lost", "foreign"}),
        (Situation(Scope.OVERLAPPING, on_foreign=Outcome.FAIL_CLOSED), {"lost", "foreign"}),
        (Situation(Scope.UNIQUE_LOCAL, on_foreign=Outcome.EMPTY), {"lost"}),
        (
            Situation(Scope.SHARED, reads_cursor=False, processes=1, elsewhere=(), on_missing=Outcome.REPLAY_ALL),
            {"repeated"},
        ),
        (Situation(Scope.SHARED, replay=Where.SHARED, live_tail=Where.MEMORY), {"lost"}),
        (Situation(Scope.UNIQUE_LOCAL, on_foreign=Outcome.FAIL_CLOSED), set()),
    ],
)
def test_the_kinds_that_the_facts_can_come_to(s: Situation, kinds: set[str]) -> None:
    assert harms(s) == kinds


def test_the_kinds_are_those_of_the_shortest_run_and_more() -> None:
    for s in islice(every_situation(), 0, None, 37):  # a prime: every fact takes all its values
        result = search(s)
        if isinstance(result, Witness):
            assert harm(result.states[-1]).kinds <= harms(s)
        else:
            assert not harms(s)
