"""A class whose `__new__` hands out the one object of the process, which `__init__` fills the first time alone."""

from __future__ import annotations

import pytest

from sselint.facts import IdKind, Outcome
from tests.read.python.programs import stream_of

SERVER = """
import asyncio
import itertools
import threading

from fastapi import FastAPI, Request
from fastapi.responses import StreamingResponse

app = FastAPI()
numbers = itertools.count(1)


class Hall:
    _single = None
    _lock = threading.Lock()
{made}
    def __init__(self):
        if {filled}:
            return
        self._filled = True
        self.seats = {{}}

    def sit(self, name):
        queue = asyncio.Queue()
        self.seats[name] = (queue, None)
        return queue

    async def call(self, text):
        line = f"id: {{next(numbers)}}\\ndata: {{text}}\\n\\n"
        for queue, room in self.seats.values():
            queue.put_nowait(line)


@app.post("/call")
async def call(text: str):
    await Hall().call(text)


@app.get("/feed")
async def feed(request: Request):
    last = request.headers.get("last-event-id")
    queue = Hall().sit(request.client.host)

    async def body():
        yield "data: hello\\n\\n"
        while True:
            yield await queue.get()

    return StreamingResponse(body(), media_type="text/event-stream")
"""
SINGLE = """
    def __new__(cls):
        if cls._single is None:
            cls._single = super().__new__(cls)
            cls._single._filled = False
        return cls._single
"""
BARE = """
    def __new__(cls, *args, **kwargs):
        with cls._lock:
            if cls._single is None:
                made = object.__new__(cls)
                cls._single = made
        return cls._single
"""
FRESH = """
    def __new__(cls):
        made = super().__new__(cls)
        made._filled = False
        return made
"""


@pytest.mark.parametrize(
    ("made", "filled"), [(SINGLE, "self._filled"), (BARE, 'hasattr(self, "_filled")')], ids=["super", "object"]
)
def test_the_one_object_that_new_hands_out_is_what_all_requests_meet(made: str, filled: str) -> None:
    stream = stream_of(SERVER.format(made=made, filled=filled))
    assert (stream.ids.kind, stream.on_foreign.outcome) == (IdKind.COUNTER, Outcome.IGNORED)


def test_an_object_that_new_makes_each_time_is_met_by_nobody_else() -> None:
    """Look-alike: nobody calls into the hall that a request made for itself."""
    assert stream_of(SERVER.format(made=FRESH, filled="self._filled")).ids.kind is IdKind.NONE
