"""The number of the last element plus one, where elements are dicts: a counter, whatever the first number is."""

from __future__ import annotations

import pytest

from sselint.facts import IdKind, Outcome, Scope, Where
from tests.read.python.programs import stream_of

SERVER = """
from fastapi import FastAPI, Request
from fastapi.responses import StreamingResponse

app = FastAPI()
log = []
{settings}


@app.post("/say")
async def say(text: str):
    {numbered}
    log.append({{"id": number, "text": text}})


@app.get("/chat")
async def chat(request: Request):
    after = int(request.headers.get("Last-Event-ID", "0"))

    async def body():
        for event in log:
            if event["id"] > after:
                yield f"id: {{event['id']}}\\ndata: {{event['text']}}\\n\\n"

    return StreamingResponse(body(), media_type="text/event-stream")
"""
NUMBERED = [
    "number = log[-1]['id'] + 1 if log else 1",
    "number = int(log[-1]['id']) + 1 if log else 1",
    "number = (log[-1]['id'] if log else 0) + 1",
    "number = 1\n    if log:\n        number = log[-1]['id'] + 1",
    "try:\n        number = log[-1]['id'] + 1\n    except IndexError:\n        number = 1",
    "number = max((event['id'] for event in log), default=0) + 1",
    "last = log[-1] if log else None\n    number = last['id'] + 1 if last else 1",
]


@pytest.mark.parametrize("numbered", NUMBERED)
def test_one_more_than_the_number_of_the_last_is_counted(numbered: str) -> None:
    stream = stream_of(SERVER.format(numbered=numbered, settings=""))
    assert (stream.ids.kind, stream.ids.scope) == (IdKind.COUNTER, Scope.OVERLAPPING), stream.ids.why
    assert "counted by each process" in stream.ids.why
    assert stream.replay.where is Where.MEMORY
    assert stream.on_foreign.outcome is Outcome.COMPARED, stream.on_foreign.why


@pytest.mark.parametrize("text", ["str(number)", "f'{{number:06d}}'", "str(number).zfill(8)"])
def test_it_is_also_where_the_number_is_kept_as_text(text: str) -> None:
    server = SERVER.replace('"id": number', f'"id": {text}').replace('event["id"] > after', 'int(event["id"]) > after')
    stream = stream_of(server.format(numbered="number = int(log[-1]['id']) + 1 if log else 1", settings=""))
    assert (stream.ids.kind, stream.ids.scope) == (IdKind.COUNTER, Scope.OVERLAPPING), stream.ids.why
    assert "counted by each process" in stream.ids.why
    assert stream.on_foreign.outcome is Outcome.COMPARED, stream.on_foreign.why


def test_a_number_of_the_settings_plus_one_is_the_same_in_every_process() -> None:
    """Look-alike: the dict was made at start-up, and nothing writes into it."""
    server = SERVER.format(numbered="number = settings['id'] + 1", settings="settings = {'id': 7}")
    assert "counted by each process" not in stream_of(server).ids.why
