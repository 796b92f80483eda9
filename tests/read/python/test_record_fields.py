"""Fields of a record that nobody gives: the record sets them itself."""

from __future__ import annotations

import pytest

from sselint.facts import IdKind
from tests.read.python.programs import stream_of

JOBS = """
import asyncio
from dataclasses import dataclass, field

from fastapi import FastAPI, Header
from fastapi.responses import StreamingResponse

app = FastAPI()


@dataclass
class Job:
    name: str
    {kept}
    following: int = 1

    def __post_init__(self):
        self.{name} = asyncio.Queue()


jobs = {{}}


@app.post("/jobs/{{name}}")
async def start(name: str):
    jobs[name] = {made}
    await jobs[name].{name}.put((jobs[name].following, "begun"))
    jobs[name].following += 1


@app.get("/jobs/{{name}}")
async def feed(name: str):
    job = jobs[name]

    async def body():
        while True:
            number, text = await job.{name}.get()
            yield f"id: {{number}}\\ndata: {{text}}\\n\\n"

    return StreamingResponse(body(), media_type="text/event-stream")
"""


@pytest.mark.parametrize(
    ("kept", "made"),
    [
        ("events: asyncio.Queue = field(init=False)", "Job(name)"),
        ("events: asyncio.Queue = field(init=False, repr=False)", "Job(name, 1)"),
        ("events: asyncio.Queue = field(init=False, default=None)", "Job(name, 1)"),
    ],
)
def test_a_field_that_no_caller_gives_is_what_the_record_sets(kept: str, made: str) -> None:
    """And what a caller gives by position is the next field that may be given."""
    stream = stream_of(JOBS.format(kept=kept, made=made, name="events"))
    assert stream.ids.kind is IdKind.COUNTER


def test_one_that_a_caller_must_give_is_what_was_given() -> None:
    """The look-alike: another field than the one that is set is unknown where nobody gives it."""
    text = JOBS.format(kept="opening: int = field()", made="Job(name)", name="events")
    stream = stream_of(text.replace("(jobs[name].following,", "(jobs[name].opening,"))
    assert stream.ids.kind is IdKind.UNKNOWN
