"""Rows that are put into a table by a statement, by `create` or through another row: whoever counts a column is seen.

A number that a process counts stands in the column as it was given; the table gives out the numbers that nobody gives.
"""

from __future__ import annotations

import pytest

from sselint.facts import Outcome, Scope, Stream
from tests.read.python.programs import stream_of

SQLALCHEMY = """
import itertools

from fastapi import FastAPI, Request
from fastapi.responses import StreamingResponse
from sqlalchemy import ForeignKey, create_engine, insert, select, update
from sqlalchemy.dialects.postgresql import insert as upsert
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column, relationship

app = FastAPI()
session = Session(create_engine("postgresql://db/app"))
counter = itertools.count(1)


class Base(DeclarativeBase):
    pass


class Event(Base):
    __tablename__ = "events"
    id: Mapped[int] = mapped_column(primary_key=True)
    job_id: Mapped[int] = mapped_column(ForeignKey("jobs.id"))
    seq: Mapped[int] = mapped_column()
    text: Mapped[str] = mapped_column()


class Job(Base):
    __tablename__ = "jobs"
    id: Mapped[int] = mapped_column(primary_key=True)
    events: Mapped[list[Event]] = relationship()


@app.post("/events")
def publish(text: str):
    job = session.get(Job, 1)
    {write}
    session.commit()


@app.get("/events")
def feed(request: Request):
    last = int(request.headers.get("last-event-id", 0))

    def frames():
        for e in session.scalars(select(Event).where(Event.seq > last)):
            yield f"id: {{e.{sent}}}\\ndata: {{e.text}}\\n\\n"

    return StreamingResponse(frames(), media_type="text/event-stream")
"""

STATEMENTS = {
    "values": "session.execute(insert(Event).values(seq={seq}, text=text))",
    "a mapping of values": 'session.execute(insert(Event).values({{"seq": {seq}, "text": text}}))',
    "rows beside it": 'session.execute(insert(Event), [{{"seq": {seq}, "text": text}}])',
    "a row beside it": 'session.execute(insert(Event), {{"seq": {seq}, "text": text}})',
    "upsert": "session.execute(upsert(Event).values(seq={seq}, text=text).on_conflict_do_nothing())",
    "step by step": "put = insert(Event)\n    put = put.values(text=text)\n"
    "    session.execute(put.values(seq={seq}).returning(Event.id))",
    "update": "session.execute(update(Event).where(Event.text == text).values(seq={seq}))",
    "table": "session.execute(Event.__table__.insert().values(seq={seq}, text=text))",
    "another row": "job.events.append(Event(seq={seq}, text=text))",
    "rows of another row": "job.events.extend([Event(seq={seq}, text=text)])",
    "all rows of another row": "job.events = [Event(seq={seq}, text=text)]",
    "with another row": "session.add(Job(events=[Event(seq={seq}, text=text)]))",
}


def mapped(write: str, seq: str, sent: str = "seq") -> Stream:
    """A server whose table is filled by `write`."""
    return stream_of(SQLALCHEMY.format(write=write.format(seq=seq), sent=sent))


@pytest.mark.parametrize("write", STATEMENTS.values(), ids=STATEMENTS)
def test_a_column_that_the_process_counts(write: str) -> None:
    """Another process counts the same numbers; whether the table takes them is not seen, and "shared" is not said."""
    assert mapped(write, "next(counter)").ids.scope is not Scope.SHARED


@pytest.mark.parametrize("write", STATEMENTS.values(), ids=STATEMENTS)
def test_a_column_that_the_table_counts(write: str) -> None:
    """Look-alike: the same rows, and what is sent is the number that the table gave."""
    assert mapped(write, "next(counter)", "id").ids.scope is Scope.SHARED


