"""Events whose text is made from the attributes of an object, by a template, or bit by bit."""

from __future__ import annotations

import pytest

from sselint.facts import IdKind, Outcome
from tests.read.python.programs import stream_of

NEWS = """
import json
from dataclasses import dataclass, fields
from itertools import count
from string import Template
from fastapi import FastAPI, HTTPException, Request
from fastapi.responses import StreamingResponse

app = FastAPI()
numbers = count(1)
log = []
LEVELS = ["low", "middle", "high"]
FRAME = Template("id: $id\\ndata: ${data}\\n\\n")
LINE = Template("$name: $value")


@dataclass
class Event:
    id: int
    data: str


def joined(lines):
    return "\\n".join(lines) + "\\n\\n"


def bits(event):
    buffer = bytearray()
    buffer += b"id: "
    buffer += str(event.id).encode()
    buffer.extend(b"\\ndata: ")
    buffer.extend(event.data.encode())
    buffer += b"\\n\\n"
    return bytes(buffer)


@app.post("/news")
async def publish(text: str):
    log.append(Event(next(numbers), text))


@app.get("/news")
async def news(request: Request):
    last = int(request.headers.get("last-event-id", 0))

    def body():
        for event in log:
            if event.id > last:
                yield FRAMED

    return StreamingResponse(body(), media_type="text/event-stream")
"""


@pytest.mark.parametrize(
    "framed",
    [
        "FRAME.substitute(vars(event))",
        "FRAME.safe_substitute(event.__dict__)",
        "FRAME.substitute(id=event.id, data=event.data)",
        "FRAME.substitute(**vars(event))",
        'joined(f"{f.name}: {getattr(event, f.name)}" for f in fields(event))',
        'joined(f"{f.name}: {getattr(event, f.name)}" for f in fields(Event))',
        'joined(f"{k}: {v}" for k, v in vars(event).items())',
        "joined(LINE.substitute(name=k, value=v) for k, v in event.__dict__.items())",
        "f\"id: {vars(event)['id']}\\ndata: x\\n\\n\"",
        "bits(event)",
    ],
)
def test_however_the_text_is_made_it_holds_the_id(framed: str) -> None:
    stream = stream_of(NEWS.replace("FRAMED", framed))
    assert (stream.ids.kind, stream.on_foreign.outcome) == (IdKind.COUNTER, Outcome.COMPARED)


@pytest.mark.parametrize(
    "framed",
    [
        'Template(open("frame.txt").read()).substitute(vars(event))',  # what it asks for is not written down
        "FRAME.substitute(id=elsewhere(event), data=event.data)",
        'joined(f"{f}: {getattr(event, f)}" for f in elsewhere(event))',
    ],
)
def test_a_text_that_is_not_seen_holds_no_known_id(framed: str) -> None:
    stream = stream_of("from helpers import elsewhere\n" + NEWS.replace("FRAMED", framed))
    assert stream.ids.kind is IdKind.UNKNOWN


PLACED = """
import uuid
from fastapi import FastAPI, HTTPException, Request
from fastapi.responses import StreamingResponse

app = FastAPI()
log = []
LEVELS = ["low", "middle", "high"]


@app.post("/news")
async def publish(text: str):
    log.append((uuid.uuid4().hex, text))
    GROWN


@app.get("/news")
async def news(request: Request):
    last = request.headers.get("last-event-id")
    keys = [key for key, _ in log]
    if last is not None and last not in keys and LEVELS.index("WANTED") > 0:
        raise HTTPException(409)
    start = keys.index(last) + 1 if last in keys else 0

    def body():
        for key, text in log[start:]:
            yield f"id: {key}\\ndata: {text}\\n\\n"

    return StreamingResponse(body(), media_type="text/event-stream")
"""


@pytest.mark.parametrize(("wanted", "outcome"), [("high", Outcome.FAIL_CLOSED), ("low", Outcome.REPLAY_ALL)])
def test_the_place_of_what_a_written_list_holds_is_known(wanted: str, outcome: Outcome) -> None:
    found = PLACED.replace("WANTED", wanted).replace("GROWN", "")
    assert stream_of(found).on_foreign.outcome is outcome


def test_the_place_in_a_list_that_grows_is_not_known() -> None:
    """Look-alike: what is put in front of it moves it on."""
    found = PLACED.replace("WANTED", "low").replace("GROWN", "LEVELS.insert(0, text)")
    assert stream_of(found).on_foreign.outcome is not Outcome.FAIL_CLOSED
