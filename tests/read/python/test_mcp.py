"""Servers of the Model Context Protocol: what the SDK does by itself, and what stands around it."""

from __future__ import annotations

import pytest

from sselint.facts import IdKind, Outcome, Where
from tests.read.python.programs import settings, stream_of

SERVER = """
import uuid
from fastapi import HTTPException
from mcp.server import Server
from mcp.server.streamable_http import EventMessage, EventStore
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.applications import Starlette
from starlette.responses import Response
from starlette.routing import Route


class Kept(EventStore):
    def __init__(self):
        self.kept = {}

    async def store_event(self, stream_id, message):
        key = uuid.uuid4().hex
        self.kept[key] = message
        return key

    async def replay_events_after(self, last_event_id, send_callback):
        if last_event_id not in self.kept:
            return None
        found = False
        for key, message in self.kept.items():
            if found:
                await send_callback(EventMessage(message, key))
            found = found or key == last_event_id
        return "stream"


manager = StreamableHTTPSessionManager(app=Server("notes"), event_store=Kept())
rooms = {}


"""

CAUGHT = """
async def handle(request):
    try:
        await manager.handle_request(request.scope, request.receive, request._send)
    except Exception as problem:
        print(problem)
    return Response()


app = Starlette(routes=[Route("/mcp", handle, methods=["GET", "POST"])])
"""

ALIKE = """
async def handle(request):
    try:
        if request.headers.get("x-room") not in rooms:
            raise HTTPException(status_code=404)
    except Exception as problem:
        print(problem)
    await Kept().replay_events_after(request.headers.get("last-event-id"), request._send)
    await manager.handle_request(request.scope, request.receive, request._send)


async def enter(request):
    rooms[uuid.uuid4().hex] = 1


app = Starlette(routes=[Route("/mcp", handle), Route("/rooms", enter, methods=["POST"])])
"""


@pytest.mark.parametrize(("handler", "keys"), [(CAUGHT, ["mcp-session-id"]), (ALIKE, ["mcp-session-id"])])
def test_no_handler_catches_the_refusal_of_the_sdk(handler: str, keys: list[str]) -> None:
    """The SDK sends its 404 itself. Look-alike: what a handler raises and catches again guards nothing."""
    assert [guard.key for guard in stream_of(SERVER + handler).guards] == keys


KEPT_AS_TEXT = """
import ast, json
import redis.asyncio as redis
from mcp.server import Server
from mcp.server.streamable_http import EventMessage, EventStore
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.applications import Starlette
from starlette.routing import Mount
from uuid import uuid4


class Kept(EventStore):
    def __init__(self):
        self.client = redis.from_url("redis://kept")

    async def store_event(self, stream_id, message):
        key = str(uuid4())
        await self.client.rpush(f"stream:{stream_id}", WRITE({"key": key, "message": str(message)}))
        return key

    async def replay_events_after(self, last_event_id, send_callback):
        for name in await self.client.keys("stream:*"):
            found = False
            for line in await self.client.lrange(name, 0, -1):
                event = READ(line)
                if found:
                    await send_callback(EventMessage(event["message"], event["key"]))
                elif event["key"] == last_event_id:
                    found = True
            if found:
                return name.split(":")[1]
        return None


manager = StreamableHTTPSessionManager(app=Server("notes"), event_store=Kept())


async def handle(scope, receive, send):
    await manager.handle_request(scope, receive, send)


app = Starlette(routes=[Mount("/mcp", app=handle)])
"""


@pytest.mark.parametrize(
    ("write", "read"), [("json.dumps", "json.loads"), ("str", "eval"), ("repr", "ast.literal_eval")]
)
def test_what_a_store_keeps_as_text_is_what_was_written(write: str, read: str) -> None:
    stream = stream_of(KEPT_AS_TEXT.replace("WRITE", write).replace("READ", read))
    assert (stream.replay.where, stream.on_foreign.outcome) == (Where.SHARED, Outcome.EMPTY)


def test_what_is_made_of_text_out_of_sight_may_be_the_cursor() -> None:
    """Look-alike: who takes the text apart is not known, and neither is what comes of it."""
    other = "from elsewhere import read\n" + KEPT_AS_TEXT.replace("WRITE", "str").replace("READ", "read")
    assert stream_of(other).on_foreign.outcome is not Outcome.EMPTY


SHARED = """
import redis


class Shared(EventStore):
    def __init__(self, url):
        self.redis = redis.from_url(url)

    async def store_event(self, stream_id, message):
        return self.redis.xadd(stream_id, {"message": message.model_dump_json()})

    async def replay_events_after(self, last_event_id, send_callback):
        for key, fields in self.redis.xrange("stream", min=f"({last_event_id}"):
            await send_callback(EventMessage(fields["message"], key))
        return "stream"


"""
CHOSEN = """
import os

url = os.getenv("EVENTS_URL")
if url:
    try:
        store = Shared(url)
    except Exception:
        store = Kept()
else:
    store = Kept()
manager = StreamableHTTPSessionManager(app=Server("notes"), event_store=store)
"""


def test_the_store_that_the_environment_gives_to_the_manager() -> None:
    """Neither is told for the other: with memory a foreign id is not found, with Redis what is behind it is sent."""
    made = 'manager = StreamableHTTPSessionManager(app=Server("notes"), event_store=Kept())\n'
    source = SERVER.replace(made, SHARED + CHOSEN) + CAUGHT
    stream = stream_of(source)
    assert stream.on_foreign.outcome is Outcome.UNKNOWN
    assert "EVENTS_URL" in stream.on_foreign.why
    assert stream.ids.kind is IdKind.UNKNOWN
    given = stream_of(source, settings(EVENTS_URL="redis://events:6379"))
    assert (given.ids.kind, given.replay.where) == (IdKind.STORE, Where.SHARED)
    unset = stream_of(source, settings())
    assert (unset.ids.kind, unset.on_foreign.outcome) == (IdKind.RANDOM, Outcome.EMPTY)
