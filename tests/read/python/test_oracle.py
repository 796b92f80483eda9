"""In which order the questions of a run are answered otherwise."""

from __future__ import annotations

import pytest

from sselint.read.python.interpreter.oracle import Budget, Decision, Explorer, Nearness, Oracle

LIMIT = 100


def paths(kind: str, cover: bool) -> list[list[Decision]]:
    """The paths of a run that asks something far from the stream and then more near it than there is time for."""

    def path(oracle: Oracle) -> None:
        oracle.choose(2, "first", kind)
        for number in range(2 * LIMIT):
            oracle.choose(2, number, "value")

    def near(_: object, __: Decision, position: int) -> Nearness:
        return Nearness.NEAR if position else Nearness.LEADING

    explorer = Explorer(Budget(10**6), LIMIT, cover, steps=10, total=10**6, near=near)
    return [decisions for _, decisions in explorer.run(path)]


@pytest.mark.parametrize(
    ("kind", "cover", "asked"), [("lookup", False, True), ("condition", False, False), ("lookup", True, False)]
)
def test_a_key_before_all_else_is_asked_for(kind: str, cover: bool, asked: bool) -> None:
    """What is refused for a key that is missing is seen although much else is open. Look-alikes: another question, and
    where only what may be reached is looked for."""
    assert any(decisions[0].option == 1 for decisions in paths(kind, cover)) is asked


def ways_to(reaches: int, options: int, limit: int) -> int | None:
    """How many paths it takes to one that does not fail. Which of many entries is asked last, and only one of them
    helps, if any; an answer to the first question does too."""

    def path(oracle: Oracle) -> bool:
        empty = oracle.choose(2, "empty", "empty") == 1
        return not empty and oracle.choose(options, "entry", "value") != reaches

    explorer = Explorer(Budget(10**6), limit, False, steps=10, total=10**6, failed=bool)
    return next((number for number, (failed, _) in enumerate(explorer.run(path), 1) if not failed), None)


def test_not_all_entries_are_tried_before_the_question_whether_there_are_any() -> None:
    assert ways_to(-1, 30, 10) is not None


@pytest.mark.parametrize("reaches", [1, 3, 17])
def test_each_entry_is_tried_in_the_end(reaches: int) -> None:
    """Look-alikes: few entries are all tried first, as the nearest question, and of many none is left out."""
    assert ways_to(reaches, 5, 5) is not None if reaches < 5 else ways_to(reaches, 30, 40) is not None
