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
