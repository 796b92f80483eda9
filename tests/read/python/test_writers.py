"""Numbers that a run counts for itself and keeps in a store for all: whoever else counts writes under another name."""

from __future__ import annotations

import pytest

from sselint.facts import Scope
from tests.read.python.programs import answered, stream_of

RUNS = """
import asyncio
import itertools
import json
import uuid

import asyncpg
import pymongo
import redis.asyncio as redis
from fastapi import FastAPI, Request
from fastapi.responses import StreamingResponse
from sqlalchemy import create_engine, select
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column

app = FastAPI()
log = redis.from_url("redis://log")
pool = asyncpg.create_pool("postgresql://db/app")
documents = pymongo.MongoClient("mongodb://db").app.events
rows = Session(create_engine("postgresql://db/app"))
counted = itertools.count(1)
recorders = {{}}


class Base(DeclarativeBase):
    pass


class Event(Base):
    __tablename__ = "events"
    id: Mapped[int] = mapped_column(primary_key=True)
    run: Mapped[str] = mapped_column()
    number: Mapped[int] = mapped_column()
    text: Mapped[str] = mapped_column()


class Recorder:
    def __init__(self, run):
        self.run = run
        self.number = 0

    async def emit(self, text):
        self.number += 1
        number = self.number
        {write}


async def work(recorder):
    for text in ("begun", "done"):
        await recorder.emit(text)


{start}


@app.get("/runs/{{run}}")
async def feed(run: str, request: Request):
    last = int(request.headers.get("last-event-id", 0))

    async def frames():
        {read}
            yield f"id: {{number}}\\ndata: {{text}}\\n\\n"

    return StreamingResponse(frames(), media_type="text/event-stream")
"""
RANDOM = """
@app.post("/runs")
async def start():
    run = str(uuid.uuid4())
    asyncio.create_task(work(Recorder(run)))
    return {"run": run}
"""
ASKED_FOR = """
@app.post("/runs/{run}")
async def start(run: str):
    asyncio.create_task(work(Recorder(run)))
"""
KEPT = """
@app.post("/runs/{run}")
async def start(run: str, text: str):
    await recorders.setdefault(run, Recorder(run)).emit(text)
"""

ENTRIES = (
    'for e in map(json.loads, await log.lrange(f"run:{run}", 0, -1)):\n'
    '            number, text = e["number"], e["text"]\n'
    "            if number <= last:\n                continue"
)
LIST = ('await log.rpush(f"run:{self.run}", json.dumps({"number": number, "text": text}))', ENTRIES)
EVERYTHING = (LIST[0].replace("number,", "next(counted),", 1), ENTRIES)
BEHIND = 'for number, text in await pool.fetch("SELECT number, text FROM events WHERE {} > $2", run, last):'
SQL = (
    'await pool.execute("INSERT INTO events (run, number, text) VALUES ($1, $2, $3)", self.run, number, text)',
    BEHIND.format("run = $1 AND number"),
)
SQL_OF_ALL = (SQL[0], BEHIND.format("number"))
MAPPED = (
    "rows.add(Event(run=self.run, number=number, text=text))",
    "for e in rows.scalars(select(Event).where(Event.run == run, Event.number > last)):\n"
    "            number, text = e.number, e.text",
)
MAPPED_OF_ALL = (MAPPED[0], MAPPED[1].replace("Event.run == run, ", ""))
DOCUMENTS = (
    'documents.insert_one({"run": self.run, "number": number, "text": text})',
    'for e in documents.find({"run": run, "number": {"$gt": last}}):\n'
    '            number, text = e["number"], e["text"]',
)
DOCUMENTS_OF_ALL = (DOCUMENTS[0], DOCUMENTS[1].replace('"run": run, ', ""))


def scope_of(places: tuple[str, str], start: str) -> Scope:
    """Whose the ids are of a server that counts in its runs."""
    write, read = places
    return stream_of(RUNS.format(write=write, read=read, start=start)).ids.scope


@pytest.mark.parametrize("places", [LIST, SQL, MAPPED, DOCUMENTS], ids=["list", "sql", "mapped", "documents"])
def test_a_run_counts_under_its_own_random_name(places: tuple[str, str]) -> None:
    """No other process has a run of that name, so that no two events under it have one number."""
    assert scope_of(places, RANDOM) is Scope.SHARED


@pytest.mark.parametrize("places", [SQL_OF_ALL, MAPPED_OF_ALL, DOCUMENTS_OF_ALL], ids=["sql", "mapped", "documents"])
def test_an_answer_that_holds_what_several_runs_counted(places: tuple[str, str]) -> None:
    """Look-alike: the same entries, and the reader asks for those of all runs."""
    assert scope_of(places, RANDOM) is Scope.UNKNOWN


@pytest.mark.parametrize("places", [LIST, SQL, MAPPED, DOCUMENTS], ids=["list", "sql", "mapped", "documents"])
def test_a_run_whose_name_the_client_chooses(places: tuple[str, str]) -> None:
    """It may be started twice; whether anybody does is not seen."""
    assert scope_of(places, ASKED_FOR) is Scope.UNKNOWN


def test_one_counter_for_each_name_in_each_process() -> None:
    """Look-alike: a process keeps what counts for a name that the client chose, and so does the next one."""
    assert scope_of(LIST, KEPT) is Scope.OVERLAPPING


def test_a_counter_of_the_process_under_random_names() -> None:
    """Look-alike: the names are random, and the number is the process's own, for all of its runs."""
    assert scope_of(EVERYTHING, RANDOM) is Scope.OVERLAPPING


LOG = """
import itertools
import redis
counted = itertools.count(1)
log = redis.from_url("redis://log")


def publish(text):
    number = next(counted)
    log.xadd("news", {{"frame": f"id: {{number}}\\ndata: {{text}}\\n\\n"}}{place})
"""
FRAMES = """
last = request.headers.get("last-event-id", "0")

def frames():
    for _, entries in log.xread({"news": f"{last}-0"}, block=1000):
        for _, fields in entries:
            yield fields["frame"]

return StreamingResponse(frames(), media_type="text/event-stream")
"""


@pytest.mark.parametrize(
    ("place", "scope"),
    [
        (', id=f"{number}-0"', Scope.SHARED),
        (', f"{number}-0"', Scope.SHARED),
        ("", Scope.OVERLAPPING),
        (', id=f"{next(counted)}-0"', Scope.SHARED),
        (', id=f"{len(text)}-0"', Scope.OVERLAPPING),
    ],
)
def test_a_number_that_is_its_own_place_in_a_log(place: str, scope: Scope) -> None:
    """The log refuses a place that is taken, whoever counts. Look-alikes: the log gives the place, or another number
    does."""
    store = "from starlette.responses import StreamingResponse\n" + LOG.format(place=place)
    assert stream_of(answered(FRAMES, store)).ids.scope is scope
