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
