"""A server that does not know a cursor begins behind the newest entry of its database, or at the oldest one.

Both ask what comes behind a place that the database gave, like a server that continues behind the client's own. What is
sent differs: nothing of what was missed, or everything again.
"""

from __future__ import annotations

import pytest

from sselint.facts import Outcome
from tests.read.python.programs import stream_of

SQL = """
import asyncio
from datetime import datetime

import asyncpg
from fastapi import FastAPI, Request
from sse_starlette import EventSourceResponse

app = FastAPI()
pool = asyncpg.create_pool("postgresql://db/app")


@app.get("/runs/{{run}}")
async def feed(run: str, request: Request):
    last = request.headers.get("last-event-id")
    position = None
    if last:
        position = await pool.fetchval("SELECT seq FROM events WHERE id = $1", last)
    if position is None:
        position = {begin}

    async def frames():
        nonlocal position
        while True:
            for row in await pool.fetch("SELECT id, seq, text FROM events WHERE run = $1 AND seq > $2", run, position):
                position = row["seq"]
                yield {{"id": row["id"], "data": row["text"]}}
            await asyncio.sleep(1)

    return EventSourceResponse(frames())
"""
NEWEST = [
    "await pool.fetchval('SELECT MAX(seq) FROM events')",
    "await pool.fetchval('SELECT coalesce(max(seq), 0) FROM events WHERE run = $1', run) or 0",
    "(await pool.fetchrow('SELECT seq FROM events ORDER BY seq DESC LIMIT 1'))['seq']",
    "await pool.fetchval('SELECT seq FROM events WHERE run = $1 ORDER BY seq DESC LIMIT 1', run)",
]
OLDEST = [
    "await pool.fetchval('SELECT MIN(seq) FROM events')",
    "await pool.fetchval('SELECT seq FROM events ORDER BY seq LIMIT 1')",
    "0",
]
SOMEWHERE = [
    "await pool.fetchval('SELECT max(seq) FROM events WHERE sent < $1', datetime.now())",
    "await pool.fetchval('SELECT seq FROM events ORDER BY seq DESC LIMIT 50')",
    "await pool.fetchval('SELECT seen FROM readers WHERE run = $1', run)",
    "await pool.fetchval('SELECT max(seen) FROM readers')",
]
"""Look-alikes: the newest of what is old, one of many, and an entry of something else."""


def sql(begin: str) -> Outcome:
    """What a server does with an unknown id that begins there instead."""
    return stream_of(SQL.format(begin=begin)).on_foreign.outcome


@pytest.mark.parametrize("begin", NEWEST)
def test_behind_the_newest_entry(begin: str) -> None:
    assert sql(begin) is Outcome.FROM_HEAD


@pytest.mark.parametrize("begin", OLDEST)
def test_at_the_oldest_entry(begin: str) -> None:
    assert sql(begin) is Outcome.REPLAY_ALL


@pytest.mark.parametrize("begin", SOMEWHERE)
def test_behind_another_place(begin: str) -> None:
    assert sql(begin) is Outcome.COMPARED


