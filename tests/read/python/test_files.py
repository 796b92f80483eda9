"""Files that are followed: the place in bytes is the id, and a reader that is sent there goes on behind it."""

from __future__ import annotations

import pytest

from sselint.facts import IdKind, Outcome, Scope, Where
from tests.read.python.programs import stream_of

LINE_BY_LINE = """
import time

from flask import Flask, Response, request

app = Flask(__name__)


@app.get("/log")
def log():
    position = int(request.headers.get("Last-Event-ID", "0"))

    def lines():
        with open("/var/log/news.jsonl", "rb") as file:
            SOUGHT
            while True:
                line = file.readline()
                if not line:
                    time.sleep(1)
                    continue
                yield f"id: {file.tell()}\\ndata: {line.decode()}\\n\\n"

    return Response(lines(), mimetype="text/event-stream")
"""


@pytest.mark.parametrize("sought", ["file.seek(position)", "file.seek(position, 0)"])
def test_a_file_that_is_read_from_the_cursor_goes_on_behind_it(sought: str) -> None:
    stream = stream_of(LINE_BY_LINE.replace("SOUGHT", sought))
    assert (stream.ids.kind, stream.ids.scope) == (IdKind.STORE, Scope.SHARED)
    assert (stream.replay.where, stream.on_foreign.outcome) == (Where.POD_DISK, Outcome.COMPARED)


@pytest.mark.parametrize(
    ("sought", "outcome"),
    [("file.seek(0, 2)", Outcome.IGNORED), ("file.seek(2)", Outcome.IGNORED), ("file.seek(2, 0)", Outcome.IGNORED)],
)
def test_one_that_is_read_from_elsewhere_does_not(sought: str, outcome: Outcome) -> None:
    assert stream_of(LINE_BY_LINE.replace("SOUGHT", sought)).on_foreign.outcome is outcome


POLLED = """
import asyncio
import json
from pathlib import Path

from fastapi import FastAPI, Query, Request
from fastapi.responses import StreamingResponse

app = FastAPI()
HOME = Path.home() / ".news"


def lines_of(path, offset):
    with path.open("rb") as file:
        file.seek(offset)
        data = file.read()
    if not data:
        return [], offset
    complete = data[: data.rfind(b"\\n") + 1]
    found = []
    position = offset
    for raw in complete.splitlines(keepends=True):
        position += len(raw)
        found.append((raw.decode("utf-8"), position))
    return found, offset + len(complete)


async def follow(path, offset):
    while True:
        if path.stat().st_size > offset:
            lines, offset = await asyncio.to_thread(lines_of, path, OFFSET)
            for line, position in lines:
                yield f"id: {position}\\ndata: {json.dumps(line)}\\n\\n"
        await asyncio.sleep(1)


@app.get("/log/{name}")
async def log(name: str, request: Request, offset: int = Query(default=0)):
    last = request.headers.get("last-event-id")
    start = int(last) if last and last.isdigit() else offset
    return StreamingResponse(follow(HOME / f"{name}.jsonl", start), media_type="text/event-stream")
"""


def test_whole_lines_are_cut_out_of_what_was_read() -> None:
    stream = stream_of(POLLED.replace("OFFSET", "offset"))
    assert (stream.ids.kind, stream.ids.scope) == (IdKind.STORE, Scope.SHARED)
    assert (stream.replay.where, stream.on_foreign.outcome) == (Where.POD_DISK, Outcome.COMPARED)


def test_what_waits_until_there_is_so_much_and_reads_from_the_start_sends_all() -> None:
    stream = stream_of(POLLED.replace("OFFSET", "0"))
    assert stream.on_foreign.outcome is Outcome.REPLAY_ALL


OBJECTS = """
import uuid

from flask import Flask, Response, request

app = Flask(__name__)


class Place:
    def __init__(self, name):
        self.name = name

    def __truediv__(self, other):
        return Place(other)

    def __add__(self, other):
        return SUM


@app.get("/log")
def log():
    request.headers.get("Last-Event-ID")

    def lines():
        yield f"id: {(Place('a') / 'b').name}\\ndata: x\\n\\n"
        yield f"id: {Place('a') + 1}\\ndata: x\\n\\n"

    return Response(lines(), mimetype="text/event-stream")
"""


@pytest.mark.parametrize(("result", "kind"), [("7", IdKind.CONSTANT), ("uuid.uuid4()", IdKind.RANDOM)])
def test_an_operator_is_what_the_class_makes_of_it(result: str, kind: IdKind) -> None:
    assert stream_of(OBJECTS.replace("SUM", result)).ids.kind is kind


BENEATH = """
import json

from fastapi import FastAPI, Header
from fastapi.responses import StreamingResponse
from settings_of_the_company import settings

app = FastAPI()


@app.get("/jobs/{job}")
async def feed(job: str, last_event_id: int = Header(0)):
    place = PLACE

    async def body():
        with place.open() as lines:
            for line in lines:
                event = json.loads(line)
                if event["number"] > last_event_id:
                    yield f"id: {event['number']}\\ndata: {line}\\n\\n"

    return StreamingResponse(body(), media_type="text/event-stream")
"""


@pytest.mark.parametrize(
    "place", ["settings.root / job", 'settings.root / "jobs" / job', 'settings.root / f"{job}.log"']
)
def test_what_is_divided_by_a_text_is_a_path(place: str) -> None:
    """The client chooses which file is read: what stands in it is not the client's."""
    stream = stream_of(BENEATH.replace("PLACE", place))
    assert (stream.ids.kind, stream.replay.where) == (IdKind.STORE, Where.POD_DISK)


def test_what_is_looked_up_by_a_text_need_not_be_a_path() -> None:
    """The look-alike: whatever the company's settings hold by that name can be opened, and is not known."""
    stream = stream_of(BENEATH.replace("PLACE", "settings.places[job]"))
    assert stream.replay.where is not Where.POD_DISK


STATE = """
import itertools
import json
from pathlib import Path

from fastapi import FastAPI, HTTPException, Request
from fastapi.responses import StreamingResponse

app = FastAPI()
KEPT = Path("/data/events.json")
numbers = itertools.count(1)


def load():
    with KEPT.open() as file:
        return json.load(file)


@app.post("/say")
async def say(text: str):
    events = load()
    events.append({"id": NUMBER, "text": text})
    with KEPT.open("w") as file:
        json.dump(events, file)


@app.get("/feed")
async def feed(request: Request):
    with open("/data/paused.json") as file:
        if json.load(file):
            raise HTTPException(503)
    since = int(request.headers.get("last-event-id", 0))

    async def body():
        for event in load():
            if event["id"] > since:
                yield f"id: {event['id']}\\ndata: {event['text']}\\n\\n"

    return StreamingResponse(body(), media_type="text/event-stream")
"""


def test_what_a_file_holds_as_json_is_not_the_file() -> None:
    """The file is there in any case, so that nobody came past the question of what it holds. The numbers are those of
    what it held before."""
    stream = stream_of(STATE.replace("NUMBER", "len(events) + 1"))
    assert (stream.ids.kind, stream.replay.where) == (IdKind.STORE, Where.POD_DISK)
    assert stream.on_foreign.outcome is Outcome.COMPARED


def test_what_is_written_into_a_file_as_json_comes_out_again() -> None:
    """Look-alike: a file for all, but each process counts."""
    stream = stream_of(STATE.replace("NUMBER", "next(numbers)"))
    assert (stream.ids.kind, stream.replay.where) == (IdKind.COUNTER, Where.POD_DISK)
