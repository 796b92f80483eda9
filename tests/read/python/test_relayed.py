"""Text of events that one request puts into a store, and another sends as it comes out."""

from __future__ import annotations

import pytest

from sselint.facts import IdKind, Outcome, Scope
from tests.read.python.programs import stream_of

SERVER = """
import base64, itertools, json, uuid

from fastapi import FastAPI, Request
from fastapi.responses import StreamingResponse
from redis.asyncio import Redis

app = FastAPI()
client = Redis()
numbers = itertools.count(1)


@app.post("/enter")
async def enter():
    name = f"{base64.b64encode(uuid.uuid4().bytes)}|here"
    await client.hset(name, "since", "now")
    return {"name": name}


@app.post("/say")
async def say(request: Request):
    text = json.dumps(await request.json())
    await client.rpush("waiting", WRITTEN)


@app.get("/feed")
async def feed():
    async def events():
        while True:
            _, said = await client.blpop("waiting", timeout=1.0)
            yield said.decode()

    return StreamingResponse(events(), media_type="text/event-stream")
"""

WRITTEN = {
    "without an id": ('f"data: {text}\\n\\n"', (IdKind.NONE, Scope.NONE)),
    "in pieces": ('("event: said\\n" + f"data: {text}\\n") + "\\n"', (IdKind.NONE, Scope.NONE)),
    "numbered here": ('f"id: {next(numbers)}\\ndata: {text}\\n\\n"', (IdKind.COUNTER, Scope.OVERLAPPING)),
    "with a random id": ('f"id: {uuid.uuid4()}\\ndata: {text}\\n\\n"', (IdKind.RANDOM, Scope.UNIQUE_LOCAL)),
    "encoded": ('f"id: {uuid.uuid4()}\\ndata: {text}\\n\\n".encode()', (IdKind.RANDOM, Scope.UNIQUE_LOCAL)),
}


@pytest.mark.parametrize("name", WRITTEN)
def test_text_of_events_comes_out_of_a_store_as_it_went_in(name: str) -> None:
    """What else the tree puts there, here the name of a session, is no event."""
    written, expected = WRITTEN[name]
    stream = stream_of(SERVER.replace("WRITTEN", written))
    assert (stream.ids.kind, stream.ids.scope) == expected, stream.ids.why
    assert stream.on_foreign.outcome is Outcome.NOT_READ


def test_text_that_is_no_event_does_not_tell_what_is_sent() -> None:
    """Look-alikes: a line that only speaks of data, and text that somebody else has framed."""
    for written in ('f"the data: {text}"', "text"):
        assert stream_of(SERVER.replace("WRITTEN", written)).ids.scope is not Scope.NONE
