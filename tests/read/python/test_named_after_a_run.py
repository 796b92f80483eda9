"""Ids that name their run: the client says which, and where the process made its name at random no other has it."""

from __future__ import annotations

import pytest

from sselint.facts import IdKind, Scope
from tests.read.python.programs import stream_of

RUNS = """
import json
from uuid import uuid4
from fastapi import FastAPI, Header, HTTPException
from fastapi.responses import StreamingResponse

app = FastAPI()
runs = {}


@app.post("/runs")
async def create(wish: str = "run"):
    name = NAME
    runs[name] = []
    return {"name": name}


@app.post("/runs/{name}/steps")
async def step(name: str, text: str):
    ASKED
    WRITTEN


@app.get("/runs/{name}")
async def follow(name: str, seen: str | None = Header(None, alias="Last-Event-ID")):
    events = runs.get(name)
    if events is None:
        raise HTTPException(404)

    async def body():
        found = seen is None
        for event in events:
            if found:
                yield f"id: {event['id']}\\ndata: {json.dumps(event)}\\n\\n"
            found = found or event["id"] == seen

    return StreamingResponse(body(), media_type="text/event-stream")
"""
GUARD = "events = runs.get(name)\n    if events is None:\n        raise HTTPException(404)"
WRITTEN = [
    'events.append({"id": f"{name}:{len(events)}", "text": text})',
    'events.append({"id": name + ":" + str(len(events)), "text": text})',
    'events.append({"id": "%s:%d" % (name, len(events)), "text": text})',
    'event = {"id": "{}:{}".format(name, len(events)), "text": text}\n    events.append(event)',
    'event = dict(text=text)\n    event["id"] = f"{name}:{len(events)}"\n    events.append(event)',
]


def _scope(name: str, asked: str, written: str) -> tuple[IdKind, Scope]:
    ids = stream_of(RUNS.replace("NAME", name).replace("ASKED", asked).replace("WRITTEN", written)).ids
    return ids.kind, ids.scope


@pytest.mark.parametrize("written", WRITTEN)
def test_the_name_of_a_run_that_the_process_made_at_random_is_no_other_processes(written: str) -> None:
    assert _scope("uuid4().hex", GUARD, written) == (IdKind.RANDOM, Scope.UNIQUE_LOCAL)


@pytest.mark.parametrize("name", ["wish", "f'run-{len(runs)}'"])
def test_the_name_of_a_run_that_another_process_may_have_as_well_tells_nothing(name: str) -> None:
    """Look-alikes: the client gave the run its name, or the process counts its runs."""
    assert _scope(name, GUARD, WRITTEN[0])[1] is Scope.OVERLAPPING


@pytest.mark.parametrize(
    "asked", ["events = runs.setdefault(name, [])", "events = runs.get(name) or runs.setdefault(name, [])"]
)
def test_a_run_that_is_made_where_there_is_none_has_the_clients_name(asked: str) -> None:
    """Look-alikes: whoever is asked for a run has it then."""
    assert _scope("uuid4().hex", asked, WRITTEN[0])[1] is Scope.OVERLAPPING
