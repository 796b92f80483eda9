"""Routes that library code puts into an application which it is handed: facts without a verdict."""

from __future__ import annotations

import pytest

from sselint.facts import IdKind
from tests.read.python.programs import reading_of

EXTENSION = """
import asyncio, itertools

from {library} import {name}
from sanic.response import stream


class Feed:
    def __init__(self, app: {name} = None):
        self.waiting, self.numbers = asyncio.Queue(), itertools.count()
        if app is not None:
            self.attach(app)

    def say(self, text):
        return self.waiting.put(f"id: {{next(self.numbers)}}\\ndata: {{text}}\\n\\n")

    def attach(self, app: {name}, url="/feed"):
        @app.route(url, methods=["GET"])
        async def feed(request):
            async def write(response):
                while True:
                    await response.write(await self.waiting.get())

            return stream(write, content_type="text/event-stream")
"""

USED = """
from sanic import Sanic
from extension import Feed

app = Sanic("news")
feed = Feed(app)
"""


@pytest.mark.parametrize("name", ["Sanic", "Blueprint"])
def test_a_route_that_is_put_into_whatever_application_is_handed_in(name: str) -> None:
    text = EXTENSION.format(library="sanic", name=name)
    (stream,) = reading_of({"extension.py": text}).streams
    assert (stream.symbol, stream.url, stream.apps) == ("feed", "/feed", ())
    assert stream.ids.kind is IdKind.COUNTER


def test_it_is_that_of_the_application_which_the_tree_hands_in() -> None:
    text = EXTENSION.format(library="sanic", name="Sanic")
    (stream,) = reading_of({"extension.py": text, "main.py": USED}).streams
    assert [app.attribute for app in stream.apps] == ["app"]


def test_what_takes_something_else_has_no_routes() -> None:
    """Look-alike: a class of the tree's own that is called so."""
    own = "\n\nclass Sanic:\n    def route(self, url, methods):\n        return lambda function: function\n"
    text = EXTENSION.format(library="sanic", name="Blueprint").replace(": Blueprint", ": Sanic") + own
    assert [s.url for s in reading_of({"extension.py": text}).streams] in ([], [None])
