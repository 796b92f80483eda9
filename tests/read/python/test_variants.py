"""One of several implementations, made by a factory at start-up: each has facts of its own, the endpoint none."""

from __future__ import annotations

import textwrap

import pytest

from sselint.facts import IdKind, Outcome, Reading, Scope, Stream, Where
from tests.read.python.programs import reading_of

BASE = """
import abc
from dataclasses import dataclass


@dataclass(frozen=True)
class Note:
    id: str
    topic: str
    body: object


@dataclass(frozen=True)
class Hole:
    asked: str
    oldest: str


IDLE = Note("", "idle", None)
CLOSED = Note("", "closed", None)


class Hub(abc.ABC):
    spans_processes = False

    @abc.abstractmethod
    async def put(self, job, topic, body): ...

    @abc.abstractmethod
    def listen(self, job, *, after=None, beat=15.0): ...

    async def close(self):
        pass
"""

LOCAL = r"""
import asyncio
import re
import time
from dataclasses import dataclass, field

from hub.base import IDLE, Hole, Hub, Note

SHAPE = re.compile(r"\d+-(\d+)")


@dataclass
class Journal:
    notes: list = field(default_factory=list)
    changed: asyncio.Condition = field(default_factory=asyncio.Condition)
    dropped: int = 0


class LocalHub(Hub):
    def __init__(self, *, keep=100):
        self._keep = keep
        self._journals = {}
        self._numbers = {}

    def _journal(self, job):
        if job not in self._journals:
            self._journals[job] = Journal()
            self._numbers[job] = 0
        return self._journals[job]

    def _mint(self, job):
        self._numbers[job] = self._numbers.get(job, 0) + 1
        return f"{int(time.time() * 1000)}-{self._numbers[job] - 1}"

    @staticmethod
    def _number(text):
        found = SHAPE.fullmatch(text)
        return None if found is None else int(found.group(1))

    def _begin(self, journal, after):
        if after is None:
            return journal.dropped
        number = self._number(after)
        if number is not None:
            if journal.notes and number < journal.dropped:
                return Hole(after, journal.notes[0].id)
            here = number - journal.dropped
            if 0 <= here < len(journal.notes) and journal.notes[here].id == after:
                return journal.dropped + here + 1
        return journal.dropped

    async def put(self, job, topic, body):
        journal = self._journal(job)
        note = Note(id=self._mint(job), topic=topic, body=body)
        async with journal.changed:
            journal.notes.append(note)
            if len(journal.notes) > self._keep:
                extra = len(journal.notes) - self._keep
                del journal.notes[:extra]
                journal.dropped += extra
            journal.changed.notify_all()

    async def listen(self, job, *, after=None, beat=15.0):
        journal = self._journal(job)
        position = self._begin(journal, after)
        if isinstance(position, Hole):
            yield position
            return
        while True:
            async with journal.changed:
                here = position - journal.dropped
                if 0 <= here < len(journal.notes):
                    note = journal.notes[here]
                    position += 1
                else:
                    try:
                        await asyncio.wait_for(journal.changed.wait(), timeout=beat)
                    except TimeoutError:
                        note = IDLE
                    else:
                        continue
            yield note
"""

STORED = r"""
import json
import re

from redis.asyncio import Redis

from hub.base import IDLE, Hole, Hub, Note

SHAPE = re.compile(r"\d+(-\d+)?")


class StoredHub(Hub):
    spans_processes = True

    def __init__(self, *, url):
        self._db = Redis.from_url(url, decode_responses=True)

    async def put(self, job, topic, body):
        async with self._db.pipeline(transaction=True) as pipe:
            pipe.xadd(f"hub:{job}", {"topic": topic, "body": json.dumps(body)}, maxlen=500)
            await pipe.execute()

    async def _begin(self, key, after):
        if after is None:
            return "0-0"
        if SHAPE.fullmatch(after):
            return after
        newest = await self._db.xrevrange(key, count=1)
        return newest[0][0] if newest else "0-0"

    async def _snapshot(self, key, position):
        async with self._db.pipeline(transaction=True) as pipe:
            pipe.xrange(key, count=1)
            pipe.xread({key: position}, count=64)
            oldest, answer = await pipe.execute()
        return oldest, answer

    async def listen(self, job, *, after=None, beat=15.0):
        key = f"hub:{job}"
        position = await self._begin(key, after)
        while True:
            oldest, answer = await self._snapshot(key, position)
            if oldest and after is not None and oldest[0][0] > position:
                yield Hole(position, oldest[0][0])
                return
            if not answer:
                if not await self._db.xread({key: position}, count=64, block=int(beat * 1000)):
                    yield IDLE
                continue
            for _, entries in answer:
                for note_id, fields in entries:
                    position = note_id
                    yield Note(id=note_id, topic=fields["topic"], body=json.loads(fields["body"]))
"""

