"""Streams that wait through tasks, generators that are asked step by step, and keys that are records."""

from __future__ import annotations

import pytest

from sselint.facts import IdKind, Outcome, Where
from tests.read.python.programs import stream_of

PULSED = """
import asyncio

import redis.asyncio as redis
from fastapi import FastAPI, Header
from fastapi.responses import StreamingResponse

app = FastAPI()
client = redis.Redis(host="cache")


async def follow(name, after):
    place = after or "0-0"
    for key, fields in await client.xrange(name, min="(" + place):
        place = key
        yield key, fields
    while True:
        for _, entries in await client.xread({name: place}, block=5000):
            for key, fields in entries:
                place = key
                yield key, fields


async def step(source):
    return await anext(source)


async def pulsed(source):
    source = source.__aiter__()
    waiting = None
    while True:
        if waiting is None:
            waiting = asyncio.create_task(step(source))
        ready, _ = await asyncio.wait({waiting}, timeout=10)
        if not ready:
            yield ": beat\\n\\n"
            continue
        came, waiting = waiting, None
        try:
            key, fields = came.result()
        except StopAsyncIteration:
            return
        yield f"id: {key}\\ndata: {fields}\\n\\n"


@app.get("/rooms/{name}")
async def room(name: str, last: str | None = Header(None, alias="Last-Event-ID")):
    return StreamingResponse(pulsed(follow(name, GIVEN)), media_type="text/event-stream")
"""


def test_a_generator_asked_by_tasks_gives_what_it_reads() -> None:
    found = stream_of(PULSED.replace("GIVEN", "last"))
    assert found.ids.kind is IdKind.STORE
    assert (found.replay.where, found.replay.live_tail) == (Where.SHARED, Where.SHARED)
    assert found.on_foreign.outcome is Outcome.COMPARED


def test_a_generator_asked_by_tasks_that_is_not_told_the_cursor() -> None:
    found = stream_of(PULSED.replace("GIVEN", "None"))
    assert found.ids.kind is IdKind.STORE
    assert found.on_foreign.outcome is Outcome.IGNORED


def test_a_task_that_feeds_and_is_cancelled_leaves_the_queue_what_it_is() -> None:
    found = stream_of(
        """
        import asyncio, itertools

        from fastapi import FastAPI
        from fastapi.responses import StreamingResponse

        app = FastAPI()
        numbers = itertools.count(1)
        listeners = set()


        async def clock():
            while True:
                await asyncio.sleep(1)
                for listener in listeners:
                    listener.put_nowait(next(numbers))


        @app.get("/ticks")
        async def ticks():
            async def body():
                inbox = asyncio.Queue()
                listeners.add(inbox)
                driver = asyncio.create_task(clock())
                try:
                    for _ in range(10):
                        number = await inbox.get()
                        yield f"id: {number}\\ndata: tick\\n\\n"
                finally:
                    driver.cancel()
                    await driver
                yield "event: over\\ndata: -\\n\\n"

            return StreamingResponse(body(), media_type="text/event-stream")
        """
    )
    assert found.ids.kind is IdKind.COUNTER
    assert found.replay.where is Where.NONE


KEYED = """
from collections import defaultdict, deque
from dataclasses import dataclass

from fastapi import FastAPI, Header
from fastapi.responses import StreamingResponse

app = FastAPI()


@dataclass(frozen=True)
class Lane:
    plant: str
    shift: str


numbers = defaultdict(int)
kept = defaultdict(lambda: deque(maxlen=50))
closed = set()


def lane_of(plant, shift):
    if not shift:
        raise ValueError("no shift")
    return Lane(plant=plant, shift=shift)


def report(lane, text):
    if lane in closed:
        return
    numbers[lane] += 1
    kept[lane].append(f"id: {lane.plant}:{lane.shift}:{numbers[lane]:05d}\\ndata: {text}\\n\\n")


@app.post("/{plant}/{shift}")
def post(plant: str, shift: str, text: str):
    report(lane_of(plant, shift), text)


@app.delete("/{plant}/{shift}")
def close(plant: str, shift: str):
    closed.add(lane_of(plant, shift))


def number_of(line):
    for part in line.splitlines():
        if part.startswith("id: "):
            return part[4:]
    return None


def place_of(lines, number):
    for place, line in enumerate(lines):
        if number_of(line) == number:
            return place
    return None


@app.get("/{plant}/{shift}/feed")
async def feed(plant: str, shift: str, seen: str | None = Header(None, alias="Last-Event-ID")):
    async def body():
        lane = lane_of(plant, shift)
        if lane in closed:
            return
        lines = list(kept.get(lane, []))
        if seen:
            place = place_of(lines, seen)
            if place is None:
                MISSED
            else:
                lines = lines[place + 1 :]
        for line in lines:
            yield line

    return StreamingResponse(body(), media_type="text/event-stream")
"""


