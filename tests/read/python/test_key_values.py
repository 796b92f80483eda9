"""Stores that make no ids themselves: what is in them was put there, and where they are is up to who is given them."""

from __future__ import annotations

import pytest

from sselint.facts import IdKind, Outcome, Where
from tests.read.python.programs import answered, reading_of, settings, stream_of

CHAIN = """
last = request.headers.get("last-event-id")
entry = await journal.get(key=last or "first")
{missing}

async def body(entry):
    while entry is not None:
        yield {{"id": entry["name"], "data": entry["text"]}}
        entry = await journal.get(key=entry["next"])

return EventSourceResponse(body(entry))
"""
JOURNAL = """
from key_value.aio.stores.redis import RedisStore
journal = RedisStore(url="redis://journal")
"""


@pytest.mark.parametrize(
    ("missing", "outcome"),
    [
        ("if last is not None and entry is None:\n    return Response(status_code=409)", Outcome.FAIL_CLOSED),
        ("", Outcome.EMPTY),
    ],
)
def test_an_entry_is_sent_that_was_asked_for_by_the_cursor(missing: str, outcome: Outcome) -> None:
    """A store for all that has the entry goes on behind it for all; one that has it not is what a foreign id meets.
    Look-alike: nobody looks whether there is one, so that nothing is sent."""
    stream = stream_of(answered(CHAIN.format(missing=missing), JOURNAL))
    assert stream.on_foreign.outcome is outcome
    assert stream.replay.where is Where.SHARED


KEPT = """
from uuid import uuid4
{place}


async def publish(text):
    number = {made}
    await journal.put(key="order", value={{"ids": [number], "text": text}})
"""
LIST = """
last = request.headers.get("last-event-id")
ids = (await journal.get(key="order"))["ids"]

async def body():
    for key in ids[ids.index(last) + 1 if last in ids else 0 :]:
        yield {"id": key, "data": "news"}

return EventSourceResponse(body())
"""
MEMORY = "from key_value.aio.stores.memory import MemoryStore\njournal = MemoryStore()"


@pytest.mark.parametrize("place", [JOURNAL, MEMORY])
@pytest.mark.parametrize(
    ("made", "kind"), [("uuid4().hex", IdKind.RANDOM), ("await elsewhere(text)", IdKind.UNKNOWN)]
)
def test_what_was_put_there_names_the_events(place: str, made: str, kind: IdKind) -> None:
    """The store numbers nothing, so that an id is what the tree put there. Look-alike: who knows what that is."""
    stream = stream_of(answered(LIST, KEPT.format(place=place, made=made)))
    assert stream.ids.kind is kind


FASTMCP = """
from fastmcp import FastMCP
from fastmcp.server.event_store import EventStore
from key_value.aio.stores.disk import DiskStore
from key_value.aio.stores.redis import RedisStore
from key_value.aio.wrappers.prefix_keys import PrefixKeysWrapper

server = FastMCP("orders")
app = server.http_app(event_store=EventStore({given}))
"""


@pytest.mark.parametrize(
    ("given", "where"),
    [
        ("", Where.MEMORY),
        ("storage=None", Where.MEMORY),
        ('RedisStore(url="redis://events")', Where.SHARED),
        ('storage=PrefixKeysWrapper(RedisStore(url="redis://events"), prefix="orders")', Where.SHARED),
        ('storage=DiskStore(directory="/data")', Where.POD_DISK),
        ("storage=ours()", Where.UNKNOWN),
    ],
)
def test_an_event_store_keeps_where_the_store_does_that_it_is_given(given: str, where: Where) -> None:
    stream = stream_of(FASTMCP.format(given=given), settings(FASTMCP_STATELESS_HTTP="false"))
    assert stream.replay.where is where
    assert stream.ids.kind is IdKind.RANDOM


OPEN = """
from uuid import uuid4
from key_value.aio.protocols import AsyncKeyValue
from key_value.aio.stores.memory import MemoryStore
from mcp.server.streamable_http import EventMessage, EventStore


class Journal(EventStore):
    def __init__(self, storage: {annotation} = None):
        self.storage = storage or MemoryStore()

    async def store_event(self, stream_id, message):
        event_id = uuid4().hex
        await self.storage.put(key=event_id, value={{"stream": stream_id, "message": message}})
        return event_id

    async def replay_events_after(self, last_event_id, send_callback):
        entry = await self.storage.get(key=last_event_id)
        if not entry:
            return None
        await send_callback(EventMessage(entry["message"], last_event_id))
        return entry["stream"]
"""


@pytest.mark.parametrize(
    ("annotation", "where"), [("AsyncKeyValue | None", Where.UNKNOWN), ("MemoryStore | None", Where.MEMORY)]
)
def test_a_store_of_an_interface_is_for_others_to_pick(annotation: str, where: Where) -> None:
    """Nothing in the tree makes the event store, and what it is made with may be any store of the library. Look-alike:
    it takes only the one kind."""
    (stream,) = reading_of({"journal.py": OPEN.format(annotation=annotation)}).streams
    assert stream.replay.where is where
    assert stream.on_foreign.outcome is Outcome.EMPTY


WRAPPED = """
from mcp.server.streamable_http import EventStore


class Scoped(EventStore):
    def __init__(self, inner, scope):
        self.inner = inner
        self.scope = scope

    async def store_event(self, stream_id, message):
        return f"{{self.scope}}:{{await self.inner.store_event(stream_id, message)}}"

    async def replay_events_after(self, last_event_id, send_callback):
        {replay}
"""
HANDED_ON = "return await self.inner.replay_events_after(last_event_id, send_callback)"


@pytest.mark.parametrize(("replay", "outcome"), [(HANDED_ON, Outcome.UNKNOWN), ("return None", Outcome.IGNORED)])
def test_a_store_around_another(replay: str, outcome: Outcome) -> None:
    """What the inner store sends is out of sight. Look-alike: nobody is asked."""
    (stream,) = reading_of({"scoped.py": WRAPPED.format(replay=replay)}).streams
    assert stream.on_foreign.outcome is outcome
