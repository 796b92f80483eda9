"""Keys of tables: a number that processes count is in the table once, where a key covers it and what is asked for."""

from __future__ import annotations

import pytest

from sselint.facts import IdKind, Scope
from sselint.read.python.stores import schema
from tests.read.python.programs import stream_of

MAPPED = """
import os
import socket
from fastapi import FastAPI, Request
from fastapi.responses import StreamingResponse
from sqlalchemy import Index, PrimaryKeyConstraint, UniqueConstraint, create_engine, or_, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column

app = FastAPI()
engine = create_engine("ADDRESS")
HOST = socket.gethostname()
POD = os.environ["POD_NAME"]
counted = 0
shown = 0


class Base(DeclarativeBase):
    pass


class Event(Base):
    __tablename__ = "events"
    id: Mapped[int] = mapped_column(primary_key=True)
    run_id: Mapped[str] = mapped_column()
    seq: Mapped[int] = mapped_column()
    text: Mapped[str] = mapped_column()
    KEYS


class Run(Base):
    __tablename__ = "runs"
    id: Mapped[str] = mapped_column(primary_key=True)
    run_id: Mapped[str] = mapped_column()


@app.post("/shown")
def show():
    global shown
    shown += 1


@app.post("/runs/{run_id}")
def publish(run_id: str, text: str):
    global counted
    counted += 1
    with Session(engine) as db:
        db.WRITE
        db.commit()


@app.get("/runs/{run_id}")
def watch(run_id: str, request: Request):
    last = int(request.headers.get("Last-Event-ID", 0))

    def body():
        with Session(engine) as db:
            for event in db.scalars(READ):
                yield f"id: {event.seq}\\ndata: {event.text}\\n\\n"

    return StreamingResponse(body(), media_type="text/event-stream")
"""
KEY = '__table_args__ = (UniqueConstraint("run_id", "seq"),)'
ADD = "add(Event(run_id=run_id, seq=counted, text=text))"
INSERT = "execute(insert(Event).values(run_id=run_id, seq=counted, text=text))"
OF_RUN = "select(Event).where(Event.run_id == run_id, Event.seq > last)"
POSTGRES = "postgresql://db/app"


def scope_of(keys: str = KEY, write: str = ADD, read: str = OF_RUN, address: str = POSTGRES) -> Scope:
    """Whose the ids are of a server that counts in its memory and keeps what it counts in a table."""
    source = MAPPED.replace("KEYS", keys or "pass").replace("WRITE", write)
    ids = stream_of(source.replace("READ", read).replace("ADDRESS", address)).ids
    assert (ids.kind is IdKind.STORE) is (ids.scope is Scope.SHARED), ids.why
    return ids.scope


@pytest.mark.parametrize(
    "keys",
    [
        KEY,
        '__table_args__ = (UniqueConstraint("run_id", "seq", name="once"), {"schema": "app"})',
        "__table_args__ = (PrimaryKeyConstraint('run_id', 'seq'),)",
        '__table_args__ = (Index("once", "run_id", "seq", unique=True),)',
        '__table_args__ = (Index("once", run_id, seq, unique=True),)',
        '__table_args__ = (UniqueConstraint("seq"),)',
        "seq: Mapped[int] = mapped_column(unique=True)",
    ],
)
def test_the_table_refuses_a_number_that_it_has(keys: str) -> None:
    """Whoever asks for the run finds one event under a number, whichever process counted it."""
    assert scope_of(keys) is Scope.SHARED


@pytest.mark.parametrize(
    "keys",
    [
        "",
        '__table_args__ = (UniqueConstraint("run_id", "text"),)',
        '__table_args__ = (UniqueConstraint("run_id", "seq", "text"),)',
        '__table_args__ = (Index("quick", "run_id", "seq"),)',
        '__table_args__ = (Index("once", "run_id", "seq", unique=True, postgresql_where="text is null"),)',
        "seq: Mapped[int] = mapped_column(unique=False)",
    ],
)
def test_a_table_without_such_a_key(keys: str) -> None:
    """Look-alikes: other columns, one more of them, an index that only helps, one over a part of the rows."""
    assert scope_of(keys) is Scope.UNKNOWN


