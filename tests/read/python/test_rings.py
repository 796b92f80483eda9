"""Histories of a fixed length: cut off at the front when they grow, or a ring whose oldest place is counted back."""

from __future__ import annotations

import pytest

from sselint.facts import Outcome, Where
from tests.read.python.programs import answered, stream_of

RING = """
class Gone(Exception):
    pass


class Ring:
    def __init__(self, size):
        self.size, self.slots, self.head = size, {}, 0

    def push(self, text):
        self.head += 1
        self.slots[self.head % self.size] = (self.head, text)

    def after(self, number):
        if number > self.head or number < self.head - BACK:
            raise Gone
        return [self.slots[place % self.size] for place in range(number + 1, self.head + 1)]


log = Ring(64)


def publish(text):
    log.push(text)
"""
AFTER = """
try:
    missed = log.after(int(request.headers.get("last-event-id", "0")))
except Gone:
    return Response("gone", status_code=410)

async def body():
    for number, text in missed:
        yield {"id": str(number), "data": text}

return EventSourceResponse(body())
"""


@pytest.mark.parametrize("back", ["self.size", "64"])
def test_what_is_known_here_is_not_before_the_oldest_that_a_ring_keeps(back: str) -> None:
    """An id beyond the end is refused; one that another process has used up to there, too, is taken for its own."""
    stream = stream_of(answered(AFTER, RING.replace("BACK", back)))
    assert stream.on_foreign.outcome is Outcome.FAIL_CLOSED
    assert stream.on_overlap is not None
    assert stream.on_overlap.outcome is Outcome.COMPARED


CUT = """
log = []
number = 0


def publish(text):
    global log, number
    number += 1
    log = KEPT
"""
FOLLOW = """
last = int(request.headers.get("last-event-id", "0"))

async def body():
    for number, text in log:
        if number > last:
            yield {"id": str(number), "data": text}

return EventSourceResponse(body())
"""


@pytest.mark.parametrize(
    "kept", ["log + [(number, text)]", "(log + [(number, text)])[-100:]", "[*log, (number, text)][-100:]"]
)
def test_a_history_that_is_put_together_anew_is_one(kept: str) -> None:
    stream = stream_of(answered(FOLLOW, CUT.replace("KEPT", kept)))
    assert (stream.replay.where, stream.on_foreign.outcome) == (Where.MEMORY, Outcome.COMPARED)


SLOTS = """
from itertools import count
numbers = count(1)
top = 0
SIZE = 64
slots = HELD


def publish(text):
    global top
    top = next(numbers)
    slots[top % SIZE] = (top, text)
"""
CHECKED = """
last = request.headers.get("last-event-id")
start = max(1, top - SIZE + 1)
if last is not None:
    number = int(last)
    held = TAKEN
    if REFUSED:
        return Response("gone", status_code=409)
    start = number + 1

async def body():
    for place in range(start, top + 1):
        number, text = slots[place % SIZE]
        yield {"id": str(number), "data": text}

return EventSourceResponse(body())
"""
HELD = [("[None] * SIZE", "slots[number % SIZE]"), ("{}", "slots.get(number % SIZE)")]


@pytest.mark.parametrize(("held", "taken"), HELD)
@pytest.mark.parametrize(
    ("refused", "outcome"),
    [
        ("held is None or held[0] != number", Outcome.FAIL_CLOSED),
        ("held is None", Outcome.COMPARED),  # a ring that is full has something at every place
        ("False", Outcome.COMPARED),
    ],
)
def test_what_stands_at_a_place_of_a_ring_is_any_element(held: str, taken: str, refused: str, outcome: Outcome) -> None:
    handler = CHECKED.replace("TAKEN", taken).replace("REFUSED", refused)
    stream = stream_of(answered(handler, SLOTS.replace("HELD", held)))
    assert (stream.replay.where, stream.on_foreign.outcome) == (Where.MEMORY, outcome)
    assert stream.on_overlap is not None
    assert stream.on_overlap.outcome is Outcome.COMPARED


def test_a_remainder_that_is_held_against_a_constant_may_be_it_or_not() -> None:
    """Look-alike: a remainder that is no place in a ring picks one of several processes."""
    handler = CHECKED.replace("TAKEN", "number % SIZE").replace("REFUSED", "held == 3")
    assert stream_of(answered(handler, SLOTS.replace("HELD", "{}"))).on_foreign.outcome is not Outcome.FAIL_CLOSED
