"""Arguments that are provided by name: by the route, by the class of the handler, or by the application."""

from __future__ import annotations

import pytest

from sselint.facts import IdKind, Outcome, Where
from tests.read.python.programs import stream_of

PROGRAM = """
from collections import deque
from typing import Any

from litestar import Controller, Litestar, Request, get, post
from litestar.di import Provide
from litestar.response import ServerSentEvent, ServerSentEventMessage


class Changes:
    def __init__(self) -> None:
        self.kept = deque(maxlen=90)
        self.newest = 0

    def add(self, change) -> None:
        self.newest += 1
        self.kept.append((self.newest, change))

    def behind(self, number):
        return [kept for kept in self.kept if kept[0] > number]


class Nothing(Changes):
    def add(self, change) -> None:
        pass

    def behind(self, number):
        return []


changes, nothing = Changes(), Nothing()


def the_changes() -> Changes:
    return changes


def no_changes() -> Changes:
    return nothing


class Stock(Controller):
    path = "/stock"
    {of_class}

    @post()
    async def change(self, changes: Changes, data: dict[str, Any]) -> None:
        changes.add(data)

    @get("/changes"{of_route})
    async def follow(self, request: Request, changes: Changes) -> ServerSentEvent:
        last = int(request.headers.get("Last-Event-ID", "0"))

        async def told():
            for number, change in changes.behind(last):
                yield ServerSentEventMessage(id=str(number), data=str(change))

        return ServerSentEvent(told())


app = Litestar([Stock]{of_application})
"""
THESE = "dependencies={'changes': Provide(the_changes)}"
NONE = "dependencies={'changes': Provide(no_changes)}"


def program(of_class: str = "", of_route: str = "", of_application: str = "") -> str:
    routed, applied = (f", {text}" if text else "" for text in (of_route, of_application))
    filled = PROGRAM.replace("{of_class}", of_class).replace("{of_route}", routed)
    return filled.replace("{of_application}", applied)


@pytest.mark.parametrize("by", [{"of_class": THESE}, {"of_route": THESE}, {"of_application": THESE}])
def test_whoever_provides_it_the_handler_is_given_the_object(by: dict[str, str]) -> None:
    stream = stream_of(program(**by))
    assert stream.ids.kind is IdKind.COUNTER
    assert stream.replay.where is Where.MEMORY
    assert stream.on_foreign.outcome is Outcome.COMPARED


def test_the_nearest_to_the_handler_provides() -> None:
    near = stream_of(program(of_class=NONE, of_route=THESE, of_application=NONE))
    assert near.replay.where is Where.MEMORY
    far = stream_of(program(of_class=NONE, of_application=THESE))
    assert far.replay.where is Where.NONE


def test_what_nobody_provides_is_the_body() -> None:
    assert stream_of(program()).ids.kind is not IdKind.COUNTER
