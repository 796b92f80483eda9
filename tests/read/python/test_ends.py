"""Loops that come to an end because they take away from what they ask, and events that carry nothing but an id."""

from __future__ import annotations

import libcst as cst
import pytest

from sselint.facts import Outcome, Scope
from sselint.read.python.answers import streams
from sselint.read.python.interpreter import ends
from sselint.read.python.source import ir, lower
from tests.read.python.programs import stream_of

LIMITED = """
import time
from collections import defaultdict, deque
from flask import Flask, Response, abort, request

app = Flask(__name__)
seen = defaultdict(deque)
kept = []


def too_often(who):
    times, now = seen[who], time.time()
    while times and now - times[0] > 60:
        WAITS
    times.append(now)
    return len(times) > 9


@app.post("/news")
def publish():
    kept.append((len(kept) + 1, request.json["text"]))
    return ""


@app.get("/news")
def news():
    if too_often(request.remote_addr):
        abort(429)
    last = int(request.headers.get("Last-Event-ID", "0"))

    def body():
        for number, text in kept:
            if number > last:
                yield f"id: {number}\\ndata: {text}\\n\\n"

    return Response(body(), mimetype="text/event-stream")
"""
PRIMED = """
import asyncio
from fastapi import FastAPI, HTTPException, Request
from fastapi.responses import StreamingResponse


class Session:
    def __init__(self):
        self.newest = 0
        self.kept = []
        self.listeners = []

    def publish(self, text):
        self.newest += 1
        self.kept.append((str(self.newest), text))
        for listener in self.listeners:
            listener.put_nowait((str(self.newest), text))

    def behind(self, cursor):
        found, behind = cursor is None or cursor == "0", []
        for identity, text in self.kept:
            if found:
                behind.append((identity, text))
            elif identity == cursor:
                found = True
        return behind, found


app = FastAPI()
sessions = {}


def session(name):
    if name not in sessions:
        sessions[name] = Session()
    return sessions[name]


@app.post("/{name}")
async def publish(name: str, request: Request):
    session(name).publish((await request.body()).decode())


@app.get("/{name}")
async def feed(name: str, request: Request):
    mine = session(name)
    cursor = request.headers.get("last-event-id")
    behind, found = mine.behind(cursor)
    if cursor is not None and mine.kept and not found:
        raise HTTPException(409)
    queue = asyncio.Queue()
    mine.listeners.append(queue)

    async def body():
        yield f"id: {mine.newest or 0}\\ndata: FIRST\\n\\n"
        for identity, text in behind:
            yield f"id: {identity}\\ndata: {text}\\n\\n"
        if request.query_params.get("once"):
            return
        while True:
            identity, text = await queue.get()
            yield f"id: {identity}\\ndata: {text}\\n\\n"

    return StreamingResponse(body(), media_type="text/event-stream")
"""


@pytest.mark.parametrize("takes", ["times.popleft()", "del times[0]", "times.remove(times[0])"])
def test_a_loop_that_takes_away_from_what_it_asks_comes_to_an_end(monkeypatch: pytest.MonkeyPatch, takes: str) -> None:
    """On the one path that is followed there is something in the list, and it is too old."""
    monkeypatch.setattr(streams, "PATHS", 1)
    monkeypatch.setattr(streams, "SHAPE_PATHS", 1)
    stream = stream_of(LIMITED.replace("WAITS", takes).replace("return len(times) > 9", "return False"))
    assert stream.on_foreign.outcome is Outcome.COMPARED


@pytest.mark.parametrize(
    ("loop", "takes"),
    [
        ("while box.held: box.held.pop()", True),
        ("while len(held) > limit: del held[0]", True),
        ("while held: other.pop()", False),
        ("while box.held: held.pop()", False),
        ("while held: held.append(1)", False),
        ("while True: held.pop()", False),
    ],
)
def test_it_must_be_what_the_loop_asks(loop: str, takes: bool) -> None:
    (node,) = lower.lower_module(lower.parse(loop))
    assert isinstance(node, ir.While)
    assert ends.takes_away(node) is takes


def test_an_event_without_data_is_no_table_that_is_written_down() -> None:
    """It only sets the client's id, and where nothing is kept the cursor is passed over: what comes is new."""
    assert stream_of(PRIMED.replace("FIRST", "")).on_foreign.outcome is Outcome.FROM_HEAD


WALKED = """
from itertools import count
from sse_starlette import EventSourceResponse
from starlette.applications import Starlette
from starlette.routing import Route

ids = count(1)
kept = {}


def publish(text):
    kept[next(ids)] = text


async def news(request):
    number = int(request.headers.get("last-event-id", "0")) + 1
    missed = []
    WALK

    async def body():
        for number, text in missed:
            yield {"id": str(number), "data": text}

    return EventSourceResponse(body())


app = Starlette(routes=[Route("/news", news)])
"""


@pytest.mark.parametrize(
    "walk",
    [
        "while number in kept:\n        missed.append((number, kept[number]))\n        number += 1",
        "while (text := kept.get(number)) is not None:\n        missed.append((number, text))\n        number += 1",
    ],
)
def test_a_loop_that_only_collects_is_over_before_the_answer(walk: str) -> None:
    """There is only so much to be found: what it collected is sent, and was kept in the memory of the process."""
    stream = stream_of(WALKED.replace("WALK", walk))
    assert (stream.ids.scope, stream.on_foreign.outcome) == (Scope.OVERLAPPING, Outcome.EMPTY)
    assert stream.on_overlap is not None
    assert stream.on_overlap.outcome is Outcome.COMPARED


@pytest.mark.parametrize(
    ("loop", "over"),
    [
        ("while n in kept:\n    found.append(kept[n])\n    n += 1", True),
        ("while going:\n    found.append(take())", False),
        ("while going:\n    found.append(inbox.pop())\n    inbox.wait()", False),
        ("while n in kept:\n    found.append((yield n))", False),
        ("while n in kept:\n    n += 1", False),
    ],
)
def test_one_that_may_wait_or_sends_may_go_on(loop: str, over: bool) -> None:
    """What a call of the tree's own does is not known, and neither when what is waited for ends."""
    (node,) = lower.lower_body(cst.parse_module(loop))
    assert isinstance(node, ir.While)
    assert ends.collects(node) is over