OPENING = """
import contextlib
import os

from hub.base import Hub
from settings import HubSettings


def _chosen(settings):
    if settings is None and os.getenv("HUB_URL"):
        return HubSettings(type="stored", url=os.getenv("HUB_URL"))
    return settings


@contextlib.asynccontextmanager
async def open_hub(settings=None):
    chosen = _chosen(settings)
    if chosen is None or chosen.type == "local":
        from hub.local import LocalHub

        made = LocalHub(keep=chosen.keep if chosen is not None else 100)
        try:
            yield made
        finally:
            await made.close()
        return
    if chosen.type == "stored":
        from hub.stored import StoredHub

        made = StoredHub(url=chosen.url)
        try:
            yield made
        finally:
            await made.close()
        return
    raise ValueError(f"unknown hub {chosen.type!r}")
"""

ONLY = """
import contextlib


@contextlib.asynccontextmanager
async def open_hub(settings=None):
    from {module} import {name}

    yield {name}({given})
"""

SETTINGS = """
import yaml
from pydantic import BaseModel


class HubSettings(BaseModel):
    type: str = "local"
    url: str | None = None
    keep: int = 100


class Settings(BaseModel):
    hub: HubSettings | None = None


def get_settings():
    with open("settings.yaml") as file:
        return Settings.model_validate(yaml.safe_load(file))
"""

SERVING = """
import json

from hub.base import CLOSED, IDLE, Hole


def frame(topic, body, note_id=None):
    parts = [f"event: {topic}", f"data: {json.dumps(body)}"]
    if note_id:
        parts.append(f"id: {note_id}")
    return "\\n".join([*parts, "", ""])


async def notes_of(hub, job, request):
    after = request.headers.get("Last-Event-ID")
    async for note in hub.listen(job.id, after=after):
        if await request.is_disconnected():
            break
        if isinstance(note, Hole):
            yield frame("gap", {"oldest": note.oldest})
            return
        if note is IDLE:
            yield ": idle\\n\\n"
            continue
        if note is CLOSED:
            return
        yield frame(note.topic, note.body, note.id or None)
"""

JOBS = """
import asyncio
import uuid
from dataclasses import dataclass


@dataclass
class Job:
    id: str
    task: object = None


class Jobs:
    def __init__(self):
        self._jobs = {}

    def start(self, hub, steps):
        job = Job(uuid.uuid4().hex)
        self._jobs[job.id] = job
        job.task = asyncio.create_task(work(hub, job, steps))
        return job

    def get(self, job_id):
        return self._jobs.get(job_id)


async def work(hub, job, steps):
    for number in range(steps):
        await hub.put(job.id, "progress", {"number": number})
"""

APP = """
from contextlib import AsyncExitStack, asynccontextmanager

from fastapi import FastAPI, HTTPException, Request
from fastapi.responses import StreamingResponse

from hub.opening import open_hub
from jobs import Jobs
from serving import notes_of
from settings import get_settings


@asynccontextmanager
async def lifespan(app: FastAPI):
    settings = get_settings()
    async with AsyncExitStack() as stack:
        app.state.hub = await stack.enter_async_context(open_hub(settings.hub))
        app.state.jobs = Jobs()
        yield


app = FastAPI(lifespan=lifespan)


def _need(name):
    def getter(request: Request):
        value = getattr(request.app.state, name, None)
        if value is None:
            raise HTTPException(status_code=503)
        return value

    return getter


get_hub, get_jobs = _need("hub"), _need("jobs")


@app.post("/jobs")
async def begin(request: Request):
    return {"id": get_jobs(request).start(get_hub(request), 10).id}


@app.get("/jobs/{job_id}/notes")
async def notes(job_id: str, request: Request):
    job = get_jobs(request).get(job_id)
    if job is None:
        raise HTTPException(status_code=404)
    return StreamingResponse(notes_of(get_hub(request), job, request), media_type="text/event-stream")
"""


