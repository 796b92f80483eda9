"""Where an event is put together is told beside where it is sent: often that is another file."""

from __future__ import annotations

import pytest

from sselint.facts import Stream
from tests.read.python.programs import reading_of

SERVER = """
from fastapi import FastAPI
from {library} import {response}
from notes import written

app = FastAPI()


@app.get("/notes")
async def notes():
    async def body():
        async for note in written():
            yield note

    return {response}(body(){options})
"""
NOTES = """
import asyncio
import itertools

numbers = itertools.count(1)


def framed(number):
    return f"id: {{number}}\\ndata: a note\\n\\n"


async def written():
    while True:
        await asyncio.sleep(1)
        number = next(numbers)
        yield {event}
"""
PLAIN = {"library": "fastapi.responses", "response": "StreamingResponse", "options": ', media_type="text/event-stream"'}
EVENTS = {"library": "sse_starlette", "response": "EventSourceResponse", "options": ""}


def _read(server: dict[str, str], event: str) -> Stream:
    files = {"app.py": SERVER.format(**server), "notes.py": NOTES.format(event=event)}
    (stream,) = reading_of(files).streams
    return stream


@pytest.mark.parametrize(
    ("server", "event", "line"),
    [
        (PLAIN, "framed(number)", 8),
        (EVENTS, '{"id": str(number), "data": "a note"}', 15),
    ],
    ids=["text", "dict"],
)
def test_where_an_id_is_put_into_an_event_is_told(server: dict[str, str], event: str, line: int) -> None:
    *_, made, sent = _read(server, event).ids.evidence
    assert (made.path, made.line, made.note) == ("notes.py", line, "put into an event here")
    assert (sent.path, sent.note) == ("app.py", "put on the wire here")


def test_of_an_event_without_an_id_nothing_is_told() -> None:
    """Look-alike: the text is put together there too, and names nothing."""
    assert {span.path for span in _read(PLAIN, 'f"data: {number}\\n\\n"').ids.evidence} == {"app.py"}
