"""Enumerations and typed dicts: a table that is written down, and a dict that says what is in it."""

from __future__ import annotations

import pytest

from sselint.facts import IdKind, Outcome, Scope, Where
from tests.read.python.programs import answered, stream_of

TOUR = """
from enum import {base}

log = []


class Stop({base}):
    HARBOUR = "harbour"
    MARKET = "market"
    TOWER = "tower"

    def is_last(self):
        return self is Stop.TOWER
"""
WALK = """
last = int(request.headers.get("last-event-id", "-1"))

async def body():
    for number, stop in enumerate({over}):
        if number > last:
            yield {{"id": str(number), "data": {data}}}

return EventSourceResponse(body())
"""


@pytest.mark.parametrize("base", ["Enum", "StrEnum"])
def test_the_members_of_an_enumeration_are_a_table_that_is_written_down(base: str) -> None:
    stream = stream_of(answered(WALK.format(over="Stop", data="stop.value"), TOUR.format(base=base)))
    assert (stream.ids.kind, stream.ids.scope) == (IdKind.CONSTANT, Scope.SHARED)
    assert (stream.replay.where, stream.on_foreign.outcome) == (Where.SHARED, Outcome.COMPARED)


def test_what_is_kept_of_its_members_is_of_the_process() -> None:
    """Look-alike: a list that requests fill with members."""
    filled = TOUR.format(base="Enum") + "\n\ndef pass_by(stop):\n    log.append(Stop(stop))\n"
    stream = stream_of(answered(WALK.format(over="log", data="stop.value"), filled))
    assert (stream.ids.scope, stream.replay.where) == (Scope.OVERLAPPING, Where.MEMORY)


TYPED = """
from typing import TypedDict

log = []


class Note({base}):
    number: int
    text: str


def publish(text):
    log.append(Note(number=len(log) + 1, text=text))
"""
NOTES = """
last = int(request.headers.get("last-event-id", "0"))

async def body():
    for note in log:
        if note["number"] > last:
            yield {"id": str(note["number"]), "data": note["text"]}

return EventSourceResponse(body())
"""


def test_a_typed_dict_is_a_dict() -> None:
    stream = stream_of(answered(NOTES, TYPED.format(base="TypedDict")))
    assert (stream.ids.kind, stream.ids.scope) == (IdKind.INDEX, Scope.OVERLAPPING)
    assert (stream.replay.where, stream.on_foreign.outcome) == (Where.MEMORY, Outcome.COMPARED)


def test_a_class_that_is_indexed_by_its_own_method_is_none() -> None:
    """Look-alike: what stands under a name is what the method makes."""
    text = TYPED.format(base="Named").replace(
        "class Note",
        "class Named:\n    def __init__(self, number, text):\n        self.text = text\n\n"
        "    def __getitem__(self, name):\n        return uuid.uuid4().hex\n\n\nclass Note",
    )
    stream = stream_of(answered(NOTES.replace("last = int", "last = str"), "import uuid\n" + text))
    assert stream.ids.kind is IdKind.RANDOM
