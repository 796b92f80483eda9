"""A tree that holds the source of a library which the rules describe: its own repository, or a copy of it."""

from __future__ import annotations

import pytest

from sselint.facts import IdKind, Outcome, Where
from tests.read.python.programs import reading_of, stream_of

LIBRARY = """
from aiohttp.web import StreamResponse


class EventSourceResponse(StreamResponse):
    async def _open(self, request):
        self.headers["Content-Type"] = "text/event-stream"
        await self.prepare(request)
        return self

    @property
    def last_event_id(self):
        return self._req.headers.get("Last-Event-Id")

    async def send(self, data, id=None, event=None, retry=None):
        lines = [f"{name}: {value}" for name, value in (("id", id), ("event", event), ("data", data)) if value]
        await self.write(("\\r\\n".join(lines) + "\\r\\n\\r\\n").encode())


class Opening:
    def __init__(self, coroutine):
        self._coroutine = coroutine

    def __await__(self):
        return self._coroutine.__await__()


def sse_response(request, *, headers=None, response_cls=EventSourceResponse):
    return Opening(response_cls(headers=headers)._open(request))
"""

EXAMPLE = """
import time
import weakref
from aiohttp import web
from {library} import EventSourceResponse, sse_response

clients = web.AppKey("clients", set)


class Numbered(EventSourceResponse):
    async def tell(self, text, number):
        await self.send(text, id=number)


async def watch(app):
    while True:
        for client in app[clients]:
            await client.tell("now", str(time.time()))


async def prepare(app):
    app[clients] = weakref.WeakSet()
    app["watch"] = asyncio.create_task(watch(app))


async def feed(request):
    client = await sse_response(request, response_cls=Numbered)
    request.app[clients].add(client)
    await client.wait()
    return client


app = web.Application()
app.on_startup.append(prepare)
app.router.add_get("/feed", feed)
"""


@pytest.mark.parametrize(
    ("files", "imported"),
    [
        (("aiohttp_sse/__init__.py",), "aiohttp_sse"),
        (("third_party/aiohttp_sse/__init__.py",), "third_party.aiohttp_sse"),
        (("aiohttp_sse/__init__.py", "aiohttp_sse/_answers.py"), "aiohttp_sse"),
    ],
)
def test_an_example_beside_the_source_of_its_library(files: tuple[str, ...], imported: str) -> None:
    """Both the class and the function that opens one are what the rules say, wherever the package defines them."""
    texts = dict.fromkeys(files, LIBRARY)
    if len(files) > 1:
        texts[files[0]] = "from ._answers import EventSourceResponse, sse_response\n"
    text = "import asyncio\n" + EXAMPLE.format(library=imported).lstrip()
    stream = stream_of({**texts, "examples/clock.py": text})
    assert (stream.path, stream.ids.kind, stream.replay.where) == ("examples/clock.py", IdKind.CLOCK, Where.NONE)
    assert stream.on_foreign.outcome is Outcome.NOT_READ
    assert not stream.deployable


def test_the_source_alone_is_no_stream() -> None:
    assert not reading_of({"aiohttp_sse/__init__.py": LIBRARY}).streams


def test_what_decides_is_the_code_of_the_tree() -> None:
    """A module of the tree that is called as a store's library is not the store that the rules mean."""
    store = """
class Redis:
    def __init__(self):
        self.rows = []

    def xadd(self, key, fields):
        self.rows.append((str(len(self.rows)), fields))
        return str(len(self.rows))

    def xrange(self, key, min, max):
        return self.rows


def from_url(url):
    return Redis()
"""
    app = """
import redis
from flask import Flask, Response, request

app = Flask(__name__)
log = redis.from_url("redis://log")


@app.post("/say")
def say():
    return log.xadd("log", {"data": "x"})


@app.get("/feed")
def feed():
    last = request.headers.get("Last-Event-ID", "-")

    def body():
        for number, fields in log.xrange("log", last, "+"):
            yield f"id: {number}\\ndata: {fields['data']}\\n\\n"

    return Response(body(), mimetype="text/event-stream")
"""
    stream = stream_of({"redis/__init__.py": store, "app.py": app})
    assert (stream.ids.kind, stream.replay.where) == (IdKind.INDEX, Where.MEMORY)
