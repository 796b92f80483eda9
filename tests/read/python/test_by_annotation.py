"""Services that code out of sight puts where a stream finds them: the class that an annotation names says what they
are."""

from __future__ import annotations

import pytest

from sselint.facts import IdKind, Outcome, Where
from tests.read.python.programs import stream_of

WIRED = """
import itertools
from typing import Protocol
from fastapi import Depends, FastAPI, Request
from fastapi.responses import StreamingResponse
from wiring import wire


class Feed(Protocol):
    def publish(self, text): ...
    def behind(self, last): ...


class Board:
    def __init__(self):
        self.numbers = itertools.count(1)
        self.kept = []

    def publish(self, text):
        self.kept.append((next(self.numbers), text))

    def behind(self, last):
        return [entry for entry in self.kept if entry[0] > last]

OTHER
app = FastAPI()
wire(app)


def the_feed(request: Request):
    return request.app.state.feed


@app.post("/news")
def publish(text: str, feed: TYPE = Depends(the_feed)):
    feed.publish(text)


@app.get("/news")
def news(request: Request, feed: TYPE = Depends(the_feed)):
    last = int(request.headers.get("Last-Event-ID", "0"))

    def body():
        for number, text in feed.behind(last):
            yield f"id: {number}\\ndata: {text}\\n\\n"

    return StreamingResponse(body(), media_type="text/event-stream")
"""
WALL = """
class Wall:
    def publish(self, text):
        print(text)

    def behind(self, last):
        return []

"""


@pytest.mark.parametrize("kind", ["Board", "Feed"], ids=["a class", "a protocol that one class keeps"])
def test_a_service_is_what_its_annotation_says(kind: str) -> None:
    stream = stream_of(WIRED.replace("TYPE", kind).replace("OTHER", ""))
    assert (stream.ids.kind, stream.replay.where) == (IdKind.COUNTER, Where.MEMORY)
    assert stream.on_foreign.outcome is Outcome.COMPARED


@pytest.mark.parametrize(("kind", "other"), [("Feed", WALL), ("object", ""), ("dict", "")])
def test_where_it_may_be_of_several_classes_nobody_can_say(kind: str, other: str) -> None:
    """Look-alikes: two classes keep the protocol, or the annotation names no class of the tree."""
    stream = stream_of(WIRED.replace("TYPE", kind).replace("OTHER", other))
    assert (stream.ids.kind, stream.replay.where) == (IdKind.UNKNOWN, Where.UNKNOWN)
    assert stream.on_foreign.outcome is Outcome.UNKNOWN


def test_one_that_start_up_makes_is_the_one() -> None:
    """Look-alike: what is put there is in sight, and of another class than the annotation names."""
    wired = WIRED.replace("wire(app)", "app.state.feed = Wall()").replace("OTHER", WALL)
    assert stream_of(wired.replace("TYPE", "Feed")).ids.kind is not IdKind.COUNTER


@pytest.mark.parametrize("base", ["class Feed(Protocol):", "class Feed(ABC):"])
def test_of_several_classes_it_is_the_one_that_the_application_makes(base: str) -> None:
    made = WIRED.replace("wire(app)", "wire(app, Board())").replace("TYPE", "Feed").replace("OTHER", WALL)
    if "ABC" in base:
        made = "from abc import ABC\n" + made.replace("class Board:", "class Board(Feed):")
        made = made.replace("class Wall:", "class Wall(Feed):").replace("class Feed(Protocol):", base)
    stream = stream_of(made)
    assert (stream.ids.kind, stream.replay.where) == (IdKind.COUNTER, Where.MEMORY)
    assert stream.on_foreign.outcome is Outcome.COMPARED


@pytest.mark.parametrize("more", ["wire(app, Board(), Wall())", "wire(app, Board() if app.debug else Wall())"])
def test_of_several_that_are_made_nobody_can_say_which(more: str) -> None:
    """Look-alikes: the application makes objects of two of them."""
    stream = stream_of(WIRED.replace("wire(app)", more).replace("TYPE", "Feed").replace("OTHER", WALL))
    assert (stream.ids.kind, stream.replay.where) == (IdKind.UNKNOWN, Where.UNKNOWN)


def test_what_only_an_example_makes_says_nothing() -> None:
    app = WIRED.replace("TYPE", "Feed").replace("OTHER", WALL)
    files = {"app.py": app, "examples/run.py": "from app import Board, app, wire\n\nwire(app, Board())\n"}
    assert stream_of(files).ids.kind is IdKind.UNKNOWN
