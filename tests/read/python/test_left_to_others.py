"""What start-up leaves to functions of other files: they fill what requests find, and do much else before."""

from __future__ import annotations

import pytest

from sselint.facts import IdKind, Outcome, Where
from sselint.read.python.answers import streams
from tests.read.python.programs import reading_of, stream_of

APP = """
from fastapi import FastAPI, HTTPException, Request
from fastapi.responses import StreamingResponse
from holding import Held
from parts import put_together

app = FastAPI()
app.state = Held()


@app.on_event("startup")
async def start():
    await put_together(app.state)


@app.post("/say")
async def say(text: str, request: Request):
    log = request.app.state.log
    log.append((len(log) + 1, text))


@app.get("/feed")
async def feed(request: Request):
    log = request.app.state.log
    if log is None:
        raise HTTPException(status_code=503)
    last = int(request.headers.get("last-event-id", "0"))

    async def body():
        for number, text in list(log):
            if number > last:
                yield f"id: {number}\\ndata: {text}\\n\\n"

    return StreamingResponse(body(), media_type="text/event-stream")
"""
HOLDING = """
from dataclasses import dataclass


@dataclass
class Held:
    table: list | None = None
    log: list | None = None
"""
PARTS = """
from tables import reckoned


async def put_together(held):
    held.table = reckoned(9)
{then}
"""
TABLES = "def reckoned(depth):\n    total = []\n" + "    total.append([depth, 1])\n" * 900 + "    return total\n"


def test_a_long_call_of_start_up_costs_nothing_that_stands_behind_it() -> None:
    files = {"app.py": APP, "holding.py": HOLDING, "tables.py": TABLES}
    stream = stream_of({**files, "parts.py": PARTS.format(then="    held.log = []")})
    assert (stream.ids.kind, stream.replay.where) == (IdKind.INDEX, Where.MEMORY)
    assert stream.on_foreign.outcome is Outcome.COMPARED


def test_what_start_up_never_fills_is_not_there() -> None:
    """Look-alike: the call behind which nothing is filled is as long."""
    files = {"app.py": APP, "holding.py": HOLDING, "tables.py": TABLES}
    reading = reading_of({**files, "parts.py": PARTS.format(then="    held.table = None")})
    assert not any(s.replay.where is Where.MEMORY for s in reading.streams)


@pytest.mark.parametrize(
    ("then", "found"),
    [
        ("    held.log = []", [IdKind.INDEX]),
        ("    held.log = None", []),  # look-alike: there is nothing else to begin with
    ],
)
def test_what_start_up_fills_is_asked_for_before_that_nothing_is_there(
    then: str, found: list[IdKind], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One path is all that is followed: it is the one on which the place is filled."""
    monkeypatch.setattr(streams, "SHAPE_PATHS", 1)
    monkeypatch.setattr(streams, "PATHS", 1)
    files = {"app.py": APP, "holding.py": HOLDING, "parts.py": PARTS.format(then=then), "tables.py": TABLES}
    assert [s.ids.kind for s in reading_of(files).streams] == found
