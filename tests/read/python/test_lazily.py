"""What is made when it is first needed, by a choice of the environment: the first run makes one, others another."""

from __future__ import annotations

import pytest

from sselint.facts import Where
from tests.read.python.programs import settings, stream_of

BUSES = """
import asyncio
import os

import redis.asyncio as redis
from fastapi import Depends, FastAPI
from fastapi.responses import StreamingResponse


class Near:
    def __init__(self):
        self.listening = []

    async def tell(self, text):
        for queue in self.listening:
            queue.put_nowait(text)

    async def hear(self):
        queue = asyncio.Queue()
        self.listening.append(queue)
        while True:
            yield await queue.get()


class Far:
    def __init__(self, url):
        self.client = redis.from_url(url)

    async def tell(self, text):
        await self.client.publish("all", text)

    async def hear(self):
        channel = self.client.pubsub()
        await channel.subscribe("all")
        async for message in channel.listen():
            yield message["data"]

"""
SERVER = """
app = FastAPI()


@app.post("/tell")
async def tell(text: str, bus=Depends(get_bus)):
    await bus.tell(text)


@app.get("/feed")
async def feed(bus=Depends(get_bus)):
    async def body():
        async for text in bus.hear():
            yield f"data: {text}\\n\\n"

    return StreamingResponse(body(), media_type="text/event-stream")
"""
GLOBAL = """
bus = None


def get_bus():
    global bus
    if bus is None:
        bus = MADE
    return bus
"""
UNDER_A_NAME = """
class Known:
    held = {}

    @classmethod
    def put(cls, name, value):
        cls.held[name] = value

    @classmethod
    def find(cls, name):
        return cls.held.get(name)


def get_bus():
    found = Known.find("bus")
    if found is None:
        found = MADE
        Known.put("bus", found)
    return found
"""
CHOSEN = 'Far(os.environ["BUS_URL"]) if os.environ.get("BUS_URL") else Near()'


@pytest.mark.parametrize("getter", [GLOBAL, UNDER_A_NAME], ids=["global", "under a name"])
def test_what_the_environment_chooses_when_it_is_first_needed_is_not_taken_for_granted(getter: str) -> None:
    """The first run makes one of the two, and all later ones find it there: both are possible nonetheless."""
    text = BUSES + getter.replace("MADE", CHOSEN) + SERVER
    open_stream = stream_of(text)
    assert open_stream.replay.live_tail is Where.UNKNOWN
    assert "BUS_URL" in open_stream.environment
    assert stream_of(text, settings(BUS_URL="redis://bus")).replay.live_tail is Where.SHARED
    assert stream_of(text, settings()).replay.live_tail is Where.MEMORY


@pytest.mark.parametrize("getter", [GLOBAL, UNDER_A_NAME], ids=["global", "under a name"])
def test_what_nothing_chooses_is_what_is_made(getter: str) -> None:
    """Look-alikes: it is made late too, and it is always the same."""
    assert stream_of(BUSES + getter.replace("MADE", "Near()") + SERVER).replay.live_tail is Where.MEMORY
    assert stream_of(BUSES + getter.replace("MADE", 'Far("redis://bus")') + SERVER).replay.live_tail is Where.SHARED
