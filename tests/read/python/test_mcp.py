"""Servers of the Model Context Protocol: what the SDK does by itself, and what stands around it."""

from __future__ import annotations

import pytest

from tests.read.python.programs import stream_of

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
