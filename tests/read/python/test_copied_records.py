"""Records that are copied with another field: the copy has the new value, whatever the class had written down."""

from __future__ import annotations

import pytest

from sselint.facts import IdKind, Outcome, Scope
from tests.read.python.programs import answered, stream_of

DATACLASS = """
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Event:
    text: str
    number: int = 0
"""
ATTRS = """
import attrs


@attrs.frozen
class Event:
    text: str
    number: int = 0
"""
PYDANTIC = """
from pydantic import BaseModel


class Event(BaseModel):
    text: str
    number: int = 0
"""
NAMED = """
from typing import NamedTuple


class Event(NamedTuple):
    text: str
    number: int = 0
"""
STORE = """
log = []
counts = {}


def append(channel, event):
    following = counts.get(channel, 0) + 1
    counts[channel] = following
    log.append(COPY)


def publish(text):
    append("news", Event(text=text))
"""
FOLLOW = """
last = int(request.headers.get("last-event-id", "0"))

async def body():
    for event in log:
        if event.number > last:
            yield {"id": str(event.number), "data": event.text}

return EventSourceResponse(body())
"""


@pytest.mark.parametrize(
    ("record", "copy"),
    [
        (DATACLASS, "replace(event, number=following)"),
        (ATTRS, "attrs.evolve(event, number=following)"),
        (PYDANTIC, 'event.model_copy(update={"number": following})'),
        (PYDANTIC, 'event.copy(update={"number": following})'),
        (NAMED, "event._replace(number=following)"),
    ],
)
def test_a_copy_has_what_was_changed_and_what_was_not(record: str, copy: str) -> None:
    stream = stream_of(answered(FOLLOW, record + STORE.replace("COPY", copy)))
    assert (stream.ids.kind, stream.ids.scope) == (IdKind.COUNTER, Scope.OVERLAPPING)
    assert stream.on_foreign.outcome is Outcome.COMPARED


def test_a_copy_without_changes_is_like_the_first() -> None:
    counted = DATACLASS + STORE.replace("Event(text=text)", "Event(text=text, number=len(log) + 1)")
    stream = stream_of(answered(FOLLOW, counted.replace("COPY", "replace(event)")))
    assert stream.ids.kind is IdKind.INDEX


@pytest.mark.parametrize("changes", ["**elsewhere", "**changes"])
def test_what_changes_out_of_sight_is_not_known(changes: str) -> None:
    store = "from settings import elsewhere\n" + DATACLASS + STORE.replace("COPY", f"replace(event, {changes})")
    store = store.replace("def append(channel, event):", "def append(channel, event, **changes):")
    assert stream_of(answered(FOLLOW, store)).ids.scope is Scope.UNKNOWN


def test_a_constructor_that_runs_again_makes_a_new_id() -> None:
    record = '''
import uuid
from dataclasses import dataclass, replace


@dataclass
class Event:
    text: str
    number: object = None

    def __post_init__(self):
        self.number = uuid.uuid4()
'''
    store = record + STORE.replace("COPY", 'replace(event, text="x")')
    stream = stream_of(answered(FOLLOW.replace("int(", "str("), store))
    assert stream.ids.kind is IdKind.RANDOM
