"""What is read of the event that the cursor found: other events stand before or behind it, as they do to the cursor."""

from __future__ import annotations

import pytest

from sselint.facts import Outcome
from tests.read.python.programs import answered, stream_of

STORE = """
import bisect
import time
from collections import deque
from dataclasses import dataclass


@dataclass
class Entry:
    number: int
    text: str


log, table, made = deque(maxlen=70), {}, 0


def publish(text):
    global made
    made += 1
    entry = Entry(made, text)
    log.append(entry)
    table[made] = entry
"""
HANDLER = """
last = request.headers.get("last-event-id")
after = int(last) if last else 0
missed = []
if last:
{missed}

async def body():
    for entry in missed:
        yield {{"id": str(entry.number), "data": entry.text}}

return EventSourceResponse(body())
"""
REFUSE = "return Response(status_code=409)"
SEARCHED = {
    "next": f"""
found = next((entry for entry in log if entry.number == after), None)
if found is None:
    {REFUSE}
missed = [entry for entry in log if entry.number > found.number]
""",
    "loop": f"""
found = None
for entry in log:
    if entry.number == after:
        found = entry
        break
if found is None:
    {REFUSE}
missed = [other for other in log if other.number > found.number]
""",
    "lookup": f"""
found = table.get(after)
if found is None:
    {REFUSE}
missed = [entry for entry in log if found.number < entry.number]
""",
    "bisect": f"""
numbers = [entry.number for entry in log]
place = bisect.bisect_left(numbers, after)
if place == len(numbers) or numbers[place] != after:
    {REFUSE}
missed = list(log)[place + 1:]
""",
    "count": f"""
kept, place = list(log), 0
while place < len(kept) and kept[place].number != after:
    place += 1
if place == len(kept):
    {REFUSE}
missed = kept[place + 1:]
""",
    "pop": """
missed = list(log)
while missed and missed[0].number <= after:
    missed.pop(0)
""",
    "popleft": """
missed = deque(log)
while missed and missed[0].number <= after:
    missed.popleft()
""",
    "del": """
missed = list(log)
while len(missed) > 0 and after >= missed[0].number:
    del missed[0]
""",
    "behind": f"""
behind = made - after
if behind < 0 or behind > 70:
    {REFUSE}
missed = list(log)[len(log) - behind:]
""",
}


def _overlap(missed: str) -> Outcome | None:
    indented = "\n".join(f"    {line}" for line in missed.strip().splitlines())
    stream = stream_of(answered(HANDLER.format(missed=indented), STORE))
    return stream.on_overlap.outcome if stream.on_overlap is not None else None


@pytest.mark.parametrize("how", SEARCHED)
def test_what_comes_after_the_event_that_was_found_is_sent(how: str) -> None:
    assert _overlap(SEARCHED[how]) is Outcome.COMPARED


@pytest.mark.parametrize("how", ["next", "loop", "lookup"])
def test_what_does_not_come_after_it_was_sent_before(how: str) -> None:
    """Look-alike: everything that is not the event itself."""
    missed = SEARCHED[how].replace(" > ", " != ").replace(" < ", " != ")
    assert _overlap(missed) is Outcome.REPLAY_ALL


def test_a_number_that_has_nothing_to_do_with_the_ids_leaves_it_open() -> None:
    """Look-alike: how long a text is does not say where an event stands."""
    missed = SEARCHED["next"].replace("entry.number > found.number", "entry.text > found.text")
    assert _overlap(missed) is not Outcome.FAIL_CLOSED


def test_what_is_dropped_from_the_wrong_end_leaves_what_was_sent() -> None:
    """Look-alike: the newest are taken away."""
    assert _overlap(SEARCHED["pop"].replace("missed[0]", "missed[-1]").replace("pop(0)", "pop()")) is Outcome.REPLAY_ALL


BY_AGE = """
last = request.headers.get("last-event-id")
after = float(last) if last else 0
if last and time.time() - after > 300:
    return Response(status_code=410)

async def body():
    for entry in list(log):
        if entry.number > after:
            yield {"id": str(entry.number), "data": entry.text}

return EventSourceResponse(body())
"""


def test_a_cursor_of_another_process_may_be_young_enough() -> None:
    """How old it is says nothing of who made it."""
    store = STORE.replace("Entry(made, text)", "Entry(time.time(), text)")
    assert stream_of(answered(BY_AGE, store)).on_foreign.outcome is Outcome.COMPARED


BY_PLACE = """
import asyncio
from fastapi import FastAPI, Header
from fastapi.responses import StreamingResponse

app = FastAPI()
kept = []


@app.post("/steps")
async def step(name: str):
    kept.append((f"{len(kept)}-{name}", "step"))


@app.get("/steps")
async def steps(seen: str | None = Header(None, alias="Last-Event-ID")):
    async def body():
        place = 0
        for at, entry in enumerate(kept):
            if entry[0] == seen:
                place = at + 1
                break
        while True:
            if place < len(kept):
                key, text = kept[place]
                yield f"id: {key}\\ndata: {SENT}\\n\\n"
                place += 1
            else:
                await asyncio.sleep(1)

    return StreamingResponse(body(), media_type="text/event-stream")
"""


@pytest.mark.parametrize("sent", ["text", "key"])
def test_an_entry_whose_text_is_always_the_same_is_sent_from_where_it_stands(sent: str) -> None:
    stream = stream_of(BY_PLACE.replace("SENT", sent))
    assert stream.on_foreign.outcome is Outcome.REPLAY_ALL
    assert stream.on_overlap is not None
    assert stream.on_overlap.outcome is Outcome.COMPARED


def test_the_number_of_the_newest_beside_something_else_is_not_that_entry() -> None:
    """Look-alike: of an entry only its number is sent, and what else is told stands in none."""
    source = BY_PLACE.replace("SENT", "len(text)").replace("key, text = kept[place]", "key, text = kept[-1]")
    assert stream_of(source).on_foreign.outcome is Outcome.FROM_HEAD
