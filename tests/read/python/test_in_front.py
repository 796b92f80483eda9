"""What stands in front of a handler leaves in the state of the request what the handler asks for."""

from __future__ import annotations

import pytest

from sselint.facts import IdKind, Outcome, Scope
from tests.read.python.programs import published, reading_of, stream_of

SERVER = """
import itertools

from fastapi import FastAPI, HTTPException, Request
from fastapi.responses import StreamingResponse

app = FastAPI()
numbers = itertools.count(1)
log = []


class Badge:
    def __init__(self, app):
        self.app = app

    async def __call__(self, scope, receive, send):
        scope.setdefault("state", {{}})["guest"] = dict(scope["headers"])
        await self.app(scope, receive, send)


app.add_middleware(Badge)


def let_in(request):
    {asked}
        raise HTTPException(401)


@app.post("/say")
async def say(text: str):
    log.append((next(numbers), text))


@app.get("/feed")
async def feed(request: Request):
    let_in(request)
    last = int(request.headers.get("last-event-id", "0"))

    async def body():
        for number, text in log:
            if number > last:
                yield f"id: {{number}}\\ndata: {{text}}\\n\\n"

    return StreamingResponse(body(), media_type="text/event-stream")
"""


@pytest.mark.parametrize(
    "asked",
    [
        'guest = getattr(request.state, "guest", None)\n    if not guest:',
        'if not hasattr(request.state, "guest"):',
        'if getattr(request.state, "guest", None) is None:',
    ],
)
def test_the_state_of_a_request_may_hold_what_was_not_seen_to_be_put_there(asked: str) -> None:
    stream = stream_of(SERVER.format(asked=asked))
    assert (stream.ids.kind, stream.on_foreign.outcome) == (IdKind.COUNTER, Outcome.COMPARED)


def test_an_object_of_the_handler_holds_what_it_has_put_there() -> None:
    """Look-alike: nobody else can set anything of an object that the request has just made."""
    asked = 'own = object()\n    if getattr(own, "guest", None) is None:'
    assert not reading_of({"app.py": SERVER.format(asked=asked)}).streams


MARKED = """
import os
import zlib
from itertools import count
MARK = MADE
ids = count(1)
log = []


def publish(text):
    log.append((f"{MARK}-{next(ids)}", text))
"""


def test_whose_a_mark_is_that_is_not_understood_is_open() -> None:
    """It may be another one in each process: that two of them tell one id is then not known."""
    ids = stream_of(published(MARKED.replace("MADE", "zlib.crc32(os.urandom(8))"))).ids
    assert (ids.kind, ids.scope) == (IdKind.COUNTER, Scope.UNKNOWN)


def test_a_mark_that_is_written_down_is_the_same_everywhere() -> None:
    assert stream_of(published(MARKED.replace("MADE", "'feed'"))).ids.scope is Scope.OVERLAPPING
