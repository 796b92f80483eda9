"""Handlers inside of functions, which an application takes that was made out of sight."""

from __future__ import annotations

from sselint.facts import IdKind, Where
from tests.read.python.programs import reading_of

SERVER = """
import itertools

from fastapi.responses import StreamingResponse
from workshop import make_server

said = []
numbers = itertools.count(1)


def add_routes(server):
    @SAY
    async def say(text: str):
        said.append((next(numbers), text))

    @FEED
    async def feed():
        async def events():
            for number, text in said:
                yield f"id: {number}\\ndata: {text}\\n\\n"

        return StreamingResponse(events(), media_type="text/event-stream")


add_routes(make_server())
"""


def test_what_a_decorator_out_of_sight_took_is_called_by_whoever_made_it() -> None:
    text = SERVER.replace("SAY", 'server.post("/say")').replace("FEED", 'server.get("/feed")')
    (stream,) = reading_of({"app.py": text}).streams
    assert (stream.symbol, stream.apps) == ("feed", ())
    assert (stream.ids.kind, stream.replay.where) == (IdKind.COUNTER, Where.MEMORY)


def test_what_nobody_took_is_never_called() -> None:
    """Look-alike: the decorators are the tree's own, and leave the functions where they are."""
    own = "def plain(function):\n    return function\n" + SERVER.replace("SAY", "plain").replace("FEED", "plain")
    assert reading_of({"app.py": own}).streams == ()
