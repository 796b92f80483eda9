"""Handlers whose helpers ask more than they do: for a text in the client's language, a setting, a picture."""

from __future__ import annotations

import pytest

from sselint.facts import IdKind, Outcome, Where
from sselint.read.python.interpreter.oracle import Budget, Decision, Explorer, Nearness, Oracle
from tests.read.python.programs import stream_of

LIMIT = 20


def test_what_leads_is_answered_otherwise_before_what_stands_aside() -> None:
    """A helper asks more than there is time for, before the one question that the answer turns on."""

    def path(oracle: Oracle) -> None:
        for number in range(2 * LIMIT):
            oracle.choose(2, number, "condition", within=1)
        oracle.choose(2, "leads", "condition")

    def near(_: object, decision: Decision, __: int) -> Nearness:
        return Nearness.ASIDE if decision.within else Nearness.LEADING

    explorer = Explorer(Budget(10**6), LIMIT, False, steps=10, total=10**6, near=near)
    found = [decisions for _, decisions in explorer.run(path)]
    assert found[1][-1].option == 1
    assert any(d.option for d in found[2][:-1])
    assert not explorer.covered


ASKS = "\n".join(f"    if data.get('option {n}'):\n        found += str(data['value {n}'])" for n in range(30))

SERVER = """
import os
import secrets
from pathlib import Path

import yaml
from fastapi import APIRouter, FastAPI, HTTPException, Request
from fastapi.responses import StreamingResponse
from pydantic import BaseModel


def wording(name):
    folder = os.environ.get("WORDING_FOLDER")
    data = yaml.safe_load((Path(folder) if folder else Path.home()).read_text())
    found = ""
{asks}
    return found + str(data.get(name))


class Run:
    def __init__(self, name):
        self.name = name
        self.events = []
        self.count = 0

    def add(self, text):
        self.count += 1
        self.events.append((self.count, f"{{self.name}}:{{self.count}}", text))

    def behind(self, number):
        return [event for event in self.events if event[0] > number]


class Runs:
    def __init__(self):
        self.known = {{}}

    def start(self):
        name = secrets.token_hex(16)
        self.known[name] = Run(name)
        return self.known[name]


runs = Runs()


class Question(BaseModel):
    text: str
    of_run: str | None = None
    last_event_id: str | None = None


def frame(event):
    return f"id: {{event[1]}}\\ndata: {{event[2]}}\\n\\n"


def resumed(question):
    run = runs.known.get(question.of_run)
    if run is None:

        async def unknown():
            yield f"event: error\\ndata: {{wording('no such run')}}\\n\\n"

        return StreamingResponse(unknown(), media_type="text/event-stream")
    number = -1
    if question.last_event_id and ":" in question.last_event_id:
        try:
            number = int(question.last_event_id.rsplit(":", 1)[1])
        except ValueError:
            pass

    async def rest():
        for event in run.behind(number):
            yield frame(event)

    return StreamingResponse(rest(), media_type="text/event-stream")


app = FastAPI()


@app.post("/ask")
async def ask(question: Question, request: Request):
    if len(question.text) > 4096:
        raise HTTPException(status_code=413, detail=wording("too long"))
    if request.app.state.paused:

        async def wait():
            yield f"event: paused\\ndata: {{wording('paused')}}\\n\\n"

        return StreamingResponse(wait(), media_type="text/event-stream")
    if question.of_run:
        return resumed(question)
    run = runs.start()
    run.add(question.text)

    async def first():
        for event in run.behind(-1):
            yield frame(event)

    return StreamingResponse(first(), media_type="text/event-stream")
"""


def test_a_handler_whose_refusals_are_worded_at_length_is_followed_to_where_it_resumes() -> None:
    """What the words of a refusal turn on took all the paths, so that the cursor was never read."""
    stream = stream_of(SERVER.format(asks=ASKS))
    assert stream.symbol == "ask"
    assert stream.ids.kind is IdKind.RANDOM
    assert stream.replay.where is Where.MEMORY
    assert stream.on_foreign.outcome is Outcome.COMPARED
    assert [guard.origin.value for guard in stream.guards] == ["random_local"]


def test_a_folder_that_the_environment_names_has_no_say_in_the_replay() -> None:
    """Paths on which the variable of a helper was answered otherwise are few, and come less far."""
    stream = stream_of(SERVER.format(asks=ASKS))
    assert "WORDING_FOLDER" not in stream.replay.why


CHOSEN = """
import os

import redis
from fastapi import FastAPI, Request
from sse_starlette import EventSourceResponse

app = FastAPI()
kept = []
shared = redis.Redis()


def publish(text):
    kept.append((str(len(kept) + 1), text))
    shared.xadd("events", {{"data": text}})


@app.get("/feed")
async def feed(request: Request):
    last = request.headers.get("last-event-id", "0")

    async def body():
        if os.environ.get("SHARED"):
            for _, entries in shared.xread({{"events": last}}):
                for key, fields in entries:
                    yield {{"id": key, "data": fields["data"]}}
        {otherwise}
            for key, text in kept:
                yield {{"id": key, "data": text}}

    return EventSourceResponse(body())
"""


@pytest.mark.parametrize("otherwise", ["else:", "if not os.environ.get('SHARED'):"])
def test_a_variable_that_chooses_what_is_replayed_has_a_say(otherwise: str) -> None:
    """Look-alike: paths that differ in the answer alone tell of another store."""
    stream = stream_of(CHOSEN.format(otherwise=otherwise))
    assert stream.replay.where is Where.UNKNOWN
    assert "SHARED" in stream.replay.why
