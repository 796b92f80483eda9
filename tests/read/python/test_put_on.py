"""Records that are made empty and then filled by `setattr`, a column at a time."""

from __future__ import annotations

import pytest

from sselint.facts import IdKind, Outcome, Where
from tests.read.python.programs import stream_of

ROWS = """
import sqlite3
from dataclasses import dataclass
from flask import Flask, Response, request

app = Flask(__name__)
db = sqlite3.connect("said.db")


{record}


def made(row):
    said = Said()
    for name, value in row.items():
        setattr(said, name, value)
    return said


@app.get("/feed")
def feed():
    since = int(request.headers.get("Last-Event-ID", 0))

    def body():
        for row in db.execute("SELECT id, text FROM said WHERE id > ? ORDER BY id", (since,)).fetchall():
            said = made(row)
            if said.id is None:
                continue
            yield f"id: {{said.id}}\\ndata: {{said.text}}\\n\\n"

    return Response(body(), mimetype="text/event-stream")
"""

RECORD = """
@dataclass
class Said:
    id: int | None = None
    text: str | None = None
"""
PLAIN = """
class Said:
    def __init__(self):
        self.id = None
        self.text = ""
"""
INHERITED = """
@dataclass
class Kept:
    id: int | None = None


@dataclass
class Said(Kept):
    text: str = ""
"""


@pytest.mark.parametrize("record", [RECORD, PLAIN, INHERITED])
def test_a_record_that_is_filled_column_by_column_holds_the_row(record: str) -> None:
    stream = stream_of(ROWS.format(record=record))
    assert stream.ids.kind is IdKind.STORE, stream.ids.why
    assert stream.replay.where is Where.POD_DISK
    assert stream.on_foreign.outcome is Outcome.COMPARED


COUNTED = """
import itertools
from flask import Flask, Response, request

app = Flask(__name__)
numbers = itertools.count(1)
rows = []


class Said:
    def __init__(self):
        self.id = next(numbers)
        self.text = ""


@app.post("/say")
def say():
    said = Said()
    for name, value in request.json.items():
        {puts}
    rows.append(said)
    return "", 204


@app.get("/feed")
def feed():
    since = int(request.headers.get("Last-Event-ID", 0))

    def body():
        for said in rows:
            if said.id > since:
                yield f"id: {{said.id}}\\ndata: {{said.text}}\\n\\n"

    return Response(body(), mimetype="text/event-stream")
"""


@pytest.mark.parametrize("puts", ["setattr(said, name, value)", 'setattr(said, "text", value)'])
def test_what_a_record_was_given_as_it_was_made_it_keeps(puts: str) -> None:
    """A server that numbers its events and takes their other fields from outside still numbers them."""
    stream = stream_of(COUNTED.format(puts=puts))
    assert stream.ids.kind is IdKind.COUNTER, stream.ids.why
    assert stream.replay.where is Where.MEMORY
    assert stream.on_foreign.outcome is Outcome.COMPARED