@pytest.mark.parametrize(
    ("read", "scope"),
    [
        ("select(Event).where((Event.run_id == run_id) & (Event.seq > last))", Scope.SHARED),
        ("select(Event).filter_by(run_id=run_id).where(Event.seq > last)", Scope.SHARED),
        ("select(Event).where(Event.seq > last)", Scope.UNKNOWN),
        ("select(Event).where(Event.run_id.in_([run_id, 'all']), Event.seq > last)", Scope.UNKNOWN),
        ("select(Event).where((Event.run_id == run_id) | (Event.text == 'all'), Event.seq > last)", Scope.UNKNOWN),
        ("select(Event).where(or_(Event.run_id == run_id, Event.text == 'all'), Event.seq > last)", Scope.UNKNOWN),
        ("select(Event).where(Event.run_id == Event.text, Event.seq > last)", Scope.UNKNOWN),
        ("select(Event).where(Event.text.in_(select(Run.id).where(Run.run_id == run_id)))", Scope.UNKNOWN),
        ("select(Event).where(Event.run_id == run_id, Event.text.in_(select(Run.id)))", Scope.SHARED),
        ("select(Event).where(Event.run_id == HOST, Event.seq > last)", Scope.UNKNOWN),
        ("select(Event).where(Event.run_id == POD, Event.seq > last)", Scope.UNKNOWN),
        ("select(Event).where(Event.run_id == shown, Event.seq > last)", Scope.UNKNOWN),
    ],
)
def test_what_is_asked_for(read: str, scope: Scope) -> None:
    """Look-alikes: events of several runs, or of what each process has for itself, have one number twice."""
    assert scope_of(read=read) is scope


@pytest.mark.parametrize(
    ("write", "scope"),
    [
        (INSERT, Scope.SHARED),
        (INSERT.replace("text))", "text).on_conflict_do_nothing())"), Scope.SHARED),
        (INSERT.replace("text))", "text).on_conflict_do_update(set_={'text': text}))"), Scope.UNKNOWN),
        (ADD.replace("add", "merge"), Scope.UNKNOWN),
    ],
)
def test_how_it_is_put_there(write: str, scope: Scope) -> None:
    """Look-alikes: what writes over the row that is there is not refused."""
    assert scope_of(write=write) is scope


@pytest.mark.parametrize(
    ("address", "scope"),
    [("sqlite:///app.db", Scope.SHARED), ("sqlite://", Scope.OVERLAPPING)],
)
def test_where_the_table_is(address: str, scope: Scope) -> None:
    """Look-alike: each process has a table of its own, and that refuses nothing of the others."""
    assert scope_of(address=address) is scope


SQL = """
import psycopg
from flask import Flask, Response, request

app = Flask(__name__)
db = psycopg.connect("postgresql://db/app")
db.execute("SCHEMA")
counted = 0


@app.post("/runs/<run>")
def publish(run):
    global counted
    counted += 1
    db.execute("INSERT INTO events (run, seq, text) VALUES (%s, %s, %s)CONFLICT", (run, counted, request.json["text"]))
    return "", 204


@app.get("/runs/<run>")
def watch(run):
    last = int(request.headers.get("Last-Event-ID", 0))

    def body():
        for seq, text in db.execute("SELECT seq, text FROM events WHERE HELD > %s", (run, last)).fetchall():
            yield f"id: {seq}\\ndata: {text}\\n\\n"

    return Response(body(), mimetype="text/event-stream")
"""
ONCE = "CREATE TABLE events (run text, seq int, text text, UNIQUE (run, seq))"
HELD = "run = %s AND seq"


