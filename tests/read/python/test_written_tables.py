"""Tuples of records as tables, and dicts of the tree that make what they do not have."""

from __future__ import annotations

import pytest

from sselint.facts import IdKind, Scope, Truth, Where
from tests.read.python.programs import stream_of

LESSON = """
from dataclasses import dataclass

from fastapi import FastAPI, Request
from fastapi.responses import StreamingResponse

app = FastAPI()


@dataclass(frozen=True)
class Step:
    title: str


STEPS = WRITTEN


@app.get("/lesson")
async def lesson(request: Request):
    start = int(request.headers.get("last-event-id", -1)) + 1

    async def body():
        for at, step in enumerate(SENT[start:], start):
            yield f"id: {at}\\ndata: {step}\\n\\n"

    return StreamingResponse(body(), media_type="text/event-stream")
"""

WRITTEN = [
    '(Step("open"), Step("pour"), Step("close"))',
    '(("open", 1), ("pour", 2))',
    '({"title": "open"}, {"title": "pour"})',
    '("open", "pour", "close")',
]


@pytest.mark.parametrize("written", WRITTEN)
def test_a_tuple_of_records_is_a_table_that_every_process_has(written: str) -> None:
    stream = stream_of(LESSON.replace("WRITTEN", written).replace("SENT", "STEPS"))
    assert (stream.ids.kind, stream.ids.scope) == (IdKind.CONSTANT, Scope.SHARED), stream.ids.why
    assert stream.replay.where is Where.SHARED


def test_a_list_that_begins_as_such_a_tuple_and_grows_is_none() -> None:
    text = LESSON.replace("WRITTEN", f"{WRITTEN[0]}\nkept = list(STEPS)").replace("SENT", "kept")
    text += '\n\n@app.post("/lesson")\nasync def add(title: str):\n    kept.append(Step(title))\n'
    stream = stream_of(text)
    assert stream.ids.scope is Scope.OVERLAPPING, stream.ids.why
    assert stream.replay.where is Where.MEMORY


ROOMS = """
import asyncio, uuid

from fastapi import FastAPI, Request
from fastapi.responses import StreamingResponse

app = FastAPI()


class Room:
    def __init__(self, name):
        self.name, self.kept, self.readers = name, [], set()

    def say(self, text):
        line = (uuid.uuid4().hex, text)
        self.kept.append(line)
        for reader in self.readers:
            reader.put_nowait(line)


class Rooms(dict[str, Room]):
    def __missing__(self, name):
        self[name] = room = Room(name)
        return room


rooms = Rooms()


@app.post("/rooms/{name}")
async def say(name: str, text: str):
    rooms[name].say(text)


@app.get("/rooms/{room}")
async def listen(room: str, request: Request):
    here, last = rooms[room], request.headers.get("last-event-id")

    async def body():
        inbox = asyncio.Queue()
        here.readers.add(inbox)
        keys = [key for key, _ in here.kept]
        for key, text in here.kept[keys.index(last) + 1 :] if last in keys else []:
            yield f"id: {key}\\ndata: {text}\\n\\n"
        while True:
            key, text = await inbox.get()
            yield f"id: {key}\\ndata: {text}\\n\\n"

    return StreamingResponse(body(), media_type="text/event-stream")
"""


def test_a_dict_of_the_tree_makes_what_it_does_not_have() -> None:
    stream = stream_of(ROOMS)
    assert (stream.ids.kind, stream.replay.where) == (IdKind.RANDOM, Where.MEMORY), stream.ids.why
    assert stream.ids.reaches_fresh_client is Truth.YES


def test_what_a_first_connection_waits_for_out_of_sight_may_carry_an_id() -> None:
    """Look-alike: a dict whose rooms somebody else makes. It is not known that no client ever learns an id."""
    stream = stream_of(ROOMS.replace("__missing__", "fill"))
    assert stream.ids.reaches_fresh_client is not Truth.NO


SESSIONS = """
from uuid import uuid4

from fastapi import FastAPI, Header, HTTPException
from sse_starlette import EventSourceResponse

app = FastAPI()


class Sessions(dict):
    def open(self):
        key = uuid4().hex
        self[key] = []
        return key

    def __missing__(self, key):
        MISSING


sessions = Sessions()


@app.post("/sessions")
async def start():
    return {"key": sessions.open()}


@app.post("/sessions/{key}")
async def say(key: str, text: str):
    sessions[key].append(text)


@app.get("/sessions/{key}")
async def steps(key: str, last_event_id: int = Header(default=0)):
    said = sessions[key]

    async def body():
        for n, text in enumerate(said[last_event_id:], last_event_id + 1):
            yield {"id": str(n), "data": text}

    return EventSourceResponse(body())
"""


def test_a_dict_of_the_tree_refuses_what_it_does_not_have() -> None:
    """What a client names may not be there, although another entry is: then `__missing__` is asked, and its 404 comes
    before the cursor is looked at."""
    stream = stream_of(SESSIONS.replace("MISSING", 'raise HTTPException(404, "no such session")'))
    assert [guard.status for guard in stream.guards] == [404]


def test_a_dict_of_the_tree_that_makes_what_it_does_not_have_guards_nothing() -> None:
    """Look-alike: a session that is not there is made, so that nobody is ever refused."""
    stream = stream_of(SESSIONS.replace("MISSING", "self[key] = made = []\n        return made"))
    assert not stream.guards
