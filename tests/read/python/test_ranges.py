"""A range up to a number that was given out: `for number in range(after + 1, newest + 1)` names the events."""

from __future__ import annotations

import pytest

from sselint.facts import IdKind, Outcome, Scope, Where
from tests.read.python.programs import stream_of

SHARED = """
import time
import redis
from fastapi import FastAPI, Request
from fastapi.responses import StreamingResponse

app = FastAPI()
store = redis.Redis(host="redis")


@app.post("/say")
def say(text: str):
    number = store.incr("seq")
    store.set(f"event:{number}", text)


@app.get("/chat")
def chat(request: Request):
    after = int(request.headers.get("Last-Event-ID", "0"))

    def body():
        seen = after
        while True:
            newest = int(store.get("seq") or 0)
            for number in range(seen + 1, newest + 1):
                text = store.get(f"event:{number}")
                if text is not None:
                    yield f"id: {number}\\ndata: {text}\\n\\n"
                seen = number
            time.sleep(0.5)

    return StreamingResponse(body(), media_type="text/event-stream")
"""
OWN = """
from fastapi import FastAPI, Request
from fastapi.responses import StreamingResponse

app = FastAPI()
events = {}
newest = 0


@app.post("/say")
def say(text: str):
    global newest
    newest += 1
    events[newest] = text


@app.get("/chat")
def chat(request: Request):
    after = int(request.headers.get("Last-Event-ID", "0"))

    def body():
        for number in range(after + 1, newest + 1):
            if number in events:
                yield f"id: {number}\\ndata: {events[number]}\\n\\n"

    return StreamingResponse(body(), media_type="text/event-stream")
"""


def test_the_numbers_up_to_one_that_a_store_gave_out_are_the_stores() -> None:
    """No list of this process is gone through: all processes count in one place."""
    stream = stream_of(SHARED)
    assert (stream.ids.kind, stream.ids.scope) == (IdKind.STORE, Scope.SHARED), stream.ids.why
    assert stream.replay.where is Where.SHARED
    assert stream.on_foreign.outcome is Outcome.COMPARED
    assert stream.on_missing.outcome is Outcome.REPLAY_ALL


def test_the_numbers_up_to_one_that_the_process_counts_are_its_own() -> None:
    """Look-alike: the same loop, and every process has a counter of its own."""
    stream = stream_of(OWN)
    assert (stream.ids.kind, stream.ids.scope) == (IdKind.COUNTER, Scope.OVERLAPPING), stream.ids.why
    assert stream.replay.where is Where.MEMORY
    assert stream.on_foreign.outcome is Outcome.COMPARED
    assert stream.on_missing.outcome is Outcome.REPLAY_ALL


def test_how_many_there_are_of_something_is_no_number_of_an_event() -> None:
    """Look-alike: places are counted from zero, up to what a store says of how many are wanted."""
    server = SHARED.replace("range(seen + 1, newest + 1)", "range(0, newest)")
    assert stream_of(server).ids.kind is IdKind.INDEX


@pytest.mark.parametrize("server", [SHARED, OWN])
def test_a_cursor_that_is_not_where_the_range_begins_is_not_compared(server: str) -> None:
    """Look-alike: everything is named again for everybody."""
    begins = "1 if after >= 0 else 2"
    server = server.replace("range(seen + 1,", f"range({begins},").replace("range(after + 1,", f"range({begins},")
    assert stream_of(server).on_foreign.outcome is Outcome.REPLAY_ALL
