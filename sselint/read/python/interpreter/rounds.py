"""The rounds of a loop that has no end."""

from __future__ import annotations

from collections.abc import Iterator

from sselint.read.python.interpreter.machine import LOOP_ROUNDS, Machine

MANY = 8


def rounds(m: Machine) -> Iterator[int]:
    """The numbers of the rounds. Those that only take from a queue what the run had put there itself come before what
    arrives later, and do not count: the first element that is replayed must not stand for all of them."""
    number, left = 0, MANY
    while number < LOOP_ROUNDS:
        before = m.queued
        yield number
        if m.queued > before and left:
            left -= 1
        else:
            number += 1