def program(opening: str = OPENING, app: str = APP) -> dict[str, str]:
    """The files of a server whose hub `opening` opens."""
    return {
        "hub/__init__.py": "",
        "hub/base.py": BASE,
        "hub/local.py": LOCAL,
        "hub/stored.py": STORED,
        "hub/opening.py": opening,
        "settings.py": SETTINGS,
        "serving.py": SERVING,
        "jobs.py": JOBS,
        "app.py": app,
    }


def told(reading: Reading) -> dict[str, Stream]:
    """The streams by their symbols."""
    return {s.symbol: s for s in reading.streams}


def facts(stream: Stream) -> tuple[IdKind, Where, Outcome]:
    """What the three questions are answered with."""
    return stream.ids.kind, stream.replay.where, stream.on_foreign.outcome


IN_MEMORY = (IdKind.CLOCK, Where.MEMORY, Outcome.REPLAY_ALL)
IN_STORE = (IdKind.STORE, Where.SHARED, Outcome.COMPARED)


def test_each_implementation_has_its_own_facts_and_the_endpoint_none() -> None:
    """The settings are in a file that is not read: the endpoint is unknown because of that, and names both."""
    streams = told(reading_of(program()))
    assert set(streams) == {"notes", "LocalHub", "StoredHub"}
    assert facts(streams["LocalHub"]) == IN_MEMORY
    assert facts(streams["StoredHub"]) == IN_STORE
    endpoint = streams["notes"]
    assert facts(endpoint) == (IdKind.UNKNOWN, Where.UNKNOWN, Outcome.UNKNOWN)
    assert endpoint.ids.scope is Scope.UNKNOWN
    for why in (endpoint.ids.why, endpoint.replay.why, endpoint.on_foreign.why):
        assert "what hub is" in why
        assert "LocalHub" in why
        assert "StoredHub" in why


def test_an_implementation_is_a_fact_of_its_class_without_a_verdict() -> None:
    """It stands where the class does, its evidence in its own file, and no application mounts it."""
    streams = told(reading_of(program()))
    for name, path in (("LocalHub", "hub/local.py"), ("StoredHub", "hub/stored.py")):
        stream = streams[name]
        assert (stream.path, stream.apps, stream.url) == (path, (), None)
        assert path in {span.path for span in stream.ids.evidence}
        assert path in {span.path for span in stream.replay.evidence}
    assert streams["notes"].apps


@pytest.mark.parametrize(
    ("module", "name", "given", "expected"),
    [
        ("hub.local", "LocalHub", "keep=100", IN_MEMORY),
        ("hub.stored", "StoredHub", "url=settings.url", IN_STORE),
    ],
    ids=["in memory", "in a store"],
)
def test_the_only_implementation_is_the_endpoint_itself(
    module: str, name: str, given: str, expected: tuple[IdKind, Where, Outcome]
) -> None:
    """Look-alike: nothing is chosen, and no class is told of beside the endpoint."""
    opening = textwrap.dedent(ONLY).format(module=module, name=name, given=given)
    streams = told(reading_of(program(opening)))
    assert set(streams) == {"notes"}
    assert facts(streams["notes"]) == expected


def test_implementations_that_make_no_difference_are_not_told_of() -> None:
    """Look-alike: the job list is one of two classes too, but no fact of the stream hangs on it."""
    app = APP.replace(
        "app.state.jobs = Jobs()", "app.state.jobs = Jobs() if settings.hub is None else OtherJobs()"
    ).replace("from jobs import Jobs", "from jobs import Jobs\n\n\nclass OtherJobs(Jobs):\n    pass\n")
    opening = textwrap.dedent(ONLY).format(module="hub.local", name="LocalHub", given="keep=100")
    streams = told(reading_of(program(opening, app)))
    assert set(streams) == {"notes"}
    assert facts(streams["notes"]) == IN_MEMORY
