"""Rows that are copied into a dict with something added: every column is there under its name."""

from __future__ import annotations

import pytest

from sselint.facts import IdKind, Outcome, Where
from tests.read.python.programs import stream_of

SERVER = """
import sqlite3

from elsewhere import rows_behind
from flask import Flask, Response, request

app = Flask(__name__)


def stored(last):
    return sqlite3.connect("news.db").execute("SELECT * FROM news WHERE id > ? ORDER BY id", (last,))


@app.get("/feed")
def feed():
    last = request.headers.get("Last-Event-ID", "0")

    def events():
        for row in ROWS(last):
            said = COPY
            yield f"id: {said['id']}\\ndata: {said}\\n\\n"

    return Response(events(), mimetype="text/event-stream")
"""

COPIES = ['{**row, "kind": "news"}', '{"kind": "news", **dict(row)}', 'dict(row, kind="news")', "dict(row)"]


@pytest.mark.parametrize("copy", COPIES)
def test_a_row_of_a_database_keeps_its_columns(copy: str) -> None:
    stream = stream_of(SERVER.replace("ROWS", "stored").replace("COPY", copy))
    assert (stream.ids.kind, stream.replay.where) == (IdKind.STORE, Where.POD_DISK)
    assert stream.on_foreign.outcome is Outcome.COMPARED


@pytest.mark.parametrize("copy", COPIES)
def test_a_row_from_out_of_sight_has_whatever_is_asked_for(copy: str) -> None:
    stream = stream_of(SERVER.replace("ROWS", "rows_behind").replace("COPY", copy))
    assert stream.ids.kind is IdKind.UNKNOWN
    assert stream.on_foreign.outcome is Outcome.UNKNOWN


def test_what_is_added_takes_the_place_of_a_column() -> None:
    """Look-alike: the id is written down, whatever the row has."""
    stream = stream_of(SERVER.replace("ROWS", "stored").replace("COPY", '{**row, "id": 7}'))
    assert stream.ids.kind is not IdKind.STORE


def test_a_dict_that_is_written_down_has_no_other_entries() -> None:
    """Look-alike: what it does not have is missing, and the server fails."""
    stream = stream_of(SERVER.replace("ROWS", "stored").replace("COPY", '{**{"kind": "news"}}'))
    assert stream.ids.kind is not IdKind.STORE
