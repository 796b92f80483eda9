"""What was seen stays seen where work ended before the stream did, and what was not seen is open."""

from __future__ import annotations

from sselint.facts import IdKind, Outcome, Stream, Where
from tests.read.python.programs import ASKS, stream_of

SERVER = """
import json
import sys

from fastapi import FastAPI, Request
from fastapi.responses import StreamingResponse

app = FastAPI()
log = []


@app.post("/say")
async def say(text: str):
    log.append({{"seq": len(log), "text": text}})


@app.get("/chat")
async def chat(request: Request):
    after = int(request.headers.get("Last-Event-ID", "0"))

    async def body():
        data, text = json.load(sys.stdin), ""
        missed = [entry["text"] for entry in log if entry["seq"] > after]
        yield f"{first}data: {{json.dumps(missed)}}\\n\\n"
{asks}
        yield f"data: {{text}}\\n\\n"

    return StreamingResponse(body(), media_type="text/event-stream")
"""


def _read(first: str, asks: str = ASKS) -> Stream:
    return stream_of(SERVER.format(first=first, asks=asks))


def test_the_place_of_the_replay_is_kept_where_an_event_with_an_id_was_followed() -> None:
    """All that was missed goes into one event, so that no entry of the history is an event of its own."""
    stream = _read("id: {len(log)}\\n")
    assert stream.ids.kind is IdKind.INDEX
    assert stream.replay.where is Where.MEMORY
    assert stream.on_foreign.outcome is Outcome.COMPARED


def test_the_place_is_open_where_no_event_with_an_id_was_followed() -> None:
    """Look-alike: the first event may be a greeting, and the history that comes after it was not reached."""
    stream = _read("")
    assert stream.ids.kind is IdKind.UNKNOWN
    assert stream.replay.where is Where.UNKNOWN


def test_ids_are_open_where_only_a_greeting_was_followed_whose_id_is_written_down() -> None:
    """The events after the greeting may be counted, and nothing of them was reached."""
    assert _read("id: 0\\n").ids.kind is IdKind.UNKNOWN


def test_ids_are_constant_where_all_was_followed_and_the_id_is_written_down() -> None:
    """Look-alike: nothing is left in which another id could come."""
    assert _read("id: 0\\n", asks="").ids.kind is IdKind.CONSTANT
