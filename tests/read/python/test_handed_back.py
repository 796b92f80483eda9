"""Decorators that are for others to use: what the inner function does has happened where they are used."""

from __future__ import annotations

import pytest

from sselint.facts import IdKind, Outcome, Where
from tests.read.python.programs import stream_of

CHANNELS = """
from fastapi import FastAPI, Request
from fastapi.responses import StreamingResponse

app = FastAPI()
buffers = {{}}


class Buffer:
    def __init__(self):
        self.count = 0
        self.kept = []

    def append(self, text):
        self.count += 1
        self.kept.append((self.count, text))

    def after(self, last):
        return [(number, text) for number, text in self.kept if number > last]


def keeps(channel):
    def decorator(function):
        {inner}
        return function

    return decorator


def broadcast(channel, text):
    if channel in buffers:
        buffers[channel].append(text)


@app.get("/news/{{channel}}")
async def news(channel: str, request: Request):
    last = int(request.headers.get("last-event-id", "0"))

    async def body():
        if channel in buffers:
            for number, text in buffers[channel].after(last):
                yield f"id: {{number}}\\ndata: {{text}}\\n\\n"
        while True:
            yield "data: nothing new\\n\\n"

    return StreamingResponse(body(), media_type="text/event-stream")
"""


@pytest.mark.parametrize(
    ("inner", "kind", "outcome"),
    [
        ("buffers[channel] = Buffer()", IdKind.COUNTER, Outcome.COMPARED),
        ("register(channel, buffers)", IdKind.UNKNOWN, Outcome.UNKNOWN),
    ],
)
def test_a_decorator_that_nothing_here_uses_fills_a_table(inner: str, kind: IdKind, outcome: Outcome) -> None:
    """Look-alike: what fills it is out of sight, so whether anything depends on the cursor is not known."""
    stream = stream_of(CHANNELS.format(inner=inner))
    assert (stream.ids.kind, stream.on_foreign.outcome) == (kind, outcome)


OPTIONS = """
import asyncio
from functools import wraps

from fastapi import APIRouter, FastAPI, Request
from fastapi.responses import StreamingResponse

listeners = {{}}
histories = {{}}
app = FastAPI()


class History:
    def __init__(self):
        self.last = 0
        self.kept = []

    def put(self, text):
        self.last += 1
        self.kept.append((self.last, text))
        return self.last

    def since(self, number):
        return [(n, text) for n, text in self.kept if n > number]


def announce(channel, text):
    number = histories[channel].put(text) if channel in histories else None
    for queue in listeners.get(channel, ()):
        queue.put_nowait((number, text))


def frame(number, text):
    return f"data: {{text}}\\n\\n" if number is None else f"id: {{number}}\\ndata: {{text}}\\n\\n"


async def follow(channel, *, last_event_id=None):
    if last_event_id is not None and channel in histories:
        for number, text in histories[channel].since(last_event_id):
            yield frame(number, text)
    queue = asyncio.Queue()
    listeners.setdefault(channel, set()).add(queue)
    while True:
        number, text = await queue.get()
        yield frame(number, text)


def live(path, *, channel=None, router=None, keep=None):
    def decorator(function):
        if keep is not None:
            histories[channel] = History()

        @wraps(function)
        async def endpoint(request: Request):
            seen = request.headers.get("last-event-id")
            body = follow(channel, last_event_id=int(seen) if seen else None)
            return StreamingResponse(body, media_type="text/event-stream")

        if router is not None:
            router.add_api_route(path, endpoint, methods=["GET"])
        return endpoint

    return decorator


{used}
"""


def test_a_decorator_that_nothing_here_uses_does_what_its_options_are_for() -> None:
    """Who uses it is out of sight, and so is what they name of what they may leave out."""
    stream = stream_of(OPTIONS.format(used=""))
    assert (stream.ids.kind, stream.replay.where) == (IdKind.COUNTER, Where.MEMORY)
    assert stream.on_foreign.outcome is Outcome.COMPARED


def test_a_decorator_that_is_used_without_its_options_does_nothing_more() -> None:
    """Look-alike: all who use it are in the tree, and none of them keeps anything."""
    used = '@live("/news", channel="news", router=app)\nasync def news(request: Request):\n    pass\n'
    stream = stream_of(OPTIONS.format(used=used))
    assert (stream.ids.kind, stream.replay.where) == (IdKind.NONE, Where.NONE)
