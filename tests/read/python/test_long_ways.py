"""Start-ups and handlers that ask many questions before they come to the stream."""

from __future__ import annotations

import pytest

from sselint.facts import IdKind, Outcome, Where
from sselint.read.python.interpreter import late
from sselint.read.python.interpreter.values import Const, Unknown
from sselint.read.python.source.modules import Module
from sselint.source import Source
from tests.read.python.programs import reading_of, stream_of

STARTS = """
import uuid
from contextlib import asynccontextmanager

import yaml
from fastapi import FastAPI, HTTPException, Request
from sse_starlette import EventSourceResponse


class Log:
    def __init__(self):
        self.kept = []

    def put(self, text):
        self.kept.append((uuid.uuid4().hex, text))


@asynccontextmanager
async def lifespan(app: FastAPI):
    settings = yaml.safe_load(open("settings.yaml"))
{start}
    app.state.log = Log()
    yield
{stop}


app = FastAPI(lifespan=lifespan)


@app.post("/put")
async def put(text: str, request: Request):
    request.app.state.log.put(text)


@app.get("/feed")
async def feed(request: Request):
    log = getattr(request.app.state, "log", None)
    if log is None:
        raise HTTPException(status_code=503)

    async def body():
        for key, text in log.kept:
            yield {{"id": key, "data": text}}

    return EventSourceResponse(body())
"""

ASKED = "\n".join(f'    if settings[{name}]:\n        print("{name}")' for name in range(30))
CHECKED = "\n".join(
    f'    if settings["{name}"]:\n        raise SystemExit("{name}")' for name in ("workers", "disk", "keys", "cache")
)
WALKED = """
    waiting = [settings["folder"]]
    while waiting:
        folder = waiting.pop()
        waiting.extend(folder.children)
"""


@pytest.mark.parametrize("start", [ASKED + "\n" + CHECKED, WALKED], ids=["refusals behind questions", "a worklist"])
def test_a_start_up_is_followed_to_its_end(start: str) -> None:
    """What a start-up makes is found behind many questions, refusals and loops that come to an end."""
    stream = stream_of(STARTS.format(start=start, stop="    print('stopped')"))
    assert (stream.ids.kind, stream.replay.where) == (IdKind.RANDOM, Where.MEMORY)


def test_what_is_done_when_the_server_stops_is_not_done_before() -> None:
    """What is made behind the `yield` of a start-up is not what requests meet."""
    stream = stream_of(STARTS.format(start="", stop="    app.state.log = None"))
    assert stream.guards == ()
    assert (stream.ids.kind, stream.replay.where) == (IdKind.RANDOM, Where.MEMORY)


def test_a_start_up_that_never_ends_serves_nothing() -> None:
    """Look-alike: `while True` without a way out is no loop that comes to an end."""
    reading = reading_of({"app.py": STARTS.format(start="    while True:\n        print('waiting')", stop="")})
    assert [s for s in reading.streams if s.replay.where is Where.MEMORY] == []


REFUSING = """
import uuid

from sse_starlette import EventSourceResponse
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.routing import Route

import keys

log = []


def publish(text):
    log.append((uuid.uuid4().hex, text))


async def feed(request):
{asked}
{checked}

    async def body():
        for key, text in log:
            yield {{"id": key, "data": text}}

    return EventSourceResponse(body())


app = Starlette(routes=[Route("/feed", feed)])
"""


def test_a_stream_behind_many_refusals_is_found() -> None:
    """A handler that may refuse for many reasons is gone back on until it comes to its stream."""
    asked = "\n".join(f'    if keys.ask("{n}"):\n        print("{n}")' for n in range(30))
    checked = "\n".join(f'    if keys.bad("{n}"):\n        raise HTTPException(403)' for n in range(14))
    stream = stream_of(REFUSING.format(asked=asked, checked=checked))
    assert (stream.ids.kind, stream.replay.where) == (IdKind.RANDOM, Where.MEMORY)


LATER = """
engine = None
address = "localhost"


def begin(url):
    global engine, address
    engine = make(url)


def sessions():
    other = None
    return engine, other
"""


@pytest.mark.parametrize(
    ("name", "value", "seen", "sure"),
    [
        ("engine", None, False, False),
        ("engine", None, True, True),
        ("address", "a", False, True),
        ("other", None, False, True),
    ],
    ids=["set later", "seen to be set", "something already", "a local"],
)
def test_a_global_that_a_function_sets_later(name: str, value: str | None, seen: bool, sure: bool) -> None:
    """`None` may be more by the time of a request if a function that nobody saw run declares the name `global`."""
    module = Module(Source("engines.py", LATER, "python"), "engines", False)
    found = late.alternatives(module, name, [Const.of(value)], seen)
    assert [isinstance(v, Unknown) and name in v.why for v in found] == ([] if sure else [True])


ASKED = """
from starlette.applications import Starlette
from starlette.responses import StreamingResponse
from starlette.routing import Route

CURSOR = "Last-Event-ID"


async def feed(request):
    asked = request.query_params
    {questions}
    return StreamingResponse(iter(["data: news\\n\\n"]), media_type="text/event-stream")


app = Starlette(routes=[Route("/feed", feed)])
"""


@pytest.mark.parametrize(
    ("many", "kind", "where"), [(3, IdKind.NONE, Where.NONE), (400, IdKind.UNKNOWN, Where.UNKNOWN)]
)
def test_what_is_not_there_as_far_as_it_was_followed(many: int, kind: IdKind, where: Where) -> None:
    """That nothing has an id, and nothing is replayed, is known where each answer was tried. Look-alike: there are more
    questions than paths that are followed, and the tree speaks of a cursor."""
    questions = "\n    ".join(f'if asked.get("k{n}"):\n        print("k{n}")' for n in range(many))
    stream = stream_of(ASKED.format(questions=questions))
    assert (stream.ids.kind, stream.replay.where) == (kind, where)


BEHIND = """
import json

import redis
from starlette.applications import Starlette
from starlette.responses import StreamingResponse
from starlette.routing import Route

store = redis.from_url("redis://events")


async def feed(request):
    last = request.headers.get("Last-Event-ID", "0")

    async def body():
        for _, entries in store.xread({{"news": last}}):
            for key, fields in entries:
{questions}
                yield f"id: {{key}}\\ndata: news\\n\\n"{after}

    return StreamingResponse(body(), media_type="text/event-stream")


async def put(request):
    store.xadd("news", {{"text": "news"}})


app = Starlette(routes=[Route("/feed", feed), Route("/put", put, methods=["POST"])])
"""


@pytest.mark.parametrize(
    ("many", "after", "outcome"),
    [
        (3, "", Outcome.COMPARED),
        (400, "", Outcome.UNKNOWN),
        (3, "\n        raise RuntimeError", Outcome.EMPTY),
        (400, "\n        raise RuntimeError", Outcome.UNKNOWN),
    ],
)
def test_what_comes_after_a_cursor_where_no_event_was_followed(many: int, after: str, outcome: Outcome) -> None:
    """That nothing comes after it is not known where work ended before any event that has an id. Look-alike: there are
    no more questions than are answered."""
    asks = (f'                if fields.get("k{n}"):\n                    continue' for n in range(many))
    stream = stream_of(BEHIND.format(questions="\n".join(asks), after=after))
    assert stream.on_foreign.outcome is outcome
