"""Stores that are asked in a language of their own: for the entry of the cursor, or for what comes behind it."""

from __future__ import annotations

import textwrap

import pytest

from sselint.facts import IdKind, Outcome, Scope, Where
from sselint.read.python.stores import sql
from tests.read.python.programs import answered, stream_of

HANDLER = """
last = request.headers.get("last-event-id")
after = 0
if last:
    {ask}
    if row is None:
        {missing}
    after = row[0]

async def body():
    {read}
        yield {{"id": key, "data": text}}

return EventSourceResponse(body())
"""
REFUSE = "return Response(status_code=410)"

ASYNCPG = (
    """
    import uuid
    import asyncpg

    pool = asyncpg.create_pool("postgresql://db/app")


    async def publish(text):
        await pool.execute("INSERT INTO events (name, text) VALUES ($1, $2)", {made}, text)
    """,
    'row = await pool.fetchrow("SELECT number FROM events WHERE name {sign} $1", last)',
    'for key, text in await pool.fetch("SELECT name, text FROM events WHERE number > $1", after):',
)
PSYCOPG = (
    """
    import uuid
    import psycopg

    db = psycopg.connect("postgresql://db/app")


    def publish(text):
        db.execute("INSERT INTO events (name, text) VALUES (%(name)s, %(text)s)", {{"name": {made}, "text": text}})
    """,
    'cursor = db.cursor()\n    cursor.execute("SELECT number FROM events WHERE name {sign} %s", (last,))\n'
    "    row = cursor.fetchone()",
    'for key, text in db.execute("SELECT name, text FROM events WHERE number > %s", (after,)).fetchall():',
)
SQLITE = (
    """
    import sqlite3
    import uuid

    db = sqlite3.connect("/data/events.db")


    def publish(text):
        db.execute("INSERT INTO events (name, text) VALUES (?, ?)", [{made}, text])
    """,
    'row = db.execute("SELECT rowid FROM events WHERE name {sign} ?", (last,)).fetchone()',
    'for key, text in db.execute("SELECT name, text FROM events WHERE rowid > ?", (after,)):',
)
SQLALCHEMY = (
    """
    import uuid
    from sqlalchemy import create_engine, text as statement
    from sqlalchemy.orm import Session

    db = Session(create_engine("postgresql://db/app"))


    def publish(text):
        insert = statement("INSERT INTO events (name, text) VALUES (:name, :text)")
        db.execute(insert, {{"name": {made}, "text": text}})
    """,
    'row = db.execute(statement("SELECT number FROM events WHERE name {sign} :name"), {{"name": last}}).one_or_none()',
    'for key, text in db.execute(statement("SELECT name, text FROM events WHERE number > :n"), {{"n": after}}):',
)
LANGUAGES = [ASYNCPG, PSYCOPG, SQLITE, SQLALCHEMY]


def program(
    language: tuple[str, str, str], *, made: str = "str(uuid.uuid4())", sign: str = "=", missing: str = REFUSE
) -> str:
    """A server that keeps its events in a database and asks it for the one that the client names."""
    store, ask, read = language
    handler = HANDLER.format(ask=ask.format(sign=sign), missing=missing, read=read.format())
    return answered(handler, textwrap.dedent(store).format(made=made))


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    ("sign", "missing", "outcome"),
    [
        ("=", REFUSE, Outcome.FAIL_CLOSED),
        ("=", "row = (0,)", Outcome.REPLAY_ALL),
        (">=", REFUSE, Outcome.COMPARED),
    ],
)
def test_the_row_of_the_cursor(language: tuple[str, str, str], sign: str, missing: str, outcome: Outcome) -> None:
    """An id that nobody gave out has no row. Look-alikes: where there is none, all that comes behind 0 is sent;
    and something always compares."""
    assert stream_of(program(language, sign=sign, missing=missing)).on_foreign.outcome is outcome


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_is_put_into_a_column_comes_out_of_it(language: tuple[str, str, str]) -> None:
    """The ids are made by the process. Look-alike: they come from elsewhere, and the store is asked what they are."""
    assert stream_of(program(language)).ids.kind is IdKind.RANDOM
    ours = stream_of(program(language, made="text"))
    assert (ours.ids.kind, ours.ids.scope) == (IdKind.STORE, Scope.SHARED)


def test_a_number_of_the_process_in_a_table() -> None:
    """Two processes count the same; whether the table takes a number twice, or only for each run once, is not seen."""
    store = ASYNCPG[0].replace("import uuid", "import itertools\n    numbers = itertools.count(1)")
    ids = stream_of(program((store, *ASYNCPG[1:]), made="next(numbers)")).ids
    assert (ids.kind, ids.scope) == (IdKind.COUNTER, Scope.UNKNOWN)


MAPPED = """
import uuid
from sqlalchemy import Column, Integer, String, create_engine, select
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column

db = Session(create_engine("postgresql://db/app"))
told = []


class Base(DeclarativeBase):
    pass


class Event(Base):
    {column}
    text = Column(String)


def publish(text):
    event = Event(text=text)
    db.add(event)
    db.commit()
    told.append(event)
"""
TOLD = """
async def body():
    for event in told:
        yield {"id": event.number, "data": event.text}

return EventSourceResponse(body())
"""


