"""Events that hold all that is new at once, how things stand before them, and readers that nobody can see into."""

from __future__ import annotations

import pytest

from sselint.facts import IdKind, Outcome, Where
from tests.read.python.programs import stream_of

POLLED = """
import asyncio, sqlite3
from dataclasses import dataclass

from fastapi import FastAPI, Header
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import StreamingResponse

app = FastAPI()


@dataclass
class News:
    rows: list
    position: int


class Rows:
    def news(self, after):
        rows = sqlite3.connect("news.db").execute(
            "SELECT position, text FROM news WHERE position > ? ORDER BY position", (after,)
        ).fetchall()
        return News(rows, max(int(row["position"]) for row in rows) if rows else after)


KEEPER


async def apart(read, *given, **named):
    return await run_in_threadpool(read, *given, **named)


async def frames(position):
    while True:
        news = await CALL
        if news.rows:
            yield f"id: {news.position}\\ndata: {news.rows}\\n\\n"
            position = news.position
        await asyncio.sleep(1)


@app.get("/news")
def feed(last_event_id: str | None = Header(None)):
    return StreamingResponse(frames(int(last_event_id or 0)), media_type="text/event-stream")
"""


@pytest.mark.parametrize("call", ["apart(keeper.news, position)", "apart(keeper.news, after=position)"])
def test_all_that_is_new_in_one_event_is_what_compares(call: str) -> None:
    stream = stream_of(POLLED.replace("KEEPER", "keeper = Rows()").replace("CALL", call))
    assert (stream.ids.kind, stream.replay.where) == (IdKind.STORE, Where.POD_DISK)
    assert stream.on_foreign.outcome is Outcome.COMPARED


@pytest.mark.parametrize("keeper", ["from elsewhere import keeper", "keeper = make_keeper()"])
@pytest.mark.parametrize("call", ["apart(keeper.news, position)", "run_in_threadpool(keeper.news, after=position)"])
def test_what_nobody_can_see_into_may_use_the_cursor(keeper: str, call: str) -> None:
    """Look-alike: it is handed the cursor in a thread, and what it makes of it is not known."""
    stream = stream_of(POLLED.replace("KEEPER", keeper).replace("CALL", call))
    assert stream.on_foreign.outcome is Outcome.UNKNOWN
    assert stream.replay.where is Where.UNKNOWN


TOLD = """
import asyncio, itertools

from fastapi import FastAPI, Request
from fastapi.responses import StreamingResponse

app = FastAPI()
numbers = itertools.count(1)
open_alarms = {}
listeners = []


@app.post("/alarm")
async def alarm(name: str):
    open_alarms[name] = "raised"
    for listener in listeners:
        listener.put_nowait(f"id: {next(numbers)}\\ndata: {name}\\n\\n")


@app.get("/alarms")
async def feed(request: Request):
    READ

    async def frames():
        mine = asyncio.Queue()
        listeners.append(mine)
        for name in open_alarms:
            yield f"ID" + f"data: {name}\\n\\n"
        while True:
            yield await mine.get()

    return StreamingResponse(frames(), media_type="text/event-stream")
"""


def test_how_things_stand_is_no_replay() -> None:
    stream = stream_of(TOLD.replace("READ", "pass").replace("ID", ""))
    assert (stream.ids.kind, stream.replay.where) == (IdKind.COUNTER, Where.NONE)


@pytest.mark.parametrize(
    ("read", "identity"),
    [("pass", "id: {next(numbers)}\\n"), ("last = request.headers.get('last-event-id')", "")],
)
def test_what_is_told_again_with_an_id_or_to_one_who_asks_is_one(read: str, identity: str) -> None:
    """Look-alikes: it has ids of its own, or the cursor is read."""
    stream = stream_of(TOLD.replace("READ", read).replace("ID", identity))
    assert stream.replay.where is Where.MEMORY


TAILED = """
import json, os, time

from flask import Flask, Response

app = Flask(__name__)


@app.get("/log")
def log():
    def lines():
        with open("/var/log/news.jsonl") as file:
            SEEK
            while True:
                for line in file:
                    said = json.loads(line)
                    yield f"id: {said['number']}\\ndata: {said['text']}\\n\\n"
                time.sleep(1)

    return Response(lines(), mimetype="text/event-stream")
"""


@pytest.mark.parametrize(
    ("seek", "from_start"),
    [
        ("file.seek(0, os.SEEK_END)", False),
        ("file.seek(0, 2)", False),
        ("file.seek(0)", True),
        ("file.seek(0, os.SEEK_SET)", True),
    ],
)
def test_a_file_is_followed_from_its_end_or_read_from_its_start(seek: str, from_start: bool) -> None:
    stream = stream_of(TAILED.replace("SEEK", seek))
    assert (stream.on_missing.outcome is Outcome.REPLAY_ALL) == from_start


SPREAD = """
import asyncio

from elsewhere import store
from fastapi import FastAPI, Header
from fastapi.responses import StreamingResponse

app = FastAPI()


def news(after):
    with store.reading() as connection:
        said = connection.said_behind(after)
        done = connection.done_behind(after)
    positions = [int(row["position"]) for row in ROWS]
    return tuple(str(row) for row in said), max(positions) if positions else after


async def frames(position):
    while True:
        rows, position = news(position)
        if rows:
            yield f"id: {position}\\ndata: {rows}\\n\\n"
        await asyncio.sleep(1)


@app.get("/news")
def feed(last_event_id: str | None = Header(None), after: int = 0):
    start = int(last_event_id) if last_event_id else after
    return StreamingResponse(frames(start), media_type="text/event-stream")
"""


@pytest.mark.parametrize("rows", ["(*said, *done)", "[*said, *done]", "said + done", "said"])
def test_rows_out_of_sight_that_are_spread_are_still_there(rows: str) -> None:
    """Nobody can say that the cursor is ignored: it was handed to whoever gave the rows."""
    stream = stream_of(SPREAD.replace("ROWS", rows))
    assert stream.on_foreign.outcome is Outcome.UNKNOWN
    assert stream.ids.kind is IdKind.UNKNOWN


def test_a_list_that_is_written_down_and_spread_has_no_more_than_that() -> None:
    """Look-alike: there is nothing in it, so that the position stays what the client sent."""
    stream = stream_of(SPREAD.replace("ROWS", "[*[], *()]"))
    assert stream.ids.kind is IdKind.CLIENT_SUPPLIED
