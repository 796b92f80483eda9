"""Keys of the client's that were found in one table before they are put into another, and who is let in at all."""

from __future__ import annotations

import pytest

from sselint.facts import KeyOrigin, Outcome
from tests.read.python.programs import stream_of

PROGRAM = """
import itertools, os, uuid
from collections import defaultdict
from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse, StreamingResponse

app = FastAPI()
jobs, known, logs = {{}}, {known}, {{}}
numbers = itertools.count(1)


def note(job, text):
    if job not in logs:
        logs[job] = []
    logs[job].append(text)


@app.post("/jobs")
async def begin():
    job = {mint}
    jobs[job] = "running"
    note(job, "begun")
    return job


@app.post("/jobs/{{job}}/stop")
async def stop(job: str):
    {find}
    note(job, "stopped")


@app.get("/jobs/{{job}}/events")
async def follow(job: str, request: Request):
    {let_in}
    last = request.headers.get("last-event-id")
    if job not in logs:
        return JSONResponse({{}}, status_code=404)

    async def body():
        start = int(last) + 1 if last else 0
        for number, text in enumerate(logs[job][start:], start):
            yield f"id: {{number}}\\ndata: {{text}}\\n\\n"

    return StreamingResponse(body(), media_type="text/event-stream")
"""
MINT = "uuid.uuid4().hex"
FIND = {
    "subscript": "jobs[job]",
    "get": "if jobs.get(job) is None:\n        return None",
    "membership": "if job not in jobs:\n        return JSONResponse({}, status_code=404)",
}


def program(find: str, mint: str = MINT, known: str = "{}", let_in: str = "pass") -> str:
    """A server with jobs that have a log each, and a handler that adds to the log of one."""
    return PROGRAM.format(find=find, mint=mint, known=known, let_in=let_in)


def origins(source: str) -> list[KeyOrigin]:
    """Who makes the keys that the guards of the one stream look up."""
    return [guard.origin for guard in stream_of(source).guards]


@pytest.mark.parametrize("name", FIND)
def test_key_that_was_found_elsewhere_is_not_chosen(name: str) -> None:
    """The client names a job, and only one that there is: its name was minted here."""
    assert origins(program(FIND[name])) == [KeyOrigin.RANDOM_LOCAL]


@pytest.mark.parametrize(
    "find",
    ["pass", "jobs.get(job)\n    jobs.setdefault(job, 1)", "if job in known:\n        return None"],
)
def test_key_that_was_not_found_is_chosen(find: str) -> None:
    """The look-alikes: nobody asks, what is not there is made, or it goes on where the job is not found."""
    assert origins(program(find)) == [KeyOrigin.CLIENT]


def test_key_that_was_found_among_counted_ones_is_one_of_those() -> None:
    """The look-alike: another process has a job of that number, too."""
    assert origins(program(FIND["membership"], mint="str(next(numbers))")) == [KeyOrigin.CLIENT]


LET_IN = (
    'if os.environ.get("LOCKED") == "yes":\n'
    '        if request.query_params.get("token") != os.environ["SECRET"]:\n'
    "            return JSONResponse({}, status_code=%s)"
)
LOCKED = 'if os.environ.get("LOCKED") == "yes":\n        return JSONResponse({}, status_code=%s)'


@pytest.mark.parametrize("status", [401, 403])
def test_who_is_turned_away_for_who_it_is_has_no_cursor(status: int) -> None:
    """Whether a client is asked who it is hangs on a setting; what its cursor means does not."""
    for let_in in (LET_IN, LOCKED):
        assert stream_of(program(FIND["get"], let_in=let_in % status)).on_foreign.outcome is Outcome.COMPARED


def test_what_a_setting_turns_off_is_not_known() -> None:
    """The look-alike: where the setting is on, there is no such stream."""
    run = stream_of(program(FIND["get"], let_in=LOCKED % 503)).on_foreign
    assert (run.outcome, "LOCKED" in run.why) == (Outcome.UNKNOWN, True)


def test_cursor_that_is_refused_with_that_status_is_refused() -> None:
    """The look-alike: it is the cursor for which the client is turned away."""
    let_in = (
        'given = request.headers.get("last-event-id")\n'
        "    if given and given not in known:\n        return JSONResponse({}, status_code=403)"
    )
    assert stream_of(program(FIND["get"], let_in=let_in)).on_foreign.outcome is Outcome.FAIL_CLOSED
