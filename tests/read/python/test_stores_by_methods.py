"""Event stores that name no interface: the SDK asks for two methods, not for a base class."""

from __future__ import annotations

import pytest

from sselint.facts import IdKind, Outcome, Where
from tests.read.python.programs import reading_of, stream_of

RING = """
import uuid
from mcp.server.streamable_http import StreamableHTTPServerTransport


class Ring:
    def __init__(self):
        self.kept = {}

    async def store_event(self, stream_id, message):
        key = uuid.uuid4().hex
        self.kept[key] = (stream_id, message)
        return key

    async def replay_events_after(self, last_event_id, send_callback):
        if last_event_id not in self.kept:
            return None
        found = False
        for key, (stream_id, message) in self.kept.items():
            if found:
                await send_callback(message)
            found = found or key == last_event_id
        return stream_id


def transport(session):
    return StreamableHTTPServerTransport(session, event_store=Ring())
"""

SEARCHED = """
from mcp.server.fastmcp import FastMCP


class Journal:
    def __init__(self):
        self.kept = []

    async def store_event(self, stream_id, message):
        self.kept.append((stream_id, message))
        return str(len(self.kept))

    async def replay_events_after(self, last_event_id, send_callback):
        of = None
        for number, (stream_id, message) in enumerate(self.kept, 1):
            if str(number) == last_event_id:
                of = stream_id
            elif number > int(last_event_id) and stream_id == of:
                await send_callback(message)
        return of


app = FastMCP("notes", event_store=Journal()).streamable_http_app()
"""


def test_a_store_of_nobody_is_known_by_its_methods() -> None:
    found = stream_of(RING)
    assert found.ids.kind is IdKind.RANDOM
    assert found.replay.where is Where.MEMORY
    assert found.on_foreign.outcome is Outcome.EMPTY


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("async def store_event", "def store_event"),  # the SDK awaits it
        ("last_event_id, send_callback", "last_event_id"),  # and hands over what sends
        ("replay_events_after", "replay_after"),
        ("class Ring:", "from typing import Protocol\n\n\nclass Ring(Protocol):"),  # it says what others do
    ],
)
def test_what_the_sdk_could_not_ask_is_no_store(old: str, new: str) -> None:
    assert not reading_of({"app.py": RING.replace(old, new)}).streams


def test_what_belongs_to_a_request_is_never_the_none_of_a_search_that_found_nothing() -> None:
    assert stream_of(SEARCHED).on_foreign.outcome is Outcome.EMPTY


HANDED_ON = SEARCHED.replace(
    "app = FastMCP",
    """class Logged:
    def __init__(self, inner):
        self.inner = inner

    async def store_event(self, stream_id, message):
        print(stream_id)
        return await self.inner.store_event(stream_id, message)

    def __getattr__(self, name):
        return getattr(INNER, name)


app = FastMCP""",
).replace("event_store=Journal()", "event_store=Logged(Journal())")


def test_what_a_store_hands_on_is_asked_of_the_one_behind_it() -> None:
    stream = stream_of(HANDED_ON.replace("INNER", "self.inner"))
    assert (stream.replay.where, stream.on_foreign.outcome) == (Where.MEMORY, Outcome.EMPTY)


def test_what_a_store_hands_on_to_nobody_in_the_tree_is_not_known() -> None:
    """Look-alike: something replays what is behind the cursor, out of sight."""
    stream = stream_of("from helpers import other\n" + HANDED_ON.replace("INNER", "other"))
    assert stream.on_foreign.outcome is Outcome.UNKNOWN
