"""Rows of one table among several, rows copied into dicts, and what stands in for callers that are seen later."""

from __future__ import annotations

import pytest

from sselint.facts import IdKind, Outcome, Where
from tests.read.python.programs import reading_of, stream_of

LEDGER = """
import uuid

from fastapi import FastAPI, Header
from fastapi.responses import StreamingResponse
from sqlalchemy import BigInteger, String, create_engine, select
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column

app = FastAPI()
engine = create_engine("postgresql://ledger")


class Base(DeclarativeBase):
    pass


class Key(Base):
    __tablename__ = "keys"
    id: Mapped[str] = mapped_column(String, primary_key=True)


class Booking(Base):
    __tablename__ = "bookings"
    id: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=True)
    text: Mapped[str] = mapped_column(String)


@app.post("/keys")
def key():
    with Session(engine) as session:
        session.add(Key(id=uuid.uuid4().hex))
        session.commit()


@app.post("/bookings")
def booking(text: str):
    with Session(engine) as session:
        session.add(Booking(GIVEN))
        session.commit()


@app.get("/bookings")
def bookings(seen: int | None = Header(None, alias="Last-Event-ID")):
    def body():
        with Session(engine) as session:
            for row in session.scalars(select(Booking).where(Booking.id > (seen or 0)).order_by(Booking.id)):
                yield f"id: {row.id}\\ndata: {row.text}\\n\\n"

    return StreamingResponse(body(), media_type="text/event-stream")
"""


@pytest.mark.parametrize(
    ("given", "kind"), [("text=text", IdKind.STORE), ("id=uuid.uuid4().hex, text=text", IdKind.RANDOM)]
)
def test_an_id_is_that_of_the_table_that_is_read(given: str, kind: IdKind) -> None:
    found = stream_of(LEDGER.replace("GIVEN", given))
    assert found.ids.kind is kind
    assert (found.replay.where, found.on_foreign.outcome) == (Where.SHARED, Outcome.COMPARED)


COPIED = """
import sqlite3

from fastapi import FastAPI, Header
from fastapi.responses import StreamingResponse

app = FastAPI()


def plain(row):
    if row is None:
        return None
    return {name: row[name] for name in row.keys()}


def rows(seen):
    with sqlite3.connect("notes.db") as base:
        for row in base.execute("SELECT * FROM notes WHERE number > ? ORDER BY number", (seen,)).fetchall():
            copy = plain(row)
            assert copy is not None
            copy["text"] = copy.pop("raw")
            yield copy


@app.get("/notes")
def notes(seen: int = Header(0, alias="Last-Event-ID")):
    def body():
        for row in rows(seen):
            yield f"id: {row['number']}\\ndata: {row['text']}\\n\\n"

    return StreamingResponse(body(), media_type="text/event-stream")
"""


def test_a_row_that_is_copied_column_by_column_keeps_its_columns() -> None:
    found = stream_of(COPIED)
    assert found.ids.kind is IdKind.STORE
    assert (found.replay.where, found.on_foreign.outcome) == (Where.POD_DISK, Outcome.COMPARED)


CONTEXT = """
from contextvars import ContextVar

import redis
from fastapi import FastAPI, Header
from fastapi.responses import StreamingResponse

app = FastAPI()
usual = redis.Redis(host="cache")
chosen = ContextVar("chosen", DEFAULT)


def client():
    return chosen.get() or usual


@app.get("/log")
def log(seen: str = Header("0-0", alias="Last-Event-ID")):
    def body():
        for key, fields in client().xrange("log", min="(" + seen):
            yield f"id: {key}\\ndata: {fields}\\n\\n"

    return StreamingResponse(body(), media_type="text/event-stream")
"""


@pytest.mark.parametrize("default", ["default=None", "default=redis.Redis(host='other')"])
def test_a_context_variable_holds_its_default_where_the_request_sets_none(default: str) -> None:
    found = stream_of(CONTEXT.replace("DEFAULT", default))
    assert found.ids.kind is IdKind.STORE
    assert found.replay.where is Where.SHARED


def test_a_context_variable_without_a_default_that_nothing_sets_is_unknown() -> None:
    found = stream_of(CONTEXT.replace("DEFAULT", "").replace("chosen.get() or usual", "chosen.get()"))
    assert found.ids.kind is IdKind.UNKNOWN
    assert "context variable" in found.ids.why


RELAYED = """
import asyncio, itertools

from fastapi import FastAPI
from fastapi.responses import StreamingResponse

app = FastAPI()
numbers = itertools.count(1)
inboxes = []


async def handle(event):
    for inbox in inboxes:
        await inbox.put(event)


@app.get("/feed")
async def feed():
    inbox = asyncio.Queue()
    inboxes.append(inbox)

    async def body():
        while True:
            event = await inbox.get()
            yield f"id: {event['n']}\\ndata: {event['text']}\\n\\n"

    return StreamingResponse(body(), media_type="text/event-stream")
"""

CALLER = """
from app import handle, numbers


async def tell(text):
    await handle({"n": next(numbers), "text": text})
"""


def test_what_a_caller_gives_stands_before_what_nobody_is_seen_to_give() -> None:
    found = stream_of({"app.py": RELAYED, "teller.py": CALLER})
    assert found.ids.kind is IdKind.COUNTER


SIGNED_IN = """
from contextvars import ContextVar

from fastapi import FastAPI, HTTPException
from fastapi.responses import StreamingResponse

app = FastAPI()
user = ContextVar("user", default=None)
SETS


@app.get("/log")
def log():
    if user.get() is None:
        raise HTTPException(401)
    return StreamingResponse((f"id: {n}\\ndata: news\\n\\n" for n in range(3)), media_type="text/event-stream")
"""
SETS = """

def sign_in(name):
    return user.set(name)
"""


@pytest.mark.parametrize(("sets", "count"), [(SETS, 1), ("", 0)])
def test_a_context_variable_that_its_file_sets_is_not_always_none(sets: str, count: int) -> None:
    """Whoever signs a user in may do so out of sight, so that not all are turned away. Look-alike: nobody does."""
    streams = reading_of({"app.py": SIGNED_IN.replace("SETS", sets)}).streams
    assert len([stream for stream in streams if stream.apps]) == count
