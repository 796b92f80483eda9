"""Objects that somebody out of sight hands in, and queues that somebody out of sight may fill."""

from __future__ import annotations

import pytest

from sselint.facts import IdKind, Outcome, Truth, Where
from tests.read.python.programs import answered, stream_of

HANDED_IN = """
import asyncio
from fastapi import FastAPI, Header
from fastapi.responses import StreamingResponse
from wiring import Wanted

app = FastAPI()

class Seat:
    def __init__(self):
        self.inbox = asyncio.Queue()

class Office:
    pass

@app.get("/news")
async def news(office: Wanted[Office], last_event_id: str = Header(None)):
    seat = Seat()
    office.take_in(seat)

    async def body():
        if last_event_id is not None:
            await office.tell_again(seat, int(last_event_id))
        while True:
            yield await seat.inbox.get()

    return StreamingResponse(body(), media_type="text/event-stream")
"""


def test_what_an_unknown_container_hands_in_is_not_what_the_client_sent() -> None:
    """It is given the cursor and the seat, and whatever it puts there is sent: neither "no ids" nor "ignored"."""
    stream = stream_of(HANDED_IN)
    assert stream.ids.kind is IdKind.UNKNOWN
    assert stream.replay.where is Where.UNKNOWN
    assert stream.replay.live_tail is Where.UNKNOWN
    assert stream.on_foreign.outcome is Outcome.UNKNOWN
    assert "wiring.Wanted" in stream.on_foreign.why


MARKED = """
from fastapi import FastAPI
from fastapi.responses import StreamingResponse
from marks import FromHead

app = FastAPI()
log = []

@app.post("/news")
async def publish(text: str):
    log.append((len(log) + 1, text))

@app.get("/news")
async def news(last_event_id: FromHead[int] = 0):
    async def body():
        for number, text in list(log):
            if number > last_event_id:
                yield f"id: {number}\\ndata: {text}\\n\\n"

    return StreamingResponse(body(), media_type="text/event-stream")
"""


def test_a_parameter_called_after_the_cursor_is_the_client_s() -> None:
    """The look-alike: the same kind of mark, around what no container could hand in."""
    stream = stream_of(MARKED)
    assert stream.cursor.read is Truth.YES
    assert stream.on_foreign.outcome is Outcome.COMPARED


FILLED = """
import asyncio
import telling
from fastapi import FastAPI, Header
from fastapi.responses import StreamingResponse

app = FastAPI()

@app.get("/news")
async def news(last_event_id: str = Header(None)):
    inbox = asyncio.Queue()
    {handed}

    async def body():
        while True:
            yield await inbox.get()

    return StreamingResponse(body(), media_type="text/event-stream")
"""


@pytest.mark.parametrize(
    "handed, outcome",
    [
        ("telling.again(inbox, last_event_id)", Outcome.UNKNOWN),
        ("telling.again({'into': inbox}, last_event_id)", Outcome.UNKNOWN),
        ("telling.say('somebody is back', last_event_id); telling.join(inbox)", Outcome.IGNORED),
    ],
)
def test_a_queue_handed_over_with_the_cursor_may_hold_what_was_missed(handed: str, outcome: Outcome) -> None:
    """A call that is given the cursor alone, as one that writes a log is, fills nothing."""
    stream = stream_of(FILLED.format(handed=handed))
    assert stream.on_foreign.outcome is outcome, stream.on_foreign.why
    assert stream.ids.kind is IdKind.UNKNOWN


CHOSEN_APART = """
last = int(request.headers.get("last-event-id", "0"))
after = LEAST
missed = elsewhere.pick(lambda event: event[0] > after, log)

async def body():
    for number, text in missed:
        yield {"id": str(number), "data": text}

return EventSourceResponse(body())
"""
FILLED_HERE = """
import elsewhere
log = []


def publish(text):
    log.append((len(log) + 1, text))
"""


def test_a_function_that_reads_the_cursor_hands_it_on() -> None:
    """What a call out of sight makes of it is not known, and not that nothing depends on the cursor."""
    stream = stream_of(answered(CHOSEN_APART.replace("LEAST", "last"), FILLED_HERE))
    assert stream.on_foreign.outcome is Outcome.UNKNOWN


def test_one_that_reads_something_else_does_not() -> None:
    stream = stream_of(answered(CHOSEN_APART.replace("LEAST", "0"), FILLED_HERE))
    assert stream.on_foreign.outcome is Outcome.IGNORED
