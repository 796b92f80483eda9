"""A query parameter as the cursor, where events have ids and nothing reads the header."""

from __future__ import annotations

import pytest

from sselint.facts import Outcome, Truth
from tests.read.python.programs import stream_of

NEWS = """
import sqlite3
from fastapi import FastAPI, Request
from fastapi.responses import StreamingResponse

app = FastAPI()


@app.post("/news")
def publish(text: str):
    with sqlite3.connect("news.db") as database:
        database.execute("INSERT INTO news (text) VALUES (?)", (text,))


@app.get("/news")
def news(request: Request, after: int = 0):
    LAST

    def body():
        with sqlite3.connect("news.db") as database:
            for number, text in database.execute("SELECT id, text FROM news WHERE id > ?", (last,)):
                yield f"id: {number}\\ndata: {text}\\n\\n"

    return StreamingResponse(body(), media_type="text/event-stream")
"""


def test_a_client_that_keeps_the_address_comes_back_with_a_query() -> None:
    stream = stream_of(NEWS.replace("LAST", "last = after"))
    assert (stream.cursor.read, stream.cursor.how) == (Truth.YES, "query after")
    assert stream.on_foreign.outcome is Outcome.COMPARED


@pytest.mark.parametrize(
    "last", ["last = 0", "last = 0\n    print(after)", "last = request.query_params.get('page', 0)"]
)
def test_a_query_that_nothing_is_asked_with_is_no_cursor(last: str) -> None:
    """Look-alikes: the parameter leads to nothing, or is no name of a place in a stream."""
    stream = stream_of(NEWS.replace("LAST", last))
    assert stream.cursor.read is Truth.NO
    assert stream.on_foreign.outcome is Outcome.NOT_READ


def test_the_header_comes_first() -> None:
    """Look-alike: the header is read, and the query only says where a new client begins."""
    stream = stream_of(NEWS.replace("LAST", 'last = int(request.headers.get("Last-Event-ID") or after)'))
    assert stream.cursor.how == "header last-event-id"


ASKED_FOR = """
from typing import Optional

import asyncpg
from fastapi import FastAPI, Header, Query
from fastapi.responses import StreamingResponse

app = FastAPI()


def number(header: Optional[str]) -> Optional[int]:
    try:
        return int(header) if header is not None else None
    except ValueError:
        return None


@app.post("/notes")
async def note(text: str):
    db = await asyncpg.connect("postgres://db/notes")
    await db.execute("INSERT INTO notes (text) VALUES ($1)", text)


@app.get("/notes")
async def notes(since: Optional[int] = Query(None), last_event_id: Optional[str] = Header(None)):
    start = CHOSEN

    async def body():
        db = await asyncpg.connect("postgres://db/notes")
        if start is not None:
            for row in await db.fetch("SELECT id, text FROM notes WHERE id > $1 ORDER BY id", start):
                yield f"id: {row['id']}\\ndata: {row['text']}\\n\\n"
        while True:
            async for note in news(db):
                yield f"id: {note.id}\\ndata: {note.text}\\n\\n"

    return StreamingResponse(body(), media_type="text/event-stream")
"""


def test_who_comes_first_asks_for_nothing() -> None:
    """Without a cursor, and with one that is no number, only the client's own query would ask for what was: it is left
    out unless the client keeps its address itself."""
    stream = stream_of(ASKED_FOR.replace("CHOSEN", "number(last_event_id) or since"))
    assert stream.on_foreign.outcome is Outcome.COMPARED
    assert stream.on_missing is not None
    assert stream.on_missing.outcome is not Outcome.REPLAY_ALL
    assert stream.on_malformed is not None
    assert stream.on_malformed.outcome is Outcome.IGNORED


def test_a_cursor_that_is_no_number_is_refused_where_no_query_stands_in_for_it() -> None:
    chosen = ASKED_FOR.replace("return None", 'raise HTTPException(400, "not a number")').replace(
        "Header,", "Header, HTTPException,"
    )
    stream = stream_of(chosen.replace("CHOSEN", "since if since is not None else number(last_event_id)"))
    assert stream.on_malformed is not None
    assert (stream.on_malformed.outcome, stream.on_malformed.status) == (Outcome.FAIL_CLOSED, 400)


def test_where_all_is_asked_for_without_a_query_who_comes_first_gets_it() -> None:
    """Look-alike: what is left out is the beginning."""
    stream = stream_of(ASKED_FOR.replace("CHOSEN", "number(last_event_id) or since or 0"))
    assert stream.on_missing is not None
    assert stream.on_missing.outcome is Outcome.REPLAY_ALL


POLLED = """
import asyncio
import sqlite3

from fastapi import FastAPI, Header
from fastapi.responses import StreamingResponse

app = FastAPI()
db = sqlite3.connect("/data/tasks.db")


@app.post("/tasks/{task}")
async def step(task: str, kind: str):
    db.execute("INSERT INTO steps (task, kind) VALUES (?, ?)", (task, kind))


@app.get("/tasks/{task}")
async def steps(task: str, last_event_id: int = Header(default=0)):
    async def body():
        seen = FIRST
        while True:
            for row in db.execute("SELECT id, kind FROM steps WHERE task = ? AND id > ?", (task, seen)):
                seen = row["id"]
                if row["kind"] != "hidden":
                    yield f"id: {seen}\\ndata: {row['kind']}\\n\\n"
            await asyncio.sleep(1)

    return StreamingResponse(body(), media_type="text/event-stream")
"""


def test_who_comes_first_gets_all_although_what_is_hidden_comes_before_it() -> None:
    """A round in which nothing is sent moves the place from which the next one asks; still it began at the start."""
    stream = stream_of(POLLED.replace("FIRST", "last_event_id"))
    assert stream.on_foreign.outcome is Outcome.COMPARED
    assert stream.on_missing is not None
    assert stream.on_missing.outcome is Outcome.REPLAY_ALL
