"""Servers that go on where their own counter stands, or at the end of what they keep, for a cursor unknown to them."""

from __future__ import annotations

import pytest

from sselint.facts import Outcome
from tests.read.python.programs import stream_of

SERVER = """
import asyncio

from fastapi import FastAPI, Request
from fastapi.responses import StreamingResponse

app = FastAPI()


class Log:
    def __init__(self):
        self.count = 0
        self.dropped = 0
        self.events = []
        self.more = asyncio.Condition()

    async def add(self, text):
        self.count += 1
        if not text:
            self.dropped += 1
        self.events.append({"id": self.count, "text": text})
        async with self.more:
            self.more.notify_all()


log = Log()


@app.post("/events")
async def publish(request: Request):
    await log.add((await request.body()).decode())


def frame(event):
    return f"id: {event['id']}\\ndata: {event['text']}\\n\\n"


@app.get("/feed")
async def feed(request: Request):
    last = request.headers.get("last-event-id")

    async def body():
BEGIN
        while True:
SEND
            async with log.more:
                await log.more.wait()

    return StreamingResponse(body(), media_type="text/event-stream")
"""

BY_NUMBER = """
            for event in list(log.events):
                if event["id"] > position:
                    position = event["id"]
                    yield frame(event)
"""

BY_PLACE = """
            while position < len(log.events):
                yield frame(log.events[position])
                position += 1
"""

KNOWN = """
        known = {str(event["id"]) for event in log.events}
        position = int(last) if last in known else """

INDEX = """
        ids = [str(event["id"]) for event in log.events]
        position = ids.index(last) + 1 if last in ids else """

TRIED = """
        ids = [str(event["id"]) for event in log.events]
        try:
            position = ids.index(last) + 1
        except ValueError:
            position = """

NEXT = """
        place = next((n for n, event in enumerate(log.events) if str(event["id"]) == last), None)
        position = place + 1 if place is not None else """


def outcome(begin: str, send: str) -> Outcome:
    """What the server does with a cursor that it never gave out."""
    return stream_of(SERVER.replace("BEGIN", begin.strip("\n")).replace("SEND", send.strip("\n"))).on_foreign.outcome


@pytest.mark.parametrize("begin", ["log.count", "len(log.events)"])
def test_the_number_that_the_newest_event_has(begin: str) -> None:
    """Nothing that is kept has a greater one: it was told that everything is sent."""
    assert outcome(KNOWN + begin, BY_NUMBER) is Outcome.FROM_HEAD


@pytest.mark.parametrize("search", [INDEX, TRIED, NEXT])
def test_the_place_behind_the_last_event(search: str) -> None:
    """Nothing stands there until something is added."""
    assert outcome(search + "len(log.events)", BY_PLACE) is Outcome.FROM_HEAD


@pytest.mark.parametrize(("begin", "send"), [(KNOWN, BY_NUMBER), (INDEX, BY_PLACE), (TRIED, BY_PLACE)])
def test_a_server_that_begins_at_nought_sends_everything(begin: str, send: str) -> None:
    """Look-alike: no end of anything."""
    assert outcome(begin + "0", send) is Outcome.REPLAY_ALL


def test_a_number_that_counts_something_else_is_no_end() -> None:
    """Look-alike: how many events were dropped says nothing of the newest."""
    assert outcome(KNOWN + "log.dropped", BY_NUMBER) is not Outcome.FROM_HEAD


def test_a_cursor_that_is_a_number_is_still_compared() -> None:
    """Look-alike: the end is asked for only where there is no number."""
    begin = "        position = int(last) if last and last.isdigit() else len(log.events)"
    assert outcome(begin, BY_PLACE) is Outcome.COMPARED
