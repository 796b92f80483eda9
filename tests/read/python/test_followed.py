"""Streams behind much else that is asked: what leads to their end is answered first, and what was missed is said."""

from __future__ import annotations

from dataclasses import replace
from types import ModuleType, SimpleNamespace
from typing import cast

import pytest

from sselint.facts import FileOutcome, IdKind, Outcome, Where
from sselint.read.python.answers import streams
from sselint.read.python.answers.variants import worse
from sselint.read.python.server import build
from sselint.read.python.server.world import World
from tests.read.python.programs import reading_of, stream_of

ASKED = "\n".join(f"    if user.get('may {n}') and user.get('wants {n}'):\n        found += {n}" for n in range(40))

POOL = """
import os
import time

import redis

retry_after = 0.0


def allowed(user):
    found = 0
{asked}
    return found


def opened():
    if time.monotonic() < retry_after:
        return None
    return redis.Redis()
"""

SERVER = """
from fastapi import FastAPI, Header, Request
from fastapi.responses import StreamingResponse

from pool import allowed, opened

app = FastAPI()


@app.post("/say")
async def say(request: Request):
    opened().xadd("events", {"data": await request.body()})


@app.get("/feed")
async def feed(request: Request, last_event_id: str | None = Header(None, alias="Last-Event-ID")):
    user = await request.json()
    allowed(user)

    async def body():
        reader = opened()
        if reader is None:
            return
        for _, entries in reader.xread({"events": last_event_id or "0"}):
            for key, fields in entries:
                yield f"id: {key}\\ndata: {fields['data']}\\n\\n"

    return StreamingResponse(body(), media_type="text/event-stream")
"""


def test_a_stream_that_turns_on_what_a_helper_gave_is_followed_behind_much_else_that_is_asked() -> None:
    stream = stream_of({"app.py": SERVER, "pool.py": POOL.format(asked=ASKED)})
    assert (stream.ids.kind, stream.replay.where) == (IdKind.STORE, Where.SHARED)
    assert stream.on_foreign.outcome is Outcome.COMPARED


STORED = """
import redis
from fastapi import FastAPI
from fastapi.responses import StreamingResponse

app = FastAPI()
client = redis.Redis()

{writer}

@app.get("/feed")
async def feed():
    async def body():
        try:
            for _, entries in client.xread({{"frames": "0"}}):
                for _, fields in entries:
                    yield {sent}
        except Exception as error:
            yield f"event: error\\ndata: {{error}}\\n\\n"

    return StreamingResponse(body(), media_type="text/event-stream")
"""


def test_text_of_a_store_that_is_sent_as_it_is_may_hold_ids() -> None:
    """That an event of its own, which says that it failed, has none says nothing of those in the store."""
    stream = stream_of(STORED.format(writer="", sent="fields['frame']"))
    assert stream.ids.kind is IdKind.UNKNOWN
    assert "text of a store" in stream.ids.why


def test_text_of_a_store_that_is_sent_as_data_holds_none() -> None:
    stream = stream_of(STORED.format(writer="", sent="f\"data: {fields['frame']}\\n\\n\""))
    assert stream.ids.kind is IdKind.NONE


SENTINEL = """
from fastapi import FastAPI, UploadFile
from sse_starlette import EventSourceResponse

app = FastAPI()
kept = []


@app.post("/load")
async def load(file: UploadFile):
    size = 0
    for block in iter(lambda: file.file.read(4096), b""):
        size += len(block)
    kept.append((str(len(kept) + 1), size))


@app.get("/feed")
async def feed():
    async def body():
        for key, size in kept:
            yield {"id": key, "data": size}

    return EventSourceResponse(body())
"""


def test_what_is_read_until_a_sentinel_may_come_to_its_end() -> None:
    stream = stream_of(SENTINEL)
    assert stream.ids.kind is IdKind.INDEX


QUEUE = """
import queue

from flask import Flask, Response

app = Flask(__name__)
waiting = queue.Queue()


@app.route("/say", methods=["POST"])
def say():
    waiting.put("said")
    return ""


@app.route("/feed")
def feed():
    def body():
        for text in iter(waiting.get, None):
            yield f"data: {text}\\n\\n"

    return Response(body(), mimetype="text/event-stream")
"""


def test_a_queue_that_is_read_until_a_sentinel_is_still_a_stream_without_ids() -> None:
    """Look-alike: nothing comes after it, and what it sends is what it sent before."""
    stream = stream_of(QUEUE)
    assert stream.ids.kind is IdKind.NONE
    assert stream.on_foreign.outcome is Outcome.NOT_READ


