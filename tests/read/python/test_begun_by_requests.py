"""Tasks that the first request begins and that go on for all later ones."""

from __future__ import annotations

import pytest

from sselint.facts import IdKind, Outcome, Scope, Where
from tests.read.python.programs import stream_of

SERVER = """
import asyncio

import redis.asyncio as redis
from fastapi import FastAPI, Request
from sse_starlette import EventSourceResponse

app = FastAPI()


class Board:
    shown = None

    def __init__(self):
        self.readers = {}
        self.kept = redis.from_url("redis://redis")

    @classmethod
    async def get(cls):
        if cls.shown is None:
            cls.shown = cls()
            BEGINS
        return cls.shown

    async def pass_on(self, name):
        last = "$"
        while True:
            for _, entries in await self.kept.xread({name: last}, block=0):
                for number, fields in entries:
                    last = number
                    for reader in self.readers.get(fields["room"], ()):
                        await reader.put((NUMBER, fields))

    async def read(self, room):
        mine = asyncio.Queue()
        self.readers.setdefault(room, set()).add(mine)
        while True:
            yield await mine.get()


@app.get("/rooms/{room}")
async def rooms(room: str, request: Request):
    board = await Board.get()
    last = request.headers.get("last-event-id")

    async def events():
        for number, fields in await board.kept.xrange("rooms", min="(" + (last or "0")):
            yield {"id": number, "data": fields}
        async for number, fields in board.read(room):
            yield {"id": number, "data": fields}

    return EventSourceResponse(events())
"""
BEGINS = [
    'asyncio.create_task(cls.shown.pass_on("rooms"))',
    'cls.shown.task = asyncio.get_running_loop().create_task(cls.shown.pass_on(name="rooms"))',
]


@pytest.mark.parametrize("begins", BEGINS)
def test_what_the_first_request_begins_feeds_those_that_come_later(begins: str) -> None:
    stream = stream_of(SERVER.replace("BEGINS", begins).replace("NUMBER", "number"))
    assert (stream.ids.kind, stream.ids.scope) == (IdKind.STORE, Scope.SHARED)
    assert (stream.replay.where, stream.replay.live_tail) == (Where.SHARED, Where.SHARED)
    assert stream.on_foreign.outcome is Outcome.COMPARED


def test_what_it_names_itself_is_named_so() -> None:
    """Look-alike: the task names what it passes on by a place in its own memory."""
    begins = BEGINS[0]
    counted = SERVER.replace("NUMBER", "len(self.readers)").replace("BEGINS", begins)
    assert stream_of(counted).ids.scope is not Scope.SHARED
