"""What a constructor is given that nothing in the tree calls: an object of the annotated class, if one can be made."""

from __future__ import annotations

from sselint.facts import IdKind, Outcome, Scope, Where
from tests.read.python.programs import stream_of

ENDPOINT = """
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse


class Endpoint:
    def __init__(self, handler: Handler):
        self.handler = handler

    async def answer(self, request: Request):
        last = request.headers.get("last-event-id")
        if last is not None:
            missed = self.handler.missed(request.headers.get("session"), int(last))
            if missed is not None:

                async def body():
                    for number, data in missed:
                        yield f"id: {number}\\r\\n"
                        yield f"data: {data}\\r\\n\\r\\n"

                return StreamingResponse(body(), media_type="text/event-stream")

        async def live():
            while True:
                yield "data: tick\\n\\n"

        return StreamingResponse(live(), media_type="text/event-stream")
"""

BUFFER = """
class Buffer:
    def __init__(self):
        self._events, self._counters = {}, {}

    def send(self, session, data):
        self._counters[session] = number = self._counters.get(session, 0) + 1
        self._events.setdefault(session, []).append((number, data))

    def missed(self, session, last):
        return [(n, data) for n, data in self._events.get(session, []) if n > last]


"""
TAKES = """
class Handler{bases}:
    def __init__(self, info):
        self._events = Buffer()

    def send(self, session, data):
        self._events.send(session, data)

    def missed(self, session, last):
        return self._events.missed(session, last)
"""
INTERFACE = """
from typing import Protocol


class Handler(Protocol):
    def missed(self, session: str, last: int) -> list: ...
"""
OTHER = """

class Store(Handler):
    def __init__(self, client: Redis):
        self._client = client

    def missed(self, session, last):
        return self._client.xrange(session, min=f"({last}")
"""


def test_an_object_of_the_annotated_class_is_made_where_nobody_makes_the_owner() -> None:
    """The ids, and what is replayed, are in the class whose object the constructor takes."""
    stream = stream_of(BUFFER + TAKES.format(bases="") + ENDPOINT)
    assert (stream.ids.kind, stream.ids.scope) == (IdKind.COUNTER, Scope.OVERLAPPING)
    assert stream.replay.where is Where.MEMORY
    assert stream.on_foreign.outcome is Outcome.COMPARED


def test_an_interface_that_nothing_in_the_tree_follows_stays_unknown() -> None:
    """Look-alike: an object of it would give nothing, and the stream is not one without ids or replay."""
    stream = stream_of(INTERFACE + ENDPOINT)
    assert stream.ids.kind is IdKind.UNKNOWN
    assert stream.replay.where is Where.UNKNOWN
    assert stream.on_foreign.outcome is Outcome.UNKNOWN


def test_one_of_several_classes_is_not_guessed() -> None:
    """Look-alike: whoever makes the owner decides between the memory of the process and a shared store."""
    interface = "from redis.asyncio import Redis\n" + INTERFACE + OTHER
    stream = stream_of(
        interface + BUFFER + TAKES.replace("class Handler", "class Local").format(bases="(Handler)") + ENDPOINT
    )
    assert stream.ids.scope is Scope.UNKNOWN
    assert stream.replay.where is Where.UNKNOWN


def test_a_question_about_the_cursor_that_is_not_understood_is_no_sign_that_it_is_ignored() -> None:
    """What is asked with the cursor comes from out of sight; where the answer is no, the live part follows."""
    handler = "from elsewhere import Handler\n\n"
    assert stream_of(handler + ENDPOINT).on_foreign.outcome is Outcome.UNKNOWN


def test_a_cursor_of_which_nothing_is_asked_is_ignored() -> None:
    """Look-alike: it is read and written to a log, whatever the log makes of it."""
    asked = ENDPOINT.replace("if missed is not None:", "log(missed)\n            if False:")
    stream = stream_of("from elsewhere import Handler, log\n\n" + asked)
    assert stream.on_foreign.outcome is Outcome.IGNORED