DJANGO = """
import itertools

from django.db import models
from django.http import StreamingHttpResponse
from django.urls import path

counter = itertools.count(1)


class Job(models.Model):
    name = models.CharField()


class Event(models.Model):
    job = models.ForeignKey(Job, related_name="events")
    seq = models.BigIntegerField()
    text = models.TextField()


def publish(request, number):
    job = Job.objects.get(pk=number)
    {write}


def feed(request, number):
    last = int(request.headers.get("Last-Event-ID", 0))
    job = Job.objects.get(pk=number)

    def frames():
        for e in {read}:
            yield f"id: {{e.{sent}}}\\ndata: {{e.text}}\\n\\n"

    return StreamingHttpResponse(frames(), content_type="text/event-stream")


urlpatterns = [path("jobs/<int:number>/add", publish), path("jobs/<int:number>/events", feed)]
"""
SETTINGS = """
ROOT_URLCONF = "urls"
DATABASES = {"default": {"ENGINE": "django.db.backends.postgresql", "NAME": "app"}}
"""
CREATED = {
    "create": "Event.objects.create(job=job, seq={seq}, text='x')",
    "get_or_create": "Event.objects.get_or_create(text='x', defaults={{'seq': {seq}}})",
    "update": "Event.objects.filter(text='x').update(seq={seq})",
    "many": "Event.objects.bulk_create([Event(job=job, seq={seq})])",
    "related": "job.events.create(seq={seq}, text='x')",
    "related add": "job.events.add(Event(seq={seq}, text='x'), bulk=False)",
}
ALL = "Event.objects.filter(seq__gt=last)"


def django(write: str, seq: str, sent: str = "seq", read: str = ALL) -> Stream:
    """A project whose table is filled by `write`."""
    program = DJANGO.format(write=write.format(seq=seq), sent=sent, read=read)
    return stream_of({"urls.py": program, "settings.py": SETTINGS})


@pytest.mark.parametrize("write", CREATED.values(), ids=CREATED)
def test_a_created_row_with_a_number_of_the_process(write: str) -> None:
    """As with SQLAlchemy: two processes create rows of one number."""
    assert django(write, "next(counter)").ids.scope is not Scope.SHARED


@pytest.mark.parametrize("write", CREATED.values(), ids=CREATED)
def test_a_created_row_with_a_number_of_the_table(write: str) -> None:
    """Look-alike: the key is the table's, whatever the process puts beside it."""
    assert django(write, "next(counter)", "id").ids.scope is Scope.SHARED


@pytest.mark.parametrize(
    "question", ["job.events.filter(seq__gt=last)", "job.event_set.filter(seq__gt=last).order_by('seq')"]
)
def test_rows_of_a_row_behind_the_cursor(question: str) -> None:
    """What belongs to a row is asked like the table itself."""
    assert django(CREATED["create"], "7", "id", question).on_foreign.outcome is Outcome.COMPARED


def test_all_rows_of_a_row() -> None:
    """Look-alike: nobody asks what comes behind the cursor."""
    stream = django(CREATED["create"], "7", "id", "job.events.all()")
    assert stream.on_foreign.outcome in (Outcome.REPLAY_ALL, Outcome.IGNORED)


TABLE = """
import itertools

from fastapi import FastAPI, Request, Response
from fastapi.responses import StreamingResponse
from sqlalchemy import Column, Integer, MetaData, Table, Text, create_engine, insert, select

app = FastAPI()
engine = create_engine("postgresql://db/app")
counter = itertools.count(1)
columns = (Column("id", Integer, primary_key=True), Column("seq", Integer), Column("text", Text))
events = Table("events", MetaData(), *columns)


@app.post("/events")
def publish(text: str):
    with engine.begin() as connection:
        connection.execute({write})


@app.get("/events")
def feed(request: Request):
    last = int(request.headers.get("last-event-id", 0))
    {guard}

    def frames():
        with engine.connect() as connection:
            for e in connection.execute(select(events){where}):
                yield f"id: {{e.{sent}}}\\ndata: {{e.text}}\\n\\n"

    return StreamingResponse(frames(), media_type="text/event-stream")
"""
INSERTED = [
    "events.insert().values(seq=next(counter), text=text)",
    "insert(events).values(seq=next(counter), text=text)",
]
GUARD = """with engine.connect() as connection:
        known = connection.execute(select(events).where(events.c.id == last)).first()
    if known is None:
        return Response(status_code=409)"""


def table(write: str = INSERTED[0], where: str = "", sent: str = "id", guard: str = "") -> Stream:
    """A server with a table that no class stands for."""
    return stream_of(TABLE.format(write=write, where=where, sent=sent, guard=guard))


@pytest.mark.parametrize("write", INSERTED)
def test_a_number_of_the_process_in_a_table_without_a_class(write: str) -> None:
    assert table(write, sent="seq").ids.scope is not Scope.SHARED
    assert table(write, sent="id").ids.scope is Scope.SHARED


@pytest.mark.parametrize("column", ["events.c.id", "events.c['id']", "events.columns.id"])
def test_what_comes_behind_the_cursor_in_a_table_without_a_class(column: str) -> None:
    """A column held against the cursor is a condition of the question, and no truth value."""
    assert table(where=f".where({column} > last).order_by({column})").on_foreign.outcome is Outcome.COMPARED


