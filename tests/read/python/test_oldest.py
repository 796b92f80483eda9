"""A cursor that is refused because it is older than what is kept: one that is known here never is."""

from __future__ import annotations

import pytest

from sselint.facts import Outcome
from tests.read.python.programs import answered, stream_of

OBJECTS = """
from collections import deque
from dataclasses import dataclass

log = deque(maxlen=100)
made = 0


@dataclass
class Note:
    number: int
    text: str


def publish(text):
    global made
    made += 1
    log.append(Note(made, text))
"""
PAIRS = OBJECTS.replace("Note(made, text)", "(made, text)")
NUMBERED = OBJECTS.replace("deque(maxlen=100)", "{}").replace("log.append(Note(made, text))", "log[made] = text")
OLDEST = [
    (OBJECTS, "log[0].number"),
    (OBJECTS, "next(iter(log)).number"),
    (OBJECTS, "list(log)[0].number"),
    (OBJECTS, "min(note.number for note in log)"),
    (OBJECTS, "min([note.number for note in log])"),
    (OBJECTS, "min(log, key=lambda note: note.number).number"),
    (PAIRS, "min(log)[0]"),
    (PAIRS, "min(number for number, _ in log)"),
    (NUMBERED, "min(log)"),
    (NUMBERED, "next(iter(log.keys()))"),
    (NUMBERED, "list(log)[0]"),
]
NEWEST = [
    (OBJECTS, "log[-1].number"),
    (OBJECTS, "max(note.number for note in log)"),
    (OBJECTS, "list(reversed(log))[0].number"),
    (OBJECTS, "next(iter(reversed(log))).number"),
    (NUMBERED, "max(log)"),
]
HANDLER = """
last = request.headers.get("last-event-id")
after = int(last) if last else 0
if last and log and after {sign} {bound}:
    return Response(status_code=410)

async def body():
    {loop}:
        if number > after:
            yield {{"id": str(number), "data": text}}

return EventSourceResponse(body())
"""
LOOPS = {
    OBJECTS: "for number, text in [(note.number, note.text) for note in log]",
    PAIRS: "for number, text in list(log)",
    NUMBERED: "for number, text in log.items()",
}


def _outcomes(store: str, bound: str, sign: str) -> tuple[Outcome, Outcome | None]:
    stream = stream_of(answered(HANDLER.format(bound=bound, sign=sign, loop=LOOPS[store]), store))
    return stream.on_foreign.outcome, stream.on_overlap.outcome if stream.on_overlap is not None else None


@pytest.mark.parametrize(("store", "bound"), OLDEST, ids=[bound for _, bound in OLDEST])
def test_a_cursor_that_is_not_older_than_what_is_kept_passes(store: str, bound: str) -> None:
    """One that another process made may be newer than the oldest here, and one that is known here is."""
    assert _outcomes(store, bound, "<") == (Outcome.COMPARED, Outcome.COMPARED)


@pytest.mark.parametrize(("store", "bound"), NEWEST, ids=[bound for _, bound in NEWEST])
def test_a_cursor_beyond_the_newest_is_one_of_another_process(store: str, bound: str) -> None:
    """Look-alikes: what is compared with the newest tells what is unknown here from what is not."""
    assert _outcomes(store, bound, ">") == (Outcome.FAIL_CLOSED, Outcome.COMPARED)


COUNTED = """
log = []


def publish(text):
    log.append({put})
"""
LOOP = """
last = request.headers.get("last-event-id")
after = int(last) if last else 0
{guard}

async def body():
    for number, text in log:
        if number > after:
            yield {{"id": str(number), "data": text}}

return EventSourceResponse(body())
"""


@pytest.mark.parametrize("put", ["(len(log) + 1, text)", "(len(log), text)"])
def test_the_length_that_was_an_element_s_number_is_no_end_of_the_log(put: str) -> None:
    """Each element has a number of its own, some before the cursor and some behind it."""
    stream = stream_of(answered(LOOP.format(guard=""), COUNTED.format(put=put)))
    assert stream.on_foreign.outcome is Outcome.COMPARED
    assert stream.on_overlap is not None
    assert stream.on_overlap.outcome is Outcome.COMPARED


def test_the_length_of_the_log_is_its_end() -> None:
    """Look-alike: compared with how many there are, a cursor that is unknown here is beyond."""
    guard = "if after > len(log):\n    return Response(status_code=410)"
    stream = stream_of(answered(LOOP.format(guard=guard), COUNTED.format(put="(len(log) + 1, text)")))
    assert stream.on_foreign.outcome is Outcome.FAIL_CLOSED


COUNTED_BACK = """
from collections import deque
from itertools import islice
log = deque(maxlen=100)
total = 0


def publish(text):
    global total
    total += 1
    log.append((total, text))
"""
SKIPPED = """
last = request.headers.get("last-event-id")
skip = 0
if last is not None:
    first = BASE
    if int(last) < first or int(last) > total:
        return Response("gone", status_code=410)
    skip = int(last) - first
missed = list(islice(log, skip, None))

async def body():
    for number, text in missed:
        yield {"id": str(number), "data": text}

return EventSourceResponse(body())
"""


def test_what_is_kept_begins_so_many_before_the_newest() -> None:
    """A number less the length of what is kept is where that begins: an id that is known here is not before it, and one
    that another process has used too is answered with what stands behind it here."""
    stream = stream_of(answered(SKIPPED.replace("BASE", "total - len(log)"), COUNTED_BACK))
    assert stream.on_foreign.outcome is Outcome.FAIL_CLOSED
    assert stream.on_overlap is not None
    assert stream.on_overlap.outcome is Outcome.COMPARED


def test_a_place_behind_the_newest_is_no_beginning() -> None:
    """So many more than the newest refuses whatever is known here, too."""
    stream = stream_of(answered(SKIPPED.replace("BASE", "total + len(log)"), COUNTED_BACK))
    assert stream.on_overlap is not None
    assert stream.on_overlap.outcome is Outcome.FAIL_CLOSED
