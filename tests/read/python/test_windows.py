"""Logs that drop their oldest and count on: places in them are numbers minus what was dropped."""

from __future__ import annotations

import pytest

from sselint.facts import IdKind, Outcome, Where
from tests.read.python.programs import HEAD, answered, stream_of

WINDOW = """
import asyncio
import time


class Window:
    def __init__(self):
        self.kept = []
        self.dropped = 0
        self.changed = asyncio.Condition()

    async def put(self, text):
        async with self.changed:
            self.kept.append((f"{int(time.time() * 1000)}-{self.dropped + len(self.kept)}", text))
            if len(self.kept) > 50:
                extra = len(self.kept) - 50
                del self.kept[:extra]
                self.dropped += extra
            self.changed.notify_all()

    def place_of(self, cursor):
        millis, dash, number = cursor.partition("-")
        if dash and number.isdigit():
            here = int(number) - self.dropped
            if 0 <= here < len(self.kept) and self.kept[here][0] == cursor:
                return self.dropped + here + 1
        return START

    async def listen(self, cursor):
        place = self.dropped if cursor is None else self.place_of(cursor)
        while True:
            async with self.changed:
                here = place - self.dropped
                if not 0 <= here < len(self.kept):
                    await self.changed.wait()
                    continue
                found = self.kept[here]
                place += 1
            yield found


window = Window()
"""

HANDLER = """
async def body():
    async for key, text in window.listen(request.headers.get("last-event-id")):
        yield {"id": key, "data": text}

return EventSourceResponse(body())
"""


@pytest.mark.parametrize(
    ("start", "outcome"),
    [("self.dropped", Outcome.REPLAY_ALL), ("self.dropped + len(self.kept)", Outcome.COMPARED)],
    ids=["what is first here", "behind what is last here"],
)
def test_a_place_minus_what_was_dropped(start: str, outcome: Outcome) -> None:
    """A reader that is put at what was dropped begins with the oldest. Look-alike: behind the newest it does not."""
    stream = stream_of(answered(HANDLER, WINDOW.replace("START", start)))
    assert stream.on_foreign.outcome is outcome
    assert (stream.ids.kind, stream.replay.where) == (IdKind.CLOCK, Where.MEMORY)


KEYED = (
    HEAD
    + """
import itertools
import uuid

numbers = itertools.count()
rooms, logs = {}, {}


async def begin(request):
    room = uuid.uuid4().hex
    rooms[room] = room
    if room not in logs:
        logs[room] = []
    logs[room].append((next(numbers), "begun"))
    return Response(room)


async def feed(request):
    room = rooms.get(request.path_params["room"])
    if room is None:
        return Response("unknown", status_code=404)

    async def body():
        for key, text in logs[room]:
            yield {"id": key, "data": text}

    return EventSourceResponse(body())


app = Starlette(routes=[Route("/begin", begin, methods=["POST"]), Route("/feed/{room}", feed)])
"""
)


def test_what_is_made_where_a_minted_key_is_missing() -> None:
    """`if key not in logs` is true once for a key that was just made. Look-alike: nothing makes what is missing."""
    stream = stream_of(KEYED)
    assert (stream.ids.kind, stream.replay.where) == (IdKind.COUNTER, Where.MEMORY)
    never = stream_of(KEYED.replace("        logs[room] = []", "        return Response('no', status_code=404)"))
    assert (never.ids.kind, never.replay.where) != (IdKind.COUNTER, Where.MEMORY)
