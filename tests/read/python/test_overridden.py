"""Dependencies that an application replaces by others."""

from __future__ import annotations

import pytest

from sselint.facts import IdKind, Where
from tests.read.python.programs import stream_of

SERVER = """
import itertools
import os

from fastapi import Depends, FastAPI
from fastapi.responses import StreamingResponse
from redis import Redis


class Shelf:
    def __init__(self):
        self.books = []
        self.numbers = itertools.count(1)

    def put(self, title):
        self.books.append((next(self.numbers), title))

    def all(self):
        return list(self.books)


class Archive:
    def __init__(self):
        self.redis = Redis(host="cache")

    def put(self, title):
        self.redis.xadd("books", {"title": title})

    def all(self):
        return [(key, held["title"]) for key, held in self.redis.xrange("books")]


def shelf():
    raise NotImplementedError


def other():
    raise NotImplementedError


def build():
    server = FastAPI()
    held = Shelf()
    archive = Archive()
    OVERRIDE

    @server.post("/books")
    def put(title: str, books=Depends(shelf)):
        books.put(title)

    @server.get("/books")
    def feed(books=Depends(shelf)):
        def body():
            for number, title in books.all():
                yield f"id: {number}\\ndata: {title}\\n\\n"

        return StreamingResponse(body(), media_type="text/event-stream")

    return server


application = build()
"""


@pytest.mark.parametrize(
    "override",
    [
        "server.dependency_overrides[shelf] = lambda: held",
        "server.dependency_overrides = {shelf: lambda: held}",
        "server.dependency_overrides.update({other: lambda: archive, shelf: lambda: held})",
    ],
)
def test_what_an_application_puts_in_its_place_is_asked(override: str) -> None:
    stream = stream_of(SERVER.replace("OVERRIDE", override))
    assert (stream.ids.kind, stream.replay.where) == (IdKind.COUNTER, Where.MEMORY)


def test_what_another_dependency_is_replaced_by_says_nothing() -> None:
    """Look-alike: the one that the handler asks for gives what it gives."""
    text = SERVER.replace("OVERRIDE", "server.dependency_overrides[other] = lambda: held")
    stream = stream_of(text.replace("raise NotImplementedError", "return Archive()", 1))
    assert (stream.ids.kind, stream.replay.where) == (IdKind.STORE, Where.SHARED)


def test_what_is_asked_is_open_where_the_environment_replaces_it() -> None:
    override = 'if os.getenv("SMALL"):\n        server.dependency_overrides[shelf] = lambda: held'
    text = SERVER.replace("OVERRIDE", override).replace("raise NotImplementedError", "return Archive()", 1)
    stream = stream_of(text)
    assert stream.replay.where is Where.UNKNOWN
    assert "SMALL" in stream.environment
