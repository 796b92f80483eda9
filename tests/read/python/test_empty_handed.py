"""Handlers whose first way comes to nothing: no client was made, so that there is nothing to send."""

from __future__ import annotations

import pytest

from sselint.read.python.interpreter.oracle import Budget, Decision, Explorer, Nearness, Oracle
from sselint.read.python.interpreter.values import Const
from sselint.read.python.interpreter.ways import Ways

LIMIT = 20


def arriving(questions: int, sends: bool) -> int:
    """How many paths arrive where many near questions stand before the one that it turns on. `sends`: all do."""

    def path(oracle: Oracle) -> bool:
        for number in range(questions):
            oracle.choose(2, number, "condition")
        return oracle.choose(2, "is there a client", "value") == 1 or sends

    def near(_: object, __: Decision, ___: int) -> Nearness:
        return Nearness.NEAR

    explorer = Explorer(Budget(10**6), LIMIT, False, steps=10, total=10**6, near=near, arrives=bool)
    return sum(arrived for arrived, _ in explorer.run(path))


def test_the_last_question_before_a_path_came_to_nothing_is_answered_otherwise_first() -> None:
    assert arriving(2 * LIMIT, sends=False) > 0


def test_questions_keep_their_order_where_the_first_path_arrives() -> None:
    """Look-alike: nothing is sought."""
    assert arriving(2 * LIMIT, sends=True) == LIMIT


@pytest.mark.parametrize(("value", "leads"), [(None, True), (False, True), (3, False)])
def test_a_call_that_says_that_there_is_nothing_is_one_that_others_give_up_for(value: object, leads: bool) -> None:
    """Its questions are not put off like those of a helper that logs. Look-alike: one that has something to give."""
    ways = Ways()
    number = ways.begin(leads=False)
    ways.said(Const.of(value))
    assert (number in ways.leading) is leads
