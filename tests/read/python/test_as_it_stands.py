"""Streams that send how things stand, under a number of how often they changed: nobody misses what one event holds."""

from __future__ import annotations

import pytest

from sselint.facts import Outcome, Where
from tests.read.python.programs import answered, stream_of

STORE = """
import asyncio
import json

board, turn, seats = {"open": 1}, 0, {"host": "north"}
changed = asyncio.Event()


def publish(text):
    global turn
    turn += 1
    board[text] = turn
    changed.set()
"""
HANDLER = """
last = request.headers.get("last-event-id", "")

async def body():
    seen = int(last) if last.isdigit() else None
    while True:
        if seen != turn:
            seen = turn
            yield {{"id": str(turn), "data": {data}}}
        changed.clear()
        await changed.wait()

return EventSourceResponse(body())
"""


@pytest.mark.parametrize("data", ["json.dumps(board)", "json.dumps({'board': board})", "json.dumps(dict(board))"])
def test_one_event_that_holds_everything_leaves_nothing_out(data: str) -> None:
    stream = stream_of(answered(HANDLER.format(data=data), STORE))
    assert stream.replay.where is Where.MEMORY
    assert stream.on_foreign.outcome is Outcome.COMPARED
    assert stream.on_overlap is not None
    assert stream.on_overlap.outcome is Outcome.COMPARED


@pytest.mark.parametrize("data", ["json.dumps(seats)", "json.dumps({'turn': turn})"])
def test_what_does_not_hold_what_changed_tells_of_now_alone(data: str) -> None:
    """Look-alikes: a table that never changes, and the number alone."""
    stream = stream_of(answered(HANDLER.format(data=data), STORE))
    assert stream.replay.where is Where.NONE
    assert stream.on_foreign.outcome is Outcome.FROM_HEAD


def test_events_that_follow_it_can_be_missed() -> None:
    """Look-alike: how things stand is sent first, and then each change under a number of its own."""
    handler = HANDLER.format(data="json.dumps(board)").replace(
        "        changed.clear()", '        yield {"id": str(turn), "data": "changed"}\n        changed.clear()'
    )
    assert stream_of(answered(handler, STORE)).on_foreign.outcome is Outcome.FROM_HEAD


ONCE = """
async def body():
    if request.headers.get("last-event-id") != str(turn):
        yield {{"id": str(turn), "data": {data}}}

return EventSourceResponse(body())
"""


def test_a_response_that_tells_how_things_stand_and_ends_leaves_nothing_out() -> None:
    """Whose number is that of now is told nothing, also by a process that has gone another way."""
    stream = stream_of(answered(ONCE.format(data="json.dumps(board)"), STORE))
    assert stream.on_foreign.outcome is Outcome.COMPARED
    assert stream.on_missing is not None
    assert stream.on_missing.outcome is Outcome.REPLAY_ALL
    assert stream.on_overlap is not None
    assert stream.on_overlap.outcome is Outcome.EMPTY


def test_a_response_that_tells_the_number_alone_tells_nothing_of_what_was_missed() -> None:
    """Look-alike."""
    stream = stream_of(answered(ONCE.format(data="json.dumps({'turn': turn})"), STORE))
    assert stream.on_foreign.outcome is Outcome.EMPTY
