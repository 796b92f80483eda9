"""Tasks of a process that pass on to its listeners what a channel tells all processes, a message at a time."""

from __future__ import annotations

import pytest

from sselint.facts import Where
from tests.read.python.programs import stream_of

SERVER = """
import asyncio
import json
from contextlib import asynccontextmanager
import redis.asyncio as redis
from fastapi import FastAPI, Request
from sse_starlette import EventSourceResponse

store = redis.from_url("redis://store/0")
listening = {{}}


def pass_on(job, event):
    for queue in listening.get(job, set()):
        queue.put_nowait(event)


async def relay():
{relay}


@asynccontextmanager
async def life(app):
    task = asyncio.create_task(relay())
    yield
    task.cancel()


app = FastAPI(lifespan=life)


@app.post("/jobs/{{job}}")
async def say(job: str, text: str):
{say}


@app.get("/jobs/{{job}}")
async def feed(request: Request, job: str):
    queue = asyncio.Queue()
    listening.setdefault(job, set()).add(queue)

    async def body():
        while True:
            event = await queue.get()
            yield {{"data": json.dumps(event)}}

    return EventSourceResponse(body())
"""

TOLD = """
    channel = store.pubsub()
    await channel.subscribe("said")
    while True:
        message = await channel.get_message(timeout=5.0)
        if message is None:
            continue
        if message["type"] != "message":
            continue
        event = json.loads(message["data"])
        job = event.get("job")
        if job:
            pass_on(job, event)
"""
NOTHING_TOLD = """
    while True:
        await asyncio.sleep(60)
"""
PUBLISHES = '    await store.publish("said", json.dumps({"job": job, "text": text}))\n'
KEEPS = """
    event = {"text": text, "number": await store.incr("number")}
    pass_on(job, event)
"""


def test_what_a_channel_tells_all_comes_from_what_they_share() -> None:
    stream = stream_of(SERVER.format(relay=TOLD, say=PUBLISHES))
    assert stream.replay.live_tail is Where.SHARED, stream.replay.why


@pytest.mark.parametrize("relay", [NOTHING_TOLD, TOLD])
def test_what_a_process_tells_its_own_listeners_does_not(relay: str) -> None:
    """Although a store has numbered it, and although a channel tells other things."""
    stream = stream_of(SERVER.format(relay=relay, say=KEEPS))
    assert stream.replay.live_tail is Where.MEMORY, stream.replay.why
