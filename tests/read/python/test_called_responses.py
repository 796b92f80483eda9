"""Responses that are called as the applications they are: `await response(scope, receive, send)`."""

from __future__ import annotations

import pytest

from sselint.facts import IdKind, Outcome
from tests.read.python.programs import stream_of

APPLICATION = """
import uuid

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, StreamingResponse

kept = {}


def add(text):
    kept[uuid.uuid4().hex] = text


async def feed(scope, receive, send):
    request = Request(scope, receive)
    add("seen")
    last = request.headers.get("last-event-id")
    MISSED
    at = list(kept).index(last) + 1 if last in kept else 0

    async def body():
        for key in list(kept)[at:]:
            yield f"id: {key}\\ndata: {kept[key]}\\n\\n"

    await StreamingResponse(body(), media_type="text/event-stream")(scope, receive, send)


app = feed
"""

GONE = """if last and last not in kept:
        answer = PlainTextResponse("gone", status_code=410)
        WHAT"""

CASES = {
    "sent, and nothing after it": ("await answer(scope, receive, send)\n        return", Outcome.FAIL_CLOSED),
    "returned as it is sent": ("return await answer(scope, receive, send)", Outcome.FAIL_CLOSED),
    "made, and not sent": ("print(answer)", Outcome.REPLAY_ALL),
}


@pytest.mark.parametrize("name", CASES)
def test_a_response_is_sent_when_it_is_called(name: str) -> None:
    """Look-alike: a response that is only made refuses nobody."""
    what, outcome = CASES[name]
    stream = stream_of(APPLICATION.replace("MISSED", GONE.replace("WHAT", what)))
    assert stream.ids.kind is IdKind.RANDOM
    assert stream.on_foreign.outcome is outcome, stream.on_foreign.why


IN_FRONT = """
import itertools

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, StreamingResponse
from starlette.routing import Route

numbers, kept = itertools.count(1), {}


class Door:
    def __init__(self, app):
        self.app = app

    async def __call__(self, scope, receive, send):
        last = Request(scope).headers.get("last-event-id")
        if last and int(last) not in kept:
            refusal = PlainTextResponse("start again", status_code=STATUS)
            await refusal(scope, receive, send)
            return
        await self.app(scope, receive, send)


async def feed(request):
    kept[next(numbers)] = "seen"
    after = int(request.headers.get("last-event-id", 0))

    async def body():
        for number, text in list(kept.items()):
            if number > after:
                yield f"id: {number}\\ndata: {text}\\n\\n"

    return StreamingResponse(body(), media_type="text/event-stream")


app = Starlette(routes=[Route("/feed", feed)], middleware=[Middleware(Door)])
"""


def test_what_stands_in_front_refuses_by_a_response_that_it_calls() -> None:
    refused = stream_of(IN_FRONT.replace("STATUS", "409"))
    assert refused.on_foreign.outcome is Outcome.FAIL_CLOSED, refused.on_foreign.why
    assert refused.on_overlap is not None and refused.on_overlap.outcome is Outcome.COMPARED
    passed = stream_of(IN_FRONT.replace("int(last) not in kept", "not last.isdigit()").replace("STATUS", "400"))
    assert passed.on_foreign.outcome is Outcome.COMPARED, passed.on_foreign.why
