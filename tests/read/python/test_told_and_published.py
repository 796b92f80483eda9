"""What a process tells its own listeners at once, and publishes for those of every other process."""

from __future__ import annotations

import pytest

from sselint.facts import Where
from tests.read.python.programs import stream_of

SERVER = """
import asyncio
import json
import os
from contextlib import asynccontextmanager

import redis.asyncio as redis
from fastapi import FastAPI
from sse_starlette import EventSourceResponse

store = redis.from_url("redis://store/0")
ME = os.urandom(8).hex()
listening = {{}}


def tell(channel, event):
    for queue in list(listening.get(channel, ())):
        queue.put_nowait(event)


async def listen():
    heard = store.pubsub()
    await heard.subscribe("all")
    async for message in heard.listen():
        if message["type"] != "message":
            continue
        told = json.loads(message["data"])
        if told["origin"] == ME:
            continue
        {hear}(told["channel"], told["event"])


@asynccontextmanager
async def life(app):
    task = asyncio.create_task(listen())
    yield
    task.cancel()


app = FastAPI(lifespan=life)


@app.post("/say/{{channel}}")
async def say(channel: str, text: str):
    number = await store.incr("number")
    event = {{"id": number, "text": text}}
{say}


@app.get("/events/{{channel}}")
async def events(channel: str):
    queue = asyncio.Queue()
    listening.setdefault(channel, set()).add(queue)

    async def body():
        while True:
            event = await queue.get()
            yield {{"id": event["id"], "data": event["text"]}}

    return EventSourceResponse(body())
"""

TELL = "    tell(channel, event)\n"
PUBLISH = '    await store.publish("all", json.dumps({"origin": ME, "channel": channel, "event": event}))\n'
COPIED = '    await store.publish("all", json.dumps({"origin": ME, "channel": channel, "event": {**event}}))\n'
CAUGHT = """
    try:
        await store.publish("all", json.dumps({"origin": ME, "channel": channel, "event": event}))
    except Exception:
        print("the others were not told")
"""
LESS = '    await store.publish("all", json.dumps({"origin": ME, "channel": channel, "event": {"id": number}}))\n'
SOMETIMES = "    if text:\n    " + PUBLISH


@pytest.mark.parametrize("say", [TELL + PUBLISH, PUBLISH + TELL, TELL + COPIED, TELL + CAUGHT])
def test_what_is_published_as_well_reaches_every_process(say: str) -> None:
    """That the store may be down when it is told is a question of the store, and of what was caught there."""
    stream = stream_of(SERVER.format(hear="tell", say=say))
    assert stream.replay.live_tail is Where.SHARED, stream.replay.why


@pytest.mark.parametrize(
    ("hear", "say"),
    [
        ("print", TELL + PUBLISH),  # nobody listens
        ("tell", TELL),  # others may be heard, and hear nothing of this
        ("tell", TELL + LESS),  # not all that the listeners here are told
        ("tell", TELL + SOMETIMES),  # not each time
        ("tell", TELL + PUBLISH + '    tell(channel, {"id": number, "text": text.upper()})\n'),  # and more
    ],
)
def test_what_is_not_published_stays_in_the_process(hear: str, say: str) -> None:
    stream = stream_of(SERVER.format(hear=hear, say=say))
    assert stream.replay.live_tail is Where.MEMORY, stream.replay.why
