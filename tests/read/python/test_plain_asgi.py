"""Applications that speak ASGI themselves: who makes them, and what their tasks send."""

from __future__ import annotations

import pytest

from sselint.facts import IdKind, Outcome, Where
from tests.read.python.programs import reading_of, stream_of

FEED = """
import asyncio
import redis.asyncio as redis
from contextlib import asynccontextmanager


class Feed:
    def __init__(self, url):
        self.log = redis.from_url(url)

    @classmethod
    @asynccontextmanager
    async def opened(cls, url):
        feed = cls(url)
        try:
            yield feed
        finally:
            await feed.log.aclose()

    async def __call__(self, scope, receive, send):
        last = dict(scope["headers"]).get(b"last-event-id", b"0").decode()
        headers = [(b"content-type", b"text/event-stream")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        SENT

    async def rows(self, last):
        for key, fields in await self.log.xrange("log", f"({last}", "+"):
            yield f"id: {key}\\ndata: {fields['text']}\\n\\n".encode()


async def pump(rows, send):
    async for row in rows:
        await send({"type": "http.response.body", "body": row, "more_body": True})


async def wait(receive):
    while (await receive())["type"] != "http.disconnect":
        pass


async def beat(send):
    while True:
        await asyncio.sleep(15)
        await send({"type": "http.response.body", "body": b": still here\\n\\n", "more_body": True})
"""

SENT = {
    "at once": "await pump(self.rows(last), send)",
    "by a task": """one = asyncio.create_task(pump(self.rows(last), send))
        two = asyncio.create_task(wait(receive))
        await asyncio.wait({one, two}, return_when=asyncio.FIRST_COMPLETED)
        two.cancel()""",
    "beside a heartbeat": """task = asyncio.create_task(beat(send))
        await pump(self.rows(last), send)
        task.cancel()""",
    "by a group": """async with asyncio.TaskGroup() as group:
            group.create_task(pump(self.rows(last), send))""",
}

MADE = '\n\napp = Feed("redis://log")\n'

STARTED = """
import asyncio
import uvicorn
from app import Feed


def main():
    asyncio.run(serve())


async def serve():
    async with Feed.opened("redis://log") as feed:
        await uvicorn.Server(uvicorn.Config(feed, port=8000)).serve()
"""


@pytest.mark.parametrize("how", SENT)
def test_what_a_task_of_the_request_sends_is_its_answer(how: str) -> None:
    """Whether the handler sends or a task that it starts: the client receives it. A heartbeat is no event."""
    stream = stream_of(FEED.replace("SENT", SENT[how]) + MADE)
    assert (stream.ids.kind, stream.replay.where) == (IdKind.STORE, Where.SHARED)
    assert (stream.replay.live_tail, stream.on_foreign.outcome) == (Where.NONE, Outcome.COMPARED)


def test_a_task_that_goes_on_keeps_the_stream_open() -> None:
    """The handler comes to its end while the task still sends. Look-alike: a heartbeat that nobody stops."""
    task = "asyncio.create_task({}(send))"
    tick = '\n\nasync def tick(send):\n    while True:\n        '
    tick += 'await send({"type": "http.response.body", "body": b"data: tick\\n\\n", "more_body": True})\n'
    sent = SENT["at once"] + "\n        "
    open_, closed = (FEED.replace("SENT", sent + task.format(name)) for name in ("tick", "beat"))
    assert stream_of(open_ + tick + MADE).replay.live_tail is Where.MEMORY
    assert stream_of(closed + MADE).replay.live_tail is Where.NONE


def test_an_application_that_is_made_where_the_server_starts() -> None:
    """No module holds it: the server is given it. Look-alike: nobody makes one, and its method is told by itself."""
    files = {"app.py": FEED.replace("SENT", SENT["at once"]), "start.py": STARTED}
    stream = stream_of(files)
    assert (stream.path, stream.ids.kind, stream.on_foreign.outcome) == ("app.py", IdKind.STORE, Outcome.COMPARED)
    (alone,) = reading_of({"app.py": files["app.py"]}).streams
    assert stream.symbol != alone.symbol == "Feed.__call__" and stream.apps and not alone.apps


SHARED_START = """
import asyncio
import uvicorn
from app import Feed


async def start(app):
    await uvicorn.Server(uvicorn.Config(app, port=8000)).serve()


async def main(local):
    if local:
        async with Feed.opened("redis://localhost") as feed:
            await start(feed)
    else:
        async with Feed.opened("redis://log") as feed:
            await start(feed)
    await start(Feed("redis://last"))
"""


def test_a_place_that_starts_what_it_is_given_is_one_server() -> None:
    """Three callers, one place. Look-alike: two places."""
    files = {"app.py": FEED.replace("SENT", SENT["at once"]), "start.py": SHARED_START}
    assert len(reading_of(files).pools) == 1
    files["start.py"] += "\n\nasync def other():\n    await uvicorn.Server(uvicorn.Config(Feed('redis://log'))).serve()\n"
    assert len(reading_of(files).pools) == 2


DISPATCHED = """
import json


class Session:
    def __init__(self):
        self.following = 1
        self.events = []

    def publish(self, payload):
        self.events.append((self.following, payload))
        self.following += 1


class Company:
    def __init__(self, config):
        self.config = config
        self.sessions = {}

    async def __call__(self, scope, receive, send):
        method, path = scope["method"], scope["path"]
        if method == "POST" and path == self.config.rpc:
            self.session(scope).publish({"text": "new"})
            await self.say(send, 200)
            return
        if method == "GET" and path in {self.config.stream, self.config.old_stream}:
            await self.stream(scope, receive, send)
            return
        await self.say(send, 404)

    def session(self, scope):
        name = dict(scope["headers"]).get(b"x-session", b"all")
        if name not in self.sessions:
            self.sessions[name] = Session()
        return self.sessions[name]

    async def stream(self, scope, receive, send):
        last = int(dict(scope["headers"]).get(b"last-event-id", b"0"))
        headers = [(b"content-type", b"MEDIA")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        for number, payload in self.session(scope).events:
            if number > last:
                body = f"id: {number}\\ndata: {json.dumps(payload)}\\n\\n".encode()
                await send({"type": "http.response.body", "body": body, "more_body": True})
        await send({"type": "http.response.body", "body": b""})

    async def say(self, send, status):
        await send({"type": "http.response.start", "status": status, "headers": []})
        await send({"type": "http.response.body", "body": b""})


def create(config):
    return Company(config)
"""


def test_a_method_of_the_protocol_that_an_application_hands_itself_to_is_a_stream() -> None:
    """Nothing in the tree makes the application, and its paths are its users' to configure."""
    (stream,) = reading_of({"app.py": DISPATCHED.replace("MEDIA", "text/event-stream")}).streams
    assert (stream.symbol, stream.ids.kind) == ("Company.stream", IdKind.COUNTER)
    assert (stream.replay.where, stream.on_overlap and stream.on_overlap.outcome) == (Where.MEMORY, Outcome.COMPARED)


def test_one_that_answers_with_lines_of_json_is_none() -> None:
    """The look-alike: the same method, and no event stream."""
    assert not reading_of({"app.py": DISPATCHED.replace("MEDIA", "application/x-ndjson")}).streams
