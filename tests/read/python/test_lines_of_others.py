"""Streams of another server that are handed on line by line: a line may be of any kind, also the empty one that ends an
event."""

from __future__ import annotations

import pytest

from sselint.facts import IdKind, Outcome, Where
from tests.read.python.programs import stream_of

RELAY = """
import courier
from fastapi import FastAPI, Request
from fastapi.responses import StreamingResponse

app = FastAPI()
upstream = courier.Client("http://origin")


@app.get("/feed")
async def feed(request: Request):
    headers = {{name: value for name, value in request.headers.items() if name != "host"}}

    async def body():
        async with upstream.stream("GET", "/feed", headers=headers) as answer:
            async for line in answer.lines():
                {sends}

    return StreamingResponse(body(), media_type="text/event-stream")
"""


@pytest.mark.parametrize(
    "sends", ['yield line + "\\n"', 'yield f"{line}\\n"', 'yield f"{line}\\r\\n".encode()', "yield line"]
)
def test_what_another_server_sends_is_not_known(sends: str) -> None:
    stream = stream_of(RELAY.format(sends=sends))
    assert stream.ids.kind is IdKind.UNKNOWN
    assert stream.replay.where is Where.UNKNOWN, stream.replay.why
    assert stream.on_foreign.outcome is Outcome.UNKNOWN, stream.on_foreign.why


def test_lines_of_another_server_that_are_put_into_events_carry_no_id() -> None:
    """The server itself says what a line is."""
    stream = stream_of(RELAY.format(sends='yield f"data: {line}\\n\\n"'))
    assert stream.ids.kind is IdKind.NONE
