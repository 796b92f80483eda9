"""Records that are made of what a store gives back (`Entry(**json.loads(raw))`), and what a framework hands by name."""

from __future__ import annotations

import pytest

from sselint.facts import IdKind, Outcome, Scope, Where
from tests.read.python.programs import answered, stream_of

SERVER = """
import json, itertools, uuid
from dataclasses import asdict, dataclass, field

from fastapi import FastAPI, Request
from fastapi.responses import StreamingResponse
from redis.asyncio import Redis

app, client, numbers = FastAPI(), Redis(), itertools.count(1)


@dataclass
class Entry:
    text: str
    key: str = field(default_factory=lambda: uuid.uuid4().hex)

    @classmethod
    def load(cls, raw):
        return cls(**json.loads(raw))


@app.post("/feed")
async def add(request: Request):
    entry = MADE
    await client.rpush("entries", json.dumps(asdict(entry)))


@app.get("/feed")
async def feed(request: Request):
    last = request.headers.get("last-event-id", "")

    async def body():
        for entry in [Entry.load(raw) for raw in await client.lrange("entries", 0, -1)]:
            if entry.key > last:
                yield f"id: {entry.key}\\ndata: {entry.text}\\n\\n"

    return StreamingResponse(body(), media_type="text/event-stream")
"""

MADE = {
    "counted by the store": ('Entry("said", key=await client.incr("last"))', (IdKind.STORE, Scope.SHARED)),
    "random, and kept in the store": ('Entry("said", key=uuid.uuid4().hex)', (IdKind.RANDOM, Scope.UNIQUE_LOCAL)),
    "random by default": ('Entry("said")', (IdKind.RANDOM, Scope.UNIQUE_LOCAL)),
}


@pytest.mark.parametrize("name", MADE)
def test_a_record_has_its_fields_from_what_the_store_gave_back(name: str) -> None:
    made, expected = MADE[name]
    stream = stream_of(SERVER.replace("MADE", made))
    assert (stream.ids.kind, stream.ids.scope) == expected, stream.ids.why
    assert (stream.replay.where, stream.on_foreign.outcome) == (Where.SHARED, Outcome.COMPARED)


def test_a_default_stays_where_a_client_sends_the_record() -> None:
    """Look-alike: what comes from a client need not hold the fields that have a default."""
    text = SERVER.replace("MADE", "Entry(**await request.json())").replace(
        'await client.rpush("entries", json.dumps(asdict(entry)))', "kept.append(entry)"
    )
    text = text.replace('[Entry.load(raw) for raw in await client.lrange("entries", 0, -1)]', "list(kept)")
    stream = stream_of(text.replace("Redis(), ", "[], ").replace("app, client", "app, kept"))
    assert (stream.ids.kind, stream.ids.scope) == (IdKind.RANDOM, Scope.UNIQUE_LOCAL), stream.ids.why


LITESTAR = """
from contextlib import asynccontextmanager

from litestar import Litestar, Request, get, post
from litestar.datastructures import State
from litestar.response import ServerSentEvent, ServerSentEventMessage
from redis.asyncio import Redis


async def connect(app):
    app.state.log = Redis()


@asynccontextmanager
async def connected(app):
    app.state.log = Redis()
    yield


@post("/feed")
async def add(data: dict, state: State) -> None:
    await state.log.xadd("feed", data)


@get("/feed")
async def feed(request: Request, state: State) -> ServerSentEvent:
    async def events(last):
        while True:
            for _, entries in await state.log.xread({"feed": last}, block=0):
                for last, fields in entries:
                    yield ServerSentEventMessage(id=last, data=fields["text"])

    return ServerSentEvent(events(request.headers.get("last-event-id", "0-0")))


app = Litestar([add, feed]GIVEN)
"""


@pytest.mark.parametrize("given", [", on_startup=[connect]", ", lifespan=[connected]"])
def test_the_state_that_a_handler_takes_is_that_of_the_application(given: str) -> None:
    """Look-alike: an application that never starts what would fill it."""
    stream = stream_of(LITESTAR.replace("GIVEN", given))
    assert (stream.ids.scope, stream.replay.where) == (Scope.SHARED, Where.SHARED), stream.ids.why
    assert stream_of(LITESTAR.replace("GIVEN", "")).ids.scope is Scope.UNKNOWN


LINKED = """
import threading, uuid

from flask import Flask, Response, request

app = Flask(__name__)


class Cell:
    def __init__(self):
        self.key, self.value, self.next, self.filled = "", None, None, threading.Event()


class Chain:
    def __init__(self):
        self.end, self.cells = Cell(), {}

    def add(self, value):
        cell = self.end
        cell.key, cell.value = str(uuid.uuid4()), value
        cell.next = self.end = Cell()
        self.cells[cell.key] = cell
        cell.filled.set()

    def walk(self, cell):
        while True:
            cell.filled.wait()
            yield f"id: {cell.key}\\ndata: {cell.value}\\n\\n"
            cell = cell.next


chain = Chain()


@app.post("/feed")
def add():
    chain.add(request.get_data(as_text=True))
    return "", 204


@app.get("/feed")
def feed():
    last = request.headers.get("Last-Event-ID")
    if last is not None and last not in chain.cells:
        return "", 204
    cell = chain.cells[last].next if last else chain.end
    return Response(chain.walk(cell), mimetype="text/event-stream")
"""


def test_events_that_each_know_the_next_are_kept_where_the_first_is_found() -> None:
    """What a cell holds before it is filled is written down, and makes no table of it that every process has."""
    stream = stream_of(LINKED)
    assert (stream.ids.kind, stream.replay.where) == (IdKind.RANDOM, Where.MEMORY), stream.replay.why
    assert stream.on_foreign.outcome is Outcome.FAIL_CLOSED


WRITTEN = """
from flask import Flask, Response, request

app = Flask(__name__)


@app.get("/feed")
def feed():
    last = request.headers.get("Last-Event-ID")

    def steps():
        if last != "1":
            yield "id: 1\\ndata: first\\n\\n"
        yield "id: 2\\ndata: second\\n\\n"

    return Response(steps(), mimetype="text/event-stream")
"""


def test_events_that_stand_in_the_source_are_the_same_on_every_process() -> None:
    """Look-alike of the one above."""
    assert stream_of(WRITTEN).replay.where is Where.SHARED


ONE = """
last = request.headers.get("last-event-id")
start = 0
if last:
    hits = [place for place, (key, _) in enumerate(log) if key == last]
    try:
        TAKEN
    except ValueError:
        return Response("unknown", status_code=409)
    start = at + 1

async def body():
    for key, text in log[start:]:
        yield {"id": key, "data": text}

return EventSourceResponse(body())
"""


@pytest.mark.parametrize("taken", ["(at,) = hits", "[at] = hits", "at, *_ = hits"])
def test_nothing_has_no_parts(taken: str) -> None:
    """What no element is in cannot be taken apart: an id that is not found is refused."""
    stream = stream_of(answered(ONE.replace("TAKEN", taken)))
    assert (stream.on_foreign.outcome, stream.on_foreign.status) == (Outcome.FAIL_CLOSED, 409)


def test_nothing_has_a_rest() -> None:
    """A target that takes however many are left takes none as well: the search without a hit goes on."""
    stream = stream_of(answered(ONE.replace("TAKEN", "*_, at = (-1, *hits)")))
    assert stream.on_foreign.outcome is not Outcome.FAIL_CLOSED