TAKEN_APART = 'for e in connection.execute(select(events){where}):\n                yield f"id: {{e.{sent}}}'


@pytest.mark.parametrize("write", INSERTED)
@pytest.mark.parametrize("columns", ["events.c.{sent}, events.c.text", "events.c['{sent}'], events.c.text"])
def test_rows_of_columns_that_are_taken_apart(write: str, columns: str) -> None:
    """The first of `for number, text in ...` is the column that the statement names first."""
    taken = 'for n, text in connection.execute(select(COLUMNS){where}):\n                yield f"id: {{n}}'
    program = TABLE.replace(TAKEN_APART, taken.replace("COLUMNS", columns)).replace("{{e.text}}", "{{text}}")
    assert "for n, text" in program
    seq, key = (program.format(write=write, where="", sent=sent, guard="") for sent in ("seq", "id"))
    assert stream_of(seq).ids.scope is not Scope.SHARED
    assert stream_of(key).ids.scope is Scope.SHARED


@pytest.mark.parametrize("first", ["seq", "id"])
def test_rows_of_columns_of_a_class_that_are_taken_apart(first: str) -> None:
    """As with a table without a class."""
    program = SQLALCHEMY.replace("for e in session.scalars(select(Event)", "for n, text in session.execute(select(%s)")
    program = program.replace("{{e.{sent}}}", "{{n}}").replace("{{e.text}}", "{{text}}") % f"Event.{first}, Event.text"
    written = program.format(write=STATEMENTS["values"].format(seq="next(counter)"))
    assert (stream_of(written).ids.scope is Scope.SHARED) == (first == "id")


def test_an_unknown_cursor_is_refused_by_a_table_without_a_class() -> None:
    """The entry is asked for by being equal. Look-alike: nothing asks for it, and everything is sent."""
    assert table(where=".where(events.c.id > last)", guard=GUARD).on_foreign.outcome is Outcome.FAIL_CLOSED
    assert table().on_foreign.outcome in (Outcome.REPLAY_ALL, Outcome.IGNORED)


TORTOISE = """
import itertools

from fastapi import FastAPI, Request
from fastapi.responses import StreamingResponse
from tortoise import fields
from tortoise.contrib.fastapi import register_tortoise
from tortoise.models import Model

app = FastAPI()
counter = itertools.count(1)
register_tortoise(app, db_url="postgres://db/app")


class Event(Model):
    id = fields.IntField(primary_key=True)
    seq = fields.IntField()
    text = fields.TextField()


@app.post("/events")
async def publish(text: str):
    await Event.create(seq=next(counter), text=text)


@app.get("/events")
async def feed(request: Request):
    last = int(request.headers.get("last-event-id", 0))

    async def frames():
        for e in await Event.filter(seq__gt=last):
            yield f"id: {{e.{sent}}}\\ndata: {{e.text}}\\n\\n"

    return StreamingResponse(frames(), media_type="text/event-stream")
"""
PEEWEE = (
    TORTOISE.replace("from tortoise import fields\n", "")
    .replace("from tortoise.contrib.fastapi import register_tortoise\n", "")
    .replace("from tortoise.models import Model", "import peewee\nfrom peewee import Model")
    .replace('register_tortoise(app, db_url="postgres://db/app")', 'database = peewee.PostgresqlDatabase("app")')
    .replace("fields.IntField(primary_key=True)", "peewee.AutoField()")
    .replace("fields.IntField()", "peewee.IntegerField()")
    .replace("fields.TextField()", "peewee.TextField()")
    .replace("await Event.create", "Event.create")
    .replace("await Event.filter(seq__gt=last)", "Event.select().where(Event.seq > last)")
)


@pytest.mark.parametrize("program", [TORTOISE, PEEWEE], ids=["tortoise", "peewee"])
def test_a_class_that_creates_its_row(program: str) -> None:
    """`Event.create(...)`: the number is the process's. Look-alike: the key beside it is the table's."""
    assert stream_of(program.format(sent="seq")).ids.scope is not Scope.SHARED
    assert stream_of(program.format(sent="id")).ids.scope is Scope.SHARED


def test_a_row_whose_number_is_set_later() -> None:
    """`event.seq = n`, and it is saved."""
    write = "event = session.get(Event, 1)\n    event.seq = {seq}"
    assert mapped(write, "next(counter)").ids.scope is not Scope.SHARED
    assert mapped(write, "next(counter)", "id").ids.scope is Scope.SHARED