MAPPED = """
import asyncio

from fastapi import FastAPI, Request
from fastapi.responses import StreamingResponse
from sqlalchemy import create_engine, desc, func, select
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column

app = FastAPI()
session = Session(create_engine("postgresql://db/app"))


class Base(DeclarativeBase):
    pass


class Run(Base):
    __tablename__ = "runs"
    id: Mapped[int] = mapped_column(primary_key=True)
    seen: Mapped[int] = mapped_column()


class Event(Base):
    __tablename__ = "events"
    id: Mapped[int] = mapped_column(primary_key=True)
    run: Mapped[int] = mapped_column()
    text: Mapped[str] = mapped_column()


@app.get("/runs/{{number}}")
async def feed(number: int, request: Request):
    last = request.headers.get("last-event-id")
    known = session.get(Event, int(last)) if last else None
    run = session.query(Run).filter_by(id=number).first()
    if known is None:
        begin = {begin}
    else:
        begin = known.id

    async def frames():
        position = begin
        while True:
            for e in session.scalars(select(Event).where(Event.run == run.id, Event.id > position)):
                position = e.id
                yield f"id: {{e.id}}\\ndata: {{e.text}}\\n\\n"
            await asyncio.sleep(1)

    return StreamingResponse(frames(), media_type="text/event-stream")
"""
MAPPED_NEWEST = [
    "session.scalar(select(func.max(Event.id)))",
    "session.scalar(select(func.max(Event.id)).where(Event.run == run.id)) or 0",
    "session.query(func.coalesce(func.max(Event.id), 0)).scalar()",
    "session.query(Event).order_by(Event.id.desc()).first().id",
    "session.scalars(select(Event).order_by(desc(Event.id)).limit(1)).one().id",
]
MAPPED_OLDEST = [
    "session.scalar(select(func.min(Event.id)))",
    "0",
]
MAPPED_SOMEWHERE = [
    "session.query(Event).filter_by(text='begun').first().id",
    "session.query(Run).order_by(Run.id.desc()).first().seen",
    "session.scalar(select(func.max(Run.seen)))",
]
"""Look-alikes: any row without an order, and the newest of another table."""


def mapped(begin: str) -> Outcome:
    """As with SQL, asked by a mapper."""
    return stream_of(MAPPED.format(begin=begin)).on_foreign.outcome


@pytest.mark.parametrize("begin", MAPPED_NEWEST)
def test_behind_the_newest_row(begin: str) -> None:
    """The run has to be equal to that of a row; only the place says what is sent."""
    assert mapped(begin) is Outcome.FROM_HEAD


@pytest.mark.parametrize("begin", MAPPED_OLDEST)
def test_at_the_oldest_row(begin: str) -> None:
    assert mapped(begin) is Outcome.REPLAY_ALL


@pytest.mark.parametrize("begin", MAPPED_SOMEWHERE)
def test_behind_the_place_of_another_row(begin: str) -> None:
    assert mapped(begin) is Outcome.COMPARED


DJANGO = """
import time

from django.db import models
from django.db.models import Max, Min
from django.http import StreamingHttpResponse
from django.urls import path


class Event(models.Model):
    text = models.TextField()


def feed(request):
    last = request.headers.get("Last-Event-ID")
    try:
        position = Event.objects.get(pk=last).pk
    except Event.DoesNotExist:
        position = {begin}

    def frames():
        nonlocal position
        while True:
            for e in Event.objects.filter(pk__gt=position):
                position = e.pk
                yield f"id: {{e.pk}}\\ndata: {{e.text}}\\n\\n"
            time.sleep(1)

    return StreamingHttpResponse(frames(), content_type="text/event-stream")


urlpatterns = [path("events", feed)]
"""
SETTINGS = 'ROOT_URLCONF = "urls"\nDATABASES = {"default": {"ENGINE": "django.db.backends.postgresql"}}\n'


def django(begin: str) -> Outcome:
    """As with SQL, asked by Django."""
    return stream_of({"urls.py": DJANGO.format(begin=begin), "settings.py": SETTINGS}).on_foreign.outcome


@pytest.mark.parametrize(
    "begin",
    [
        'Event.objects.latest("pk").pk',
        "Event.objects.last().pk",
        'Event.objects.order_by("-pk").first().pk',
        'Event.objects.aggregate(top=Max("pk"))["top"] or 0',
    ],
)
def test_behind_the_newest_object(begin: str) -> None:
    assert django(begin) is Outcome.FROM_HEAD


@pytest.mark.parametrize(
    "begin",
    [
        'Event.objects.earliest("pk").pk',
        "Event.objects.first().pk",
        'Event.objects.order_by("-pk").last().pk',
        'Event.objects.aggregate(low=Min("pk"))["low"]',
        "0",
    ],
)
def test_at_the_oldest_object(begin: str) -> None:
    assert django(begin) is Outcome.REPLAY_ALL