WRAPPED = """
import functools

from fastapi import FastAPI
from fastapi.responses import StreamingResponse

app = FastAPI()


def permitted(handler):
    @functools.wraps(handler)
    async def asked(*args, **kwargs):
        return await handler(*args, **kwargs)

    return asked


@app.get("/feed")
@permitted
async def feed():
    raise NotImplementedError
    return StreamingResponse(iter(()), media_type="{media}")
"""


@pytest.mark.parametrize(("media", "told"), [("text/event-stream", True), ("text/plain", False)])
def test_a_handler_behind_a_decorator_says_itself_what_it_sends(media: str, told: bool) -> None:
    reading = reading_of({"app.py": WRAPPED.format(media=media)})
    partly = [f for f in reading.files if f.outcome is FileOutcome.PARTLY]
    assert bool(partly) is told


BEHIND = """
from fastapi import FastAPI, Request
from fastapi.responses import StreamingResponse

app = FastAPI()
kept = []


@app.post("/say")
async def say(request: Request):
    kept.append((len(kept) + 1, await request.body()))


@app.get("/feed")
async def feed(request: Request):
    last = int(request.headers.get("last-event-id", "0"))
    user = await request.json()

    async def body():
        found = 0
        yield ": hello\\n\\n"
{asked}
        if user.get("last of all"):
            return
        for key, text in kept:
            if key > last:
                yield f"id: {{key}}\\ndata: {{text}}\\n\\n"

    return StreamingResponse(body(), media_type="text/event-stream")
"""


def test_where_work_ends_before_anything_depends_on_the_cursor_nothing_is_claimed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    text = BEHIND.format(asked="\n".join(f"    {line}" for line in ASKED.splitlines()))
    assert stream_of(text).on_foreign.outcome is Outcome.COMPARED
    monkeypatch.setattr(streams, "LEAST", 150)
    monkeypatch.setattr(build, "RUN_STEPS", 700)
    monkeypatch.setattr(build, "RUN_EACH", 700)
    stream = stream_of(text)
    assert stream.on_foreign.outcome is Outcome.UNKNOWN
    assert stream.ids.kind is IdKind.UNKNOWN


MANY = """
from fastapi import FastAPI, Request
from fastapi.responses import StreamingResponse

app = FastAPI()


@app.get("/feed")
async def feed(request: Request):
    user = await request.json()
    if user.get("is blocked"):
        return "not you"
    if user.get("has read it"):
        return "nothing is new"

    async def body():
        yield "data: text\\n\\n"

    return StreamingResponse(body(), {media}="text/{kind}")
"""


@pytest.mark.parametrize(("kind", "told"), [("event-stream", True), ("plain", False)])
@pytest.mark.parametrize(("where", "limit"), [(build, "ENTRY_PATHS"), (streams, "SHAPE_PATHS")])
def test_a_stream_behind_more_paths_than_are_run_is_told(
    monkeypatch: pytest.MonkeyPatch, kind: str, told: bool, where: ModuleType, limit: str
) -> None:
    text = MANY.format(media="media_type", kind=kind)
    assert bool(reading_of({"app.py": text}).streams) is told
    monkeypatch.setattr(where, limit, 1)
    reading = reading_of({"app.py": text})
    assert reading.streams == ()
    assert [f.outcome for f in reading.files] == [FileOutcome.TOO_LARGE] * told


def _ranks(*counts: int) -> list[int]:
    return [rank for rank, count in enumerate(counts) for _ in range(count)]


@pytest.mark.parametrize(
    ("ranks", "share"),
    [
        (_ranks(1), build.LIKELY_SIGN),
        (_ranks(8, 0, 100), 37_500),  # three quarters of it, among the eight
        (_ranks(8), build.LIKELY_SIGN),
        (_ranks(100, 0, 1), build.ENTRY_STEPS),
        (_ranks(0, 0, 20), build.FIRST_SIGN),
        (_ranks(0, 0, 0, 0, 40), build.OTHER_TOTAL),
    ],
)
def test_those_that_say_that_they_send_leave_something_for_the_others(ranks: list[int], share: int) -> None:
    world = cast(World, SimpleNamespace(budget=SimpleNamespace(steps=400_000)))
    assert build._first_share(world, ranks, 100_000) == share


def test_of_a_class_that_two_endpoints_ask_what_was_followed_further_is_told() -> None:
    followed = stream_of(STORED.format(writer="", sent="f\"data: {fields['frame']}\\n\\n\""))
    ended = replace(followed, ids=replace(followed.ids, kind=IdKind.UNKNOWN))
    assert worse(ended, followed) == worse(followed, ended) == followed
    tolerant = replace(ended, on_foreign=replace(ended.on_foreign, outcome=Outcome.IGNORED))
    refusing = replace(followed, on_foreign=replace(followed.on_foreign, outcome=Outcome.FAIL_CLOSED))
    assert worse(tolerant, refusing) == worse(refusing, tolerant) == tolerant
