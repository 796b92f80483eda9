"""A client's number that is counted on to the newest one, each event looked up under it."""

from __future__ import annotations

import pytest

from sselint.facts import IdKind, Outcome, Scope, Where
from tests.read.python.programs import HEAD, stream_of

FEED = """
import asyncio


class Ticker:
    def __init__(self):
        self.latest = 0
        self.told = {}
        self.more = asyncio.Event()

    def tell(self, text):
        self.latest += 1
        self.told[self.latest] = text
        self.more.set()

    async def after(self, position):
        {before}
        while True:
            {loop}
            await self.more.wait()


ticker = Ticker()


async def publish(request):
    ticker.tell((await request.body()).decode())
    return Response("")


async def feed(request):
    return EventSourceResponse(ticker.after(int(request.headers.get("last-event-id", "0"))))


app = Starlette(routes=[Route("/feed", feed), Route("/publish", publish, methods=["POST"])])
"""
BY_KEY = """while position < self.latest:
                position += 1
                yield {"id": str(position), "data": self.told[position]}"""
BY_GET = """while position < self.latest:
                position += 1
                text = self.told.get(position)
                if text is not None:
                    yield {"id": str(position), "data": text}"""
NEW = """number, before = self.latest, self.latest
            while number == before:
                await self.more.wait()
                number = self.latest
            yield {"id": str(number), "data": "something new"}"""


def _program(loop: str, before: str = "") -> str:
    return HEAD + FEED.replace("{loop}", loop).replace("{before}", before)


@pytest.mark.parametrize("loop", [BY_KEY, BY_GET])
def test_an_equal_number_is_answered_with_what_stands_behind_it(loop: str) -> None:
    stream = stream_of(_program(loop))
    assert (stream.ids.kind, stream.ids.scope) == (IdKind.COUNTER, Scope.OVERLAPPING)
    assert stream.replay.where is Where.MEMORY
    assert stream.on_overlap is not None
    assert stream.on_overlap.outcome is Outcome.COMPARED, stream.on_overlap.why


def test_what_the_number_finds_and_is_not_sent_is_no_event() -> None:
    """The look-alike: the entry of the client's number is looked up, and what is sent is only what is new."""
    stream = stream_of(_program(NEW, "known = self.told.get(position)"))
    assert stream.on_overlap is not None and stream.on_overlap.outcome is not Outcome.COMPARED
