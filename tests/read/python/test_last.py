"""A server that begins behind the newest element of its memory for a cursor that it does not know: what the client has
missed is lost. It looks like one that continues behind the client's own place.
"""

from __future__ import annotations

import pytest

from sselint.facts import IdKind, Outcome, Stream
from tests.read.python.programs import stream_of

PROGRAM = """
import asyncio
import itertools

from fastapi import FastAPI, Request
from sse_starlette import EventSourceResponse

app = FastAPI()
log = []
seen = {{}}
counter = itertools.count(1)


@app.post("/events")
async def publish(text: str):
    log.append({{"id": next(counter), "text": text}})


@app.post("/seen/{{reader}}")
async def see(reader: str):
    seen[reader] = log[-1]["id"]


@app.get("/events/{{reader}}")
async def feed(reader: str, request: Request):
    last = request.headers.get("last-event-id")
    known = {{e["id"] for e in log}}
    if last and int(last) in known:
        position = int(last)
    else:
        position = {begin}

    async def frames():
        nonlocal position
        while True:
            {loop}
                position = e["id"]
                yield {{"id": e["id"], "data": e["text"]}}
            await asyncio.sleep(1)

    return EventSourceResponse(frames())
"""
FILTERED = 'for e in [e for e in log if e["id"] > position]:'
SKIPPED = 'for e in log:\n                if e["id"] <= position:\n                    continue'
NEWEST = ['log[-1]["id"]', 'log[-1]["id"] if log else 0', 'max(e["id"] for e in log)', 'max([e["id"] for e in log])']
OLDEST = ["0", 'log[0]["id"] - 1 if log else 0']


def server(begin: str, loop: str = FILTERED) -> Stream:
    """A server that begins there for an id that it does not know."""
    return stream_of(PROGRAM.format(begin=begin, loop=loop))


@pytest.mark.parametrize("loop", [FILTERED, SKIPPED], ids=["filtered", "skipped"])
@pytest.mark.parametrize("begin", NEWEST)
def test_behind_the_newest_element(begin: str, loop: str) -> None:
    """Only what is added later is sent; the ids of that are still seen."""
    stream = server(begin, loop)
    assert stream.on_foreign.outcome is Outcome.FROM_HEAD
    assert stream.ids.kind is IdKind.COUNTER


@pytest.mark.parametrize("begin", OLDEST)
def test_at_the_oldest_element(begin: str) -> None:
    """Look-alike: all that is kept is sent again."""
    assert server(begin).on_foreign.outcome is Outcome.REPLAY_ALL


def test_behind_what_a_reader_has_seen() -> None:
    """Look-alike: it was the newest once, and elements have come since."""
    assert server("seen[reader]").on_foreign.outcome is not Outcome.FROM_HEAD