@pytest.mark.parametrize(
    ("column", "kind"),
    [
        ("number = Column(Integer, primary_key=True)", IdKind.STORE),
        ("number: Mapped[int] = mapped_column(primary_key=True)", IdKind.STORE),
        ("number = Column(String, primary_key=True, default=uuid.uuid4)", IdKind.RANDOM),
        ("number: Mapped[str] = mapped_column(default=lambda: uuid.uuid4().hex)", IdKind.RANDOM),
        ("number: Mapped[int] = mapped_column()", IdKind.UNKNOWN),
    ],
)
def test_the_key_of_a_mapped_object(column: str, kind: IdKind) -> None:
    """The database numbers its keys, and defaults are made by the process. Look-alike: nobody is seen to set it."""
    assert stream_of(answered(TOLD, MAPPED.format(column=column))).ids.kind is kind


CONDITIONS = {
    "select(Event.text).where(Event.number == last)": Outcome.FAIL_CLOSED,
    "select(Event.text).where(Event.number > last)": Outcome.COMPARED,
    "select(Event.text).where((Event.number == last) & (Event.text != ''))": Outcome.FAIL_CLOSED,
}
FOUND = """
last = request.headers.get("last-event-id")
row = db.execute({ask}).first() if last else ()
if row is None:
    return Response(status_code=410)

async def body():
    for event in db.scalars(select(Event).where(Event.text > "")):
        yield {{"id": event.number, "data": event.text}}

return EventSourceResponse(body())
"""


@pytest.mark.parametrize("ask", CONDITIONS)
def test_conditions_of_a_mapper(ask: str) -> None:
    store = MAPPED.format(column="number = Column(Integer, primary_key=True)")
    found = stream_of(answered(FOUND.format(ask=ask), store)).on_foreign.outcome
    assert (found is Outcome.FAIL_CLOSED) == (CONDITIONS[ask] is Outcome.FAIL_CLOSED)


MONGO = """
import pymongo
events = pymongo.MongoClient("mongodb://db").app.events


def publish(text):
    events.insert_one({"text": text})
"""
FILTERED = """
last = request.headers.get("last-event-id")
if last and events.find_one({ask}) is None:
    return Response(status_code=410)

async def body():
    for event in events.find({{"_id": {{"$gt": last}}}}):
        yield {{"id": event["_id"], "data": event["text"]}}

return EventSourceResponse(body())
"""


@pytest.mark.parametrize(
    ("ask", "outcome"),
    [
        ('{"_id": last}', Outcome.FAIL_CLOSED),
        ('{"_id": {"$eq": last}}', Outcome.FAIL_CLOSED),
        ('{"_id": {"$gt": last}}', Outcome.COMPARED),
    ],
)
def test_filters_of_documents(ask: str, outcome: Outcome) -> None:
    stream = stream_of(answered(FILTERED.format(ask=ask), MONGO))
    assert stream.on_foreign.outcome is outcome
    assert stream.replay.where is Where.SHARED


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SELECT id, e.text FROM app.events e WHERE seq > $1", ("events", (("id", "id"), ("text", "text")), ">")),
        ("select seq as id from events where (at, seq) > (?, ?)", ("events", (("id", "seq"),), ">")),
        ("SELECT * FROM events WHERE seq > (SELECT seq FROM events WHERE id = %s)", ("events", (), "=")),
        ("SELECT max(seq) AS top FROM events WHERE seq > coalesce(:last::int, 0)", ("events", (("top", ""),), ">")),
        ('SELECT body FROM "Events" WHERE id IN (?)', ("events", (("body", "body"),), "IN")),
        ("SELECT body FROM events WHERE $1 < seq", ("events", (("body", "body"),), "<")),
        ("SELECT body FROM events -- WHERE id = ?\nLIMIT ?", ("events", (("body", "body"),), "")),
    ],
)
def test_what_a_question_in_sql_says(text: str, expected: tuple[str, tuple[tuple[str, str], ...], str]) -> None:
    statement = sql.parse(text)
    assert statement is not None
    assert (statement.table, statement.selects, statement.held[-1][1]) == expected


@pytest.mark.parametrize(
    ("text", "inserts"),
    [
        ("INSERT INTO events (id, text) VALUES (?, ?)", (("id", 0), ("text", 1))),
        ("INSERT INTO events (id, at, text) VALUES ($2, now(), $1)", (("id", 1), ("text", 0))),
        ("INSERT INTO e (seq, text) SELECT coalesce(max(seq), 0) + 1, %s FROM e", (("text", 0),)),
        ("INSERT OR REPLACE INTO e (id) VALUES (%(name)s) ON CONFLICT (id) DO NOTHING", (("id", "name"),)),
        ("INSERT INTO e VALUES (?, ?)", ()),
    ],
)
def test_what_a_statement_puts_where(text: str, inserts: tuple[tuple[str, int | str], ...]) -> None:
    statement = sql.parse(text)
    assert statement is not None
    assert statement.inserts == inserts


@pytest.mark.parametrize("text", ["", "hello", "NOTIFY news", "UPDATE e SET n = ?", "DELETE FROM e", "(((", "select"])
def test_text_that_asks_nothing(text: str) -> None:
    statement = sql.parse(text)
    assert statement is None or not (statement.inserts or statement.held)
