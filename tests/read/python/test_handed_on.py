"""What start-up hands to the requests: the dict that a lifespan yields becomes the state of each of them."""

from __future__ import annotations

from sselint.facts import IdKind, Outcome, Scope, Where
from tests.read.python.programs import stream_of

SERVER = """
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route


class Book:
    def __init__(self):
        self.last = 0
        self.lines = []

    def write(self, text):
        self.last += 1
        self.lines.append((self.last, text))


@asynccontextmanager
async def lifespan(app):
    yield {"book": Book()}


async def write(request):
    request.state.NAME.write("x")
    return Response("ok")


async def read(request):
    book = request.state.NAME
    after = int(request.headers.get("last-event-id", "0"))

    async def body():
        for number, text in book.lines:
            if number > after:
                yield f"id: {number}\\ndata: {text}\\n\\n"

    return StreamingResponse(body(), media_type="text/event-stream")


app = Starlette(routes=[Route("/read", read), Route("/write", write, methods=["POST"])], lifespan=lifespan)
"""


def test_what_a_lifespan_yields_is_the_state_of_every_request() -> None:
    stream = stream_of(SERVER.replace("NAME", "book"))
    assert (stream.ids.kind, stream.ids.scope) == (IdKind.COUNTER, Scope.OVERLAPPING)
    assert (stream.replay.where, stream.on_foreign.outcome) == (Where.MEMORY, Outcome.COMPARED)


def test_what_it_does_not_yield_is_out_of_sight() -> None:
    """Look-alike: another name, which something else may set."""
    stream = stream_of(SERVER.replace("NAME", "ledger"))
    assert (stream.ids.kind, stream.replay.where) == (IdKind.UNKNOWN, Where.UNKNOWN)
