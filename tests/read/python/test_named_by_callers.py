"""What is handed on whole: the keyword arguments of callers out of sight, and messages that are wrapped."""

from __future__ import annotations

from sselint.facts import IdKind, Scope
from tests.read.python.programs import reading_of, stream_of

ACTION = """
import uuid

from fastapi import HTTPException
from sse_starlette import EventSourceResponse, ServerSentEvent


async def act(wanted, **rest):
    asked = rest.pop("asked")
    kinds = asked.headers.get("Accept").split(",")
    if kinds.index("text/event-stream") != 0:
        raise HTTPException(status_code=406)

    async def body():
        async for word in wanted.words(**rest):
            yield ServerSentEvent(id=str(uuid.uuid4()), data=word)

    return EventSourceResponse(body())
"""


def test_what_callers_out_of_sight_name_may_be_there() -> None:
    stream = stream_of(ACTION)
    assert (stream.symbol, stream.ids.kind, stream.ids.scope) == ("act", IdKind.RANDOM, Scope.UNIQUE_LOCAL)


def test_what_the_only_caller_does_not_name_is_not_there() -> None:
    """Look-alike: the caller is in the tree and names nothing, so that the function fails before it sends."""
    mounted = """
from fastapi import FastAPI

server = FastAPI()


@server.post("/acts")
async def acts():
    return await act(None)
"""
    assert reading_of({"app.py": ACTION + mounted}).streams == ()


def test_what_is_handed_on_whole_is_still_open() -> None:
    inner = ACTION.replace(
        "async def act(wanted, **rest):",
        "async def act(**rest):\n    return await run(**rest)\n\n\nasync def run(wanted, **rest):",
    )
    assert stream_of(inner).ids.kind is IdKind.RANDOM


WRAPPED = """
import itertools

from mcp.server.streamable_http import EventMessage, EventStore
from mcp.shared.message import SessionMessage


class Kept(EventStore):
    def __init__(self):
        self.numbers = itertools.count(1)
        self.kept = {}

    async def store_event(self, stream_id, message):
        number = str(next(self.numbers))
        wrapped = SessionMessage(message=NAME, metadata=None)
        self.kept[number] = message
        return wrapped.message

    async def replay_events_after(self, last_event_id, send_callback):
        return None
"""


def test_a_wrapped_message_keeps_what_it_was_made_of() -> None:
    assert stream_of(WRAPPED.replace("NAME", "number")).ids.kind is IdKind.COUNTER


def test_a_wrapped_message_says_no_more_than_it_was_made_of() -> None:
    """Look-alike: what is wrapped is the message itself, of which nobody knows what it is."""
    assert stream_of(WRAPPED.replace("NAME", "message")).ids.kind is IdKind.UNKNOWN
