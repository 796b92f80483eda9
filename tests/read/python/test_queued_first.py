"""What a request puts into a queue of its own comes out before all that others put there later."""

from __future__ import annotations

import pytest

from sselint.facts import Outcome
from tests.read.python.programs import stream_of

SERVER = """
import asyncio
import itertools

from fastapi import FastAPI, Request
from fastapi.responses import StreamingResponse

server = FastAPI()
kept = []
ears = set()
numbers = itertools.count(1)


@server.post("/say")
async def say(text: str):
    number = next(numbers)
    kept.append((number, text))
    for ear in ears:
        ear.put_nowait(f"id: {number}\\ndata: {text}\\n\\n")


@server.get("/hear")
async def hear(request: Request):
    behind = int(request.headers.get("last-event-id", 0))

    async def body():
        ear = asyncio.Queue()
        newest = kept[-1][0] if kept else 0
        FIRST
        for number, text in kept:
            if number > behind:
                ear.put_nowait(f"id: {number}\\ndata: {text}\\n\\n")
        ears.add(ear)
        while True:
            yield await ear.get()

    return StreamingResponse(body(), media_type="text/event-stream")
"""
RESET = 'if behind > newest:\n            ear.put_nowait("event: reset\\ndata: {}\\n\\n")'
HELLO = 'ear.put_nowait("event: hello\\ndata: {}\\n\\n")'


def outcome(first: str) -> Outcome:
    """What a foreign cursor leads to."""
    return stream_of(SERVER.replace("FIRST", first)).on_foreign.outcome


def test_a_reset_in_the_queue_comes_first() -> None:
    assert outcome(RESET) is Outcome.FAIL_CLOSED


@pytest.mark.parametrize("first", ["pass", HELLO, f"{HELLO}\n        {HELLO}"])
def test_what_is_replayed_comes_behind_a_greeting(first: str) -> None:
    """Look-alike: a greeting tells nobody to start again."""
    assert outcome(first) is Outcome.COMPARED
    everything = SERVER.replace("if number > behind:", "if number != behind:").replace("FIRST", first)
    assert stream_of(everything).on_foreign.outcome is Outcome.REPLAY_ALL
