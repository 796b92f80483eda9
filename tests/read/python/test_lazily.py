"""What is made when it is first needed, by a choice of the environment: the first run makes one, others another."""

from __future__ import annotations

import pytest

from sselint.facts import IdKind, Scope, Where
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
IN_A_CLASS = """
class Known:
    bus = None

    @classmethod
    def shared(cls):
        if cls.bus is None:
            cls.bus = MADE
        return cls.bus


def get_bus():
    return Known.shared()
"""
GETTERS = {"global": GLOBAL, "under a name": UNDER_A_NAME, "in a class": IN_A_CLASS}
CHOSEN = 'Far(os.environ["BUS_URL"]) if os.environ.get("BUS_URL") else Near()'


@pytest.mark.parametrize("getter", GETTERS.values(), ids=GETTERS)
def test_what_the_environment_chooses_when_it_is_first_needed_is_not_taken_for_granted(getter: str) -> None:
    """The first run makes one of the two, and all later ones find it there: both are possible nonetheless."""
    text = BUSES + getter.replace("MADE", CHOSEN) + SERVER
    open_stream = stream_of(text)
    assert open_stream.replay.live_tail is Where.UNKNOWN
    assert "BUS_URL" in open_stream.environment
    assert stream_of(text, settings(BUS_URL="redis://bus")).replay.live_tail is Where.SHARED
    assert stream_of(text, settings()).replay.live_tail is Where.MEMORY


@pytest.mark.parametrize("getter", GETTERS.values(), ids=GETTERS)
def test_what_nothing_chooses_is_what_is_made(getter: str) -> None:
    """Look-alikes: it is made late too, and it is always the same."""
    assert stream_of(BUSES + getter.replace("MADE", "Near()") + SERVER).replay.live_tail is Where.MEMORY
    assert stream_of(BUSES + getter.replace("MADE", 'Far("redis://bus")') + SERVER).replay.live_tail is Where.SHARED


ONE = """
import asyncio

from fastapi import FastAPI, Request
from fastapi.responses import StreamingResponse

app = FastAPI()


class Bus:
    one = None

    @classmethod
    def the(cls):
        if cls.one is None:
            cls.one = cls()
        return cls.one

    def __init__(self):
        self.listening = set()
        self.said = 0

    async def say(self, text):
        self.said += 1
        for queue in self.listening:
            await queue.put((self.said, text))

    async def hear(self):
        queue = asyncio.Queue()
        self.listening.add(queue)
        while True:
            yield await queue.get()


@app.post("/say")
async def say(text: str):
    await Bus.the().say(text)


@app.get("/feed")
async def feed(request: Request):
    async def body():
        async for number, text in BUS.hear():
            yield f"id: {number}\\ndata: {text}\\n\\n"

    return StreamingResponse(body(), media_type="text/event-stream")
"""


def test_the_one_object_that_a_class_holds_is_the_same_for_all_who_ask() -> None:
    """What one request puts into it another one finds there."""
    stream = stream_of(ONE.replace("BUS", "Bus.the()"))
    assert (stream.ids.kind, stream.ids.scope) == (IdKind.COUNTER, Scope.OVERLAPPING)
    assert stream.replay.live_tail is Where.MEMORY


def test_an_object_of_one_s_own_is_not_the_one_of_all() -> None:
    """Look-alike: nobody else puts anything into it."""
    stream = stream_of(ONE.replace("BUS", "Bus()"))
    assert stream.ids.kind is IdKind.UNKNOWN