@pytest.mark.parametrize(
    ("made", "held", "conflict", "scope"),
    [
        (ONCE, HELD, "", Scope.SHARED),
        (ONCE, HELD, " ON CONFLICT DO NOTHING", Scope.SHARED),
        (ONCE, HELD, " ON CONFLICT (run, seq) DO UPDATE SET text = excluded.text", Scope.UNKNOWN),
        (ONCE, "(run = %s OR run = 'all') AND seq", "", Scope.UNKNOWN),
        (ONCE, "text IN (SELECT id FROM runs WHERE run = %s) AND seq", "", Scope.UNKNOWN),
        (ONCE.replace(", UNIQUE (run, seq)", ""), HELD, "", Scope.UNKNOWN),
        (ONCE.replace("events", "others"), HELD, "", Scope.UNKNOWN),
    ],
)
def test_tables_that_statements_make(made: str, held: str, conflict: str, scope: Scope) -> None:
    """Look-alikes: another table, a row that is written over, rows of more than the run."""
    source = SQL.replace("SCHEMA", made).replace("HELD", held).replace("CONFLICT", conflict)
    assert stream_of(source).ids.scope is scope


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("CREATE TABLE t (a int PRIMARY KEY, b text)", [{"a"}]),
        ("create table if not exists app.t (a int, b text, primary key (a, b))", [{"a", "b"}]),
        ('CREATE TABLE "t" (a int, b varchar(3) NOT NULL UNIQUE)', [{"b"}]),
        ("CREATE TABLE t (a int, CONSTRAINT once UNIQUE (a))", [{"a"}]),
        ("CREATE TABLE u (a int); CREATE UNIQUE INDEX i ON t USING btree (a, b DESC)", [{"a", "b"}]),
        ("ALTER TABLE t ADD CONSTRAINT once UNIQUE (a, b)", [{"a", "b"}]),
        ("CREATE UNIQUE INDEX i ON t (a) WHERE b IS NULL", []),
        ("CREATE UNIQUE INDEX i ON t (lower(a))", []),
        ("CREATE INDEX i ON t (a)", []),
        ("CREATE TABLE t (a int REFERENCES u (b), c text DEFAULT 'UNIQUE')", []),
        ("CREATE TABLE", []),
        ("SELECT a FROM t", []),
    ],
)
def test_the_keys_of_a_script(text: str, found: list[set[str]]) -> None:
    """Look-alikes: what holds for a part of the rows, or for what is made of a column, is no key of it."""
    assert schema.keys(text) == tuple(("t", frozenset(key)) for key in found)


PEEWEE = """
from flask import Flask, Response, request
from peewee import CharField, CompositeKey, IntegerField, Model, PostgresqlDatabase

app = Flask(__name__)
counted = 0


class Event(Model):
    run = CharField()
    seq = IntegerField()
    text = CharField()

    class Meta:
        database = PostgresqlDatabase("app")
        KEYS


@app.post("/runs/<run>")
def publish(run):
    global counted
    counted += 1
    Event.create(run=run, seq=counted, text=request.json["text"])
    return "", 204


@app.get("/runs/<run>")
def watch(run):
    last = int(request.headers.get("Last-Event-ID", 0))

    def body():
        for event in Event.select().where((Event.run == run) & (Event.seq > last)):
            yield f"id: {event.seq}\\ndata: {event.text}\\n\\n"

    return Response(body(), mimetype="text/event-stream")
"""
TORTOISE = """
from fastapi import FastAPI, Request
from fastapi.responses import StreamingResponse
from tortoise import fields
from tortoise.contrib.fastapi import register_tortoise
from tortoise.models import Model

app = FastAPI()
register_tortoise(app, db_url="postgres://db/app", modules={"models": ["app"]})
counted = 0


class Event(Model):
    run = fields.CharField(max_length=40)
    seq = fields.IntField()
    text = fields.TextField()

    class Meta:
        KEYS


@app.post("/runs/{run}")
async def publish(run: str, text: str):
    global counted
    counted += 1
    await Event.create(run=run, seq=counted, text=text)


@app.get("/runs/{run}")
async def watch(run: str, request: Request):
    last = int(request.headers.get("Last-Event-ID", 0))

    async def body():
        async for event in Event.filter(run=run, seq__gt=last).order_by("seq"):
            yield f"id: {event.seq}\\ndata: {event.text}\\n\\n"

    return StreamingResponse(body(), media_type="text/event-stream")
"""