@pytest.mark.parametrize(
    ("missed", "outcome"),
    [
        ('yield "event: snapshot_required\\ndata: -\\n\\n"; return', Outcome.FAIL_CLOSED),
        ("pass", Outcome.REPLAY_ALL),
        ("return", Outcome.EMPTY),
    ],
)
def test_a_record_made_of_what_the_client_chose_is_not_always_there(missed: str, outcome: Outcome) -> None:
    found = stream_of(KEYED.replace("MISSED", missed))
    assert found.ids.kind is IdKind.COUNTER
    assert found.replay.where is Where.MEMORY
    assert found.on_foreign.outcome is outcome


STEPWISE = """
from fastapi import FastAPI, Header
from fastapi.responses import StreamingResponse
from sqlmodel import Field, Session, SQLModel, col, create_engine, select

app = FastAPI()
engine = create_engine("postgresql://ledger")


class Entry(SQLModel, table=True):
    number: int | None = Field(default=None, primary_key=True)
    book: str
    text: str


def entries(book, after):
    wanted = select(Entry).where(Entry.book == book)
    if after is not None:
        wanted = wanted.where(TEST)
    wanted = wanted.order_by(col(Entry.number))
    with Session(engine) as session:
        return session.exec(wanted).all()


@app.get("/books/{book}")
def book(book: str, seen: int | None = Header(None, alias="Last-Event-ID")):
    def body():
        for entry in entries(book, seen):
            yield f"id: {entry.number}\\ndata: {entry.text}\\n\\n"

    return StreamingResponse(body(), media_type="text/event-stream")
"""


@pytest.mark.parametrize(
    ("test", "outcome"),
    [("col(Entry.number) > after", Outcome.COMPARED), ("Entry.book != '-'", Outcome.IGNORED)],
)
def test_a_statement_that_is_narrowed_only_for_a_cursor(test: str, outcome: Outcome) -> None:
    found = stream_of(STEPWISE.replace("TEST", test))
    assert found.ids.kind is IdKind.STORE
    assert found.on_foreign.outcome is outcome


REFILLED = """
import asyncio
import uuid
from fastapi import FastAPI
from fastapi.responses import StreamingResponse

app = FastAPI()
queues = []


@app.post("/news")
async def publish(text: str):
    for queue in queues:
        queue.put_nowait((uuid.uuid4().hex, text))


@app.get("/news")
async def news():
    queue = asyncio.Queue()
    queues.append(queue)

    async def body():
        pending = {asyncio.create_task(queue.get())}
        while pending:
            done, pending = await asyncio.wait(pending, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                key, text = task.result()
                yield f"id: {key}\\ndata: {text}\\n\\n"
                FILLED

    return StreamingResponse(body(), media_type="text/event-stream")
"""


@pytest.mark.parametrize(
    ("filled", "outcome"),
    [
        ("pending.add(asyncio.create_task(queue.get()))", Outcome.FROM_HEAD),
        ("pending |= {asyncio.create_task(queue.get())}", Outcome.FROM_HEAD),
        ("print(key)", None),  # look-alike: one event, and the response ends
    ],
)
def test_what_is_put_to_those_that_still_wait_is_waited_for(filled: str, outcome: Outcome | None) -> None:
    stream = stream_of(REFILLED.replace("FILLED", filled))
    assert stream.on_missing is not None
    assert (stream.on_missing.outcome is Outcome.FROM_HEAD) is (outcome is not None)


TOLD_ASIDE = """
import asyncio
from fastapi import FastAPI, Header
from fastapi.responses import StreamingResponse

app = FastAPI()
kept = []


@app.post("/news")
async def publish(text: str):
    kept.append((f"{len(kept)}-news", text))


async def tell():
    print(kept[len(kept) - 1])


@app.get("/news")
async def news(seen: str | None = Header(None, alias="Last-Event-ID")):
    async def body():
        place = 0
        for at, entry in enumerate(kept):
            if entry[0] == seen:
                place = at + 1
                break
        while True:
            if place < len(kept):
                key, text = kept[place]
                TOLD
                yield f"id: {key}\\ndata: {text}\\n\\n"
                place += 1
            else:
                await asyncio.sleep(1)

    return StreamingResponse(body(), media_type="text/event-stream")
"""


@pytest.mark.parametrize("told", ["asyncio.create_task(tell())", "print(key)"])
def test_what_a_task_looks_at_is_not_what_the_handler_sends(told: str) -> None:
    stream = stream_of(TOLD_ASIDE.replace("TOLD", told))
    assert stream.on_foreign.outcome is Outcome.REPLAY_ALL
    assert stream.on_overlap is not None
    assert stream.on_overlap.outcome is Outcome.COMPARED
