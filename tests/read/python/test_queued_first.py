"""What a request puts into a queue of its own comes out before all that others put there later."""

from __future__ import annotations

import pytest

from sselint.facts import IdKind, Outcome
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


LISTED = """
import asyncio
from collections import deque

from fastapi import FastAPI, Request
from fastapi.responses import StreamingResponse

server = FastAPI()
kept = []
ears = set()


class Ear:
    def __init__(self, missed):
        self.missed = deque(missed)
        self.heard = asyncio.Queue()
        ears.add(self)

    def __aiter__(self):
        return self

    async def __anext__(self):
        if self.missed:
            return self.missed.TAKEN
        return await self.heard.get()


@server.post("/say")
async def say(text: str):
    entry = (len(kept), text)
    kept.append(entry)
    for ear in ears:
        ear.heard.put_nowait(entry)


@server.get("/hear")
async def hear(request: Request):
    given = request.headers.get("last-event-id")
    ear = Ear(MISSED if given else [])

    async def body():
        async for number, text in ear:
            yield b"".join((b"id: ", str(number).encode(), b"\\ndata: ", text.encode(), b"\\n\\n"))

    return StreamingResponse(body(), media_type="text/event-stream")
"""


@pytest.mark.parametrize("taken", ["popleft()", "pop(0)"])
def test_what_is_replayed_comes_out_of_a_list_first(taken: str) -> None:
    server = LISTED.replace("TAKEN", taken)
    compared = stream_of(server.replace("MISSED", "kept[int(given) + 1 :]"))
    assert (compared.ids.kind, compared.on_foreign.outcome) == (IdKind.INDEX, Outcome.COMPARED)
    everything = stream_of(server.replace("MISSED", "[e for e in kept if e[0] != int(given)]"))
    assert everything.on_foreign.outcome is Outcome.REPLAY_ALL


def test_an_empty_list_replays_nothing() -> None:
    """Look-alike: the list is there, and what was missed is never put into it."""
    stream = stream_of(LISTED.replace("TAKEN", "popleft()").replace("MISSED", "[]"))
    assert stream.on_foreign.outcome in (Outcome.FROM_HEAD, Outcome.IGNORED)


INBOXES = """
import queue

from fastapi import FastAPI
from fastapi.responses import StreamingResponse

app = FastAPI()
inboxes = []
count = 0


class Inbox(queue.Queue):
    def put_nowait(self, item):
        with self.mutex:
            if 0 < self.maxsize <= self._qsize():
                raise queue.Full
            {taken}
            self.not_empty.notify()


@app.post("/news")
def publish(text: str):
    global count
    count += 1
    for inbox in inboxes:
        inbox.put_nowait((count, text))


@app.get("/news")
def news():
    inbox = Inbox(20)
    inboxes.append(inbox)

    def body():
        while True:
            number, text = inbox.get()
            yield f"id: {{number}}\\ndata: {{text}}\\n\\n"

    return StreamingResponse(body(), media_type="text/event-stream")
"""


def test_a_queue_that_takes_in_by_itself() -> None:
    """A class above the library's may put into it by what the library gives it for that. Look-alike: one that takes
    nothing in hands nothing out."""
    assert stream_of(INBOXES.format(taken="self._put(item)")).ids.kind is IdKind.COUNTER
    assert stream_of(INBOXES.format(taken="self.seen = item")).ids.kind is IdKind.UNKNOWN