@pytest.mark.parametrize(
    "asked", ["Event.exclude(run=run, seq__lte=last)", "Event.filter(seq__gt=last).exclude(run=run)"]
)
def test_all_but_one_run(asked: str) -> None:
    """Look-alike: the run that is named is the one whose events are left out."""
    source = TORTOISE.replace("KEYS", 'unique_together = ("run", "seq")')
    assert stream_of(source.replace("Event.filter(run=run, seq__gt=last)", asked)).ids.scope is Scope.UNKNOWN


@pytest.mark.parametrize(
    ("program", "keys", "scope"),
    [
        (PEEWEE.replace("Event.create(", "Event.insert("), 'indexes = ((("run", "seq"), True),)', Scope.UNKNOWN),
        (PEEWEE, 'indexes = ((("run", "seq"), True),)', Scope.SHARED),
        (PEEWEE, 'primary_key = CompositeKey("run", "seq")', Scope.SHARED),
        (PEEWEE, 'indexes = ((("run", "seq"), False),)', Scope.UNKNOWN),
        (TORTOISE, 'unique_together = (("run", "seq"),)', Scope.SHARED),
        (TORTOISE, 'unique_together = ("run", "seq")', Scope.SHARED),
        (TORTOISE, 'indexes = (("run", "seq"),)', Scope.UNKNOWN),
        (TORTOISE, 'unique_together = (("run", "text"),)', Scope.UNKNOWN),
    ],
)
def test_keys_that_stand_in_the_meta_class(program: str, keys: str, scope: Scope) -> None:
    """Look-alikes: an index that only helps, a key of other columns, and a call that may yet write over rows."""
    assert stream_of(program.replace("KEYS", keys)).ids.scope is scope


DJANGO = """
from django.db import models
from django.http import HttpResponse, StreamingHttpResponse
from django.urls import path

counted = 0


class Event(models.Model):
    run = models.CharField(max_length=40)
    seq = models.IntegerField()
    text = models.TextField()

    class Meta:
        KEYS


def publish(request, run):
    global counted
    counted += 1
    Event.objects.WRITE
    return HttpResponse(status=204)


def watch(request, run):
    last = int(request.headers.get("Last-Event-ID", 0))

    def body():
        for event in Event.objects.filter(run=run, seq__gt=last).order_by("seq"):
            yield f"id: {event.seq}\\ndata: {event.text}\\n\\n"

    return StreamingHttpResponse(body(), content_type="text/event-stream")


urlpatterns = [path("runs/<run>/publish", publish), path("runs/<run>", watch)]
"""
SETTINGS = """
ROOT_URLCONF = "app"
DATABASES = {"default": {"ENGINE": "django.db.backends.postgresql", "NAME": "app"}}
"""
CREATE = 'create(run=run, seq=counted, text="said")'
OF_FIELDS = 'constraints = [models.UniqueConstraint(fields=["run", "seq"], name="once")]'


@pytest.mark.parametrize(
    ("keys", "write", "scope"),
    [
        (OF_FIELDS, CREATE, Scope.SHARED),
        ('unique_together = [("run", "seq")]', CREATE, Scope.SHARED),
        (OF_FIELDS.replace("name=", 'condition=models.Q(text="said"), name='), CREATE, Scope.UNKNOWN),
        ('indexes = [models.Index(fields=["run", "seq"])]', CREATE, Scope.UNKNOWN),
        (OF_FIELDS, CREATE.replace("create", "update_or_create"), Scope.UNKNOWN),
    ],
)
def test_keys_of_django_models(keys: str, write: str, scope: Scope) -> None:
    """Look-alikes: a constraint for some rows, an index that only helps, a row that is written over."""
    files = {"app.py": DJANGO.replace("KEYS", keys).replace("WRITE", write), "settings.py": SETTINGS}
    assert stream_of(files).ids.scope is scope
