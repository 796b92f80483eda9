"""Tables keyed by classes and functions, attributes of functions, and dependencies behind a decorator."""

from __future__ import annotations

import pytest

from sselint.facts import IdKind, Outcome, Where
from tests.read.python.programs import stream_of

SERVER = """
import itertools

from flask import Flask, Response, request

app = Flask(__name__)


class Feed: ...


class Bell:
    def ring(self):
        return "ring"


class Log(Feed):
    def __init__(self):
        self.numbers, self.kept = itertools.count(), []

    def add(self, text):
        self.kept.append((next(self.numbers), text))

    def behind(self, last):
        return [entry for entry in self.kept if entry[0] > last]


class Services:
    def __init__(self):
        self.how, self.made = {}, {}

    def register(self, kind, how):
        self.how[kind] = how

    def resolve(self, kind):
RESOLVE


services = Services()
services.register(Bell, Bell)
services.register(Feed, Log)


@app.post("/say")
def say():
    services.resolve(Bell).ring()
    services.resolve(Feed).add("said")
    return "said"


@app.get("/feed")
def feed():
    services.resolve(Bell)
    last = int(request.headers.get("Last-Event-ID", -1))

    def events():
        for number, text in services.resolve(ASKED).behind(last):
            yield f"id: {number}\\ndata: {text}\\n\\n"

    return Response(events(), mimetype="text/event-stream")
"""

RESOLVE = [
    """
        if kind not in self.made:
            self.made[kind] = self.how[kind]()
        return self.made[kind]
""",
    """
        found = self.made.get(kind)
        if found is None:
            found = self.made[kind] = self.how[kind]()
        return found
""",
]


@pytest.mark.parametrize("resolve", RESOLVE)
def test_a_table_keyed_by_classes_holds_for_each_what_was_put_there(resolve: str) -> None:
    stream = stream_of(SERVER.replace("RESOLVE", resolve).replace("ASKED", "Feed"))
    assert (stream.ids.kind, stream.replay.where) == (IdKind.COUNTER, Where.MEMORY)
    assert stream.on_foreign.outcome is Outcome.COMPARED


def test_what_is_filed_under_another_class_is_not_meant() -> None:
    """Look-alike: what is asked for is the bell, which has nothing of the log."""
    stream = stream_of(SERVER.replace("RESOLVE", RESOLVE[0]).replace("ASKED", "Bell"))
    assert stream.ids.kind is IdKind.UNKNOWN
    assert stream.on_foreign.outcome is Outcome.UNKNOWN


COUNTED = """
from flask import Flask, Response

app = Flask(__name__)
log = []


def numbered():
    COUNT
    return numbered.count


@app.post("/say")
def say():
    log.append((numbered(), "said"))
    return "said"


@app.get("/feed")
def feed():
    def events():
        for number, text in log:
            yield f"id: {number}\\ndata: {text}\\n\\n"

    return Response(events(), mimetype="text/event-stream")
"""


@pytest.mark.parametrize(
    ("count", "first"),
    [
        ("numbered.count += 1", "numbered.count = 0"),
        ('numbered.count = getattr(numbered, "count", 0) + 1', ""),
        ("numbered.count = numbered.count + 1", 'setattr(numbered, "count", 0)'),
    ],
)
def test_a_function_counts_on_itself(count: str, first: str) -> None:
    assert stream_of(COUNTED.replace("COUNT", count) + first + "\n").ids.kind is IdKind.COUNTER


def test_an_attribute_that_stays_as_it_is_counts_nothing() -> None:
    """Look-alike: the function carries a number that nobody counts on."""
    assert stream_of(COUNTED.replace("COUNT", "pass") + "numbered.count = 7\n").ids.kind is not IdKind.UNKNOWN


INJECTED = """
import functools, itertools, uuid

from fastapi import Depends, FastAPI, Header, Request
from fastapi.responses import StreamingResponse

app = FastAPI()


def MARK(build):
    WRAPS
    def provide(request: Request, **needs):
        return build(**needs)

    return provide


class Book:
    def __init__(self):
        self.kept = {}

    def add(self, text):
        self.kept[uuid.uuid4().hex] = text


book = Book()


def the_book():
    return book


class Desk:
    def __init__(self, book):
        self.book = book


@once
def desk(book: Book = Depends(the_book)):
    return Desk(book)


@app.post("/say")
def say(desk: Desk = Depends(desk)):
    desk.book.add("said")


@app.get("/feed")
def feed(desk: Desk = Depends(desk), last_event_id: str | None = Header(None)):
    def events():
        for key, text in desk.book.kept.items():
            yield f"id: {key}\\ndata: {text}\\n\\n"

    return StreamingResponse(events(), media_type="text/event-stream")
"""


def test_what_a_decorated_dependency_needs_is_what_the_function_below_it_needs() -> None:
    wrapped = INJECTED.replace("MARK", "once").replace("WRAPS", "@functools.wraps(build)")
    assert stream_of(wrapped).ids.kind is IdKind.RANDOM


def test_a_dependency_that_hides_what_it_needs_gets_nothing() -> None:
    """Look-alike: the decorator does not say what it stands in front of."""
    hidden = INJECTED.replace("MARK", "once").replace("    WRAPS\n", "")
    assert stream_of(hidden).ids.kind is not IdKind.RANDOM
