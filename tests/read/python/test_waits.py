"""Waits that last until a function says yes: what is behind them is only come to when it does."""

from __future__ import annotations

import pytest

from sselint.facts import Outcome
from tests.read.python.programs import answered, stream_of

STORE = """
import asyncio

log, told = [], asyncio.Condition()


async def publish(text):
    async with told:
        log.append(text)
        told.notify_all()
"""
HANDLER = """
last = request.headers.get("last-event-id")
place = int(last) if last else 0

async def body():
    nonlocal place
    while True:
        async with told:
            {wait}
            text = log[place]
        place += 1
        yield {{"id": str(place), "data": text}}

return EventSourceResponse(body())
"""
WAITS = [
    "await told.wait_for(lambda: len(log) > place)",
    "await told.wait_for(lambda: place < len(log))",
    "while not len(log) > place:\n                await told.wait()",
]


@pytest.mark.parametrize("wait", WAITS)
def test_a_place_beyond_the_end_is_waited_for(wait: str) -> None:
    """No list is asked for what it does not have: that would fail, and the client would be refused."""
    stream = stream_of(answered(HANDLER.format(wait=wait), STORE))
    assert stream.on_foreign.outcome is Outcome.COMPARED
    assert stream.on_overlap is not None
    assert stream.on_overlap.outcome is Outcome.COMPARED


def test_a_wait_for_something_else_is_over_at_some_time() -> None:
    """Look-alike: then the list is asked for a place that it does not have."""
    stream = stream_of(answered(HANDLER.format(wait="await told.wait()"), STORE))
    assert stream.on_foreign.outcome is not Outcome.COMPARED


TIMED = """
last = request.headers.get("last-event-id")

def body(place):
    while True:
        with told:
            if not told.wait_for(lambda: len(log) > place, timeout=20):
                yield {"comment": "nothing yet"}
                continue
            text = log[place]
        place += 1
        yield {"id": str(place), "data": text}

return EventSourceResponse(body(int(last) if last else 0))
"""


def test_a_wait_that_is_given_a_time_says_whether_it_came_true() -> None:
    store = STORE.replace("asyncio", "threading").replace("async ", "")
    assert stream_of(answered(TIMED, store)).on_foreign.outcome is Outcome.COMPARED
