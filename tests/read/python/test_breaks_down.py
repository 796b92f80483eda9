"""A handler that fails of itself for a setting that is not well formed refuses everybody: not the cursor."""

from __future__ import annotations

import pytest

from sselint.facts import Outcome
from tests.read.python.programs import stream_of

NEWS = """
import os, sqlite3
from fastapi import FastAPI, Header, HTTPException
from fastapi.responses import StreamingResponse

app = FastAPI()


def strict():
    raw = os.environ.get("STRICT", "").strip().lower()
    if raw in ("1", "yes"):
        return True
    if raw in ("", "0", "no"):
        return False
    raise ValueError("STRICT must be yes or no")


def number_of(raw):
    if raw is None or raw == "":
        return 0
    return int(raw)


@app.post("/news")
def publish(text: str):
    with sqlite3.connect("news.db") as database:
        database.execute("INSERT INTO news (text) VALUES (?)", (text,))


@app.get("/news")
def news(last_event_id: str | None = Header(None)):
    last = number_of(last_event_id)
    asked = strict()
    CHECKED

    def body():
        with sqlite3.connect("news.db") as database:
            for number, text in database.execute("SELECT id, text FROM news WHERE id > ?", (last,)):
                yield f"id: {number}\\ndata: {text}\\n\\n"

    return StreamingResponse(body(), media_type="text/event-stream")
"""


@pytest.mark.parametrize(
    ("checked", "outcome"),
    [
        ("", Outcome.COMPARED),
        ("if asked and last: raise HTTPException(410)", Outcome.UNKNOWN),
    ],
    ids=["it is read", "it refuses cursors"],
)
def test_a_setting_that_is_not_well_formed_says_nothing_of_the_cursor(checked: str, outcome: Outcome) -> None:
    """Look-alike: whether a cursor is refused is what the setting says."""
    run = stream_of(NEWS.replace("CHECKED", checked)).on_foreign
    assert run.outcome is outcome
    assert ("STRICT" in run.why) is (outcome is Outcome.UNKNOWN)
