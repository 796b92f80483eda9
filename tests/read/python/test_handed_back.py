"""Decorators that are for others to use: what the inner function does has happened where they are used."""

from __future__ import annotations

import pytest

from sselint.facts import IdKind, Outcome
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
