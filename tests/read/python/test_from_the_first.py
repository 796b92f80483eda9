"""A loop that counts through a history from its first element, because the cursor was not found."""

from __future__ import annotations

import pytest

from sselint.facts import Outcome
from tests.read.python.programs import answered, stream_of

STORE = """
import asyncio
import uuid
from dataclasses import dataclass

keys, log, changed = [], [], asyncio.Event()


@dataclass
class Entry:
    key: str
    text: str

    def encode(self):
        return {{"id": self.key, "data": self.text}}


def publish(text):
    key = uuid.uuid4().hex
    keys.append(key)
    log.append({element})
    changed.set()


def place_of(cursor):
    try:
        return keys.index(cursor) + 1
    except ValueError:
        return {otherwise}
"""
HANDLER = """
last = request.headers.get("last-event-id")

async def body():
    place = place_of(last) if last else len(log)
    while True:
        while place < len(log):
            entry = log[place]
            yield {sent}
            place += 1
        await changed.wait()

return EventSourceResponse(body())
"""
ELEMENTS = {
    "objects": ("Entry(key, text)", "entry.encode()"),
    "pairs": ("(key, text)", '{"id": entry[0], "data": entry[1]}'),
    "dicts": ("dict(id=key, data=text)", "entry"),
}


@pytest.mark.parametrize("kind", ELEMENTS)
def test_what_is_counted_from_the_first_is_everything(kind: str) -> None:
    element, sent = ELEMENTS[kind]
    stream = stream_of(answered(HANDLER.format(sent=sent), STORE.format(element=element, otherwise="0")))
    assert stream.on_foreign.outcome is Outcome.REPLAY_ALL


@pytest.mark.parametrize("kind", ELEMENTS)
def test_what_is_counted_from_the_end_is_what_comes(kind: str) -> None:
    """Look-alike: nothing that was there before is sent."""
    element, sent = ELEMENTS[kind]
    stream = stream_of(answered(HANDLER.format(sent=sent), STORE.format(element=element, otherwise="len(log)")))
    assert stream.on_foreign.outcome in (Outcome.FROM_HEAD, Outcome.COMPARED)


AGE = """
last = request.headers.get("last-event-id")

async def body():
    known = last in keys
    while True:
        await changed.wait()
        oldest = log[0]
        yield {"event": "size", "data": "changed"}
        yield {"id": log[-1].key, "data": log[-1].text}

return EventSourceResponse(body())
"""


def test_the_first_that_is_only_looked_at_is_not_sent() -> None:
    """Look-alike: what is sent next is another event."""
    store = STORE.format(element="Entry(key, text)", otherwise="0")
    assert stream_of(answered(AGE, store)).on_foreign.outcome is not Outcome.REPLAY_ALL
