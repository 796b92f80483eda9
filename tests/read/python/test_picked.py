"""Events that are picked one by one behind the cursor, that a task fetches, or that one event holds all at once."""

from __future__ import annotations

import pytest

from sselint.facts import Outcome
from tests.read.python.programs import answered, stream_of

STORE = """
import asyncio
import heapq
import json
import time
from collections import deque

log, made, changed = deque(maxlen=90), 0, asyncio.Event()


def publish(text):
    global made
    made += 1
    log.append((made, text))
    changed.set()


async def wait():
    changed.clear()
    await changed.wait()


class Behind:
    def __init__(self, after):
        self.after = after

    def __aiter__(self):
        return self

    async def __anext__(self):
        while True:
            for entry in log:
                if entry[0] > self.after:
                    self.after = entry[0]
                    return entry
            await wait()


def one_behind(after):
    for entry in log:
        if entry[0] > after:
            return entry
    return None


async def fetch(into, after):
    while True:
        for entry in list(log):
            if entry[0] > after:
                after = entry[0]
                await into.put(entry)
        await wait()
"""
HANDLER = """
last = request.headers.get("last-event-id")

async def body(after):
    {body}

return EventSourceResponse(body(int(last) if last else 0))
"""
PICKED = {
    "next": """
while True:
    entry = next((entry for entry in log if entry[0] > after), None)
    if entry is None:
        await wait()
        continue
    after = entry[0]
    yield {"id": str(after), "data": entry[1]}
""",
    "returned": """
while True:
    entry = one_behind(after)
    if entry is not None:
        after = entry[0]
        yield {"id": str(after), "data": entry[1]}
    else:
        await wait()
""",
    "anext": """
async for number, text in Behind(after):
    yield {"id": str(number), "data": text}
""",
    "task": """
inbox = asyncio.Queue()
task = asyncio.create_task(fetch(inbox, after))
while True:
    number, text = await inbox.get()
    yield {"id": str(number), "data": text}
""",
    "in one": """
while True:
    texts = [text for number, text in log if number > after]
    if texts:
        after = made
        yield {"id": str(made), "data": json.dumps(texts)}
    await wait()
""",
}


def _outcomes(body: str, store: str = STORE) -> tuple[Outcome, Outcome | None]:
    indented = body.strip().replace("\n", "\n    ")
    stream = stream_of(answered(HANDLER.replace("{body}", indented), store))
    return stream.on_foreign.outcome, stream.on_overlap.outcome if stream.on_overlap is not None else None


@pytest.mark.parametrize("how", PICKED)
def test_what_stands_behind_the_cursor_is_sent(how: str) -> None:
    assert _outcomes(PICKED[how]) == (Outcome.COMPARED, Outcome.COMPARED)


def test_a_heap_holds_what_is_pushed() -> None:
    store = STORE.replace("deque(maxlen=90)", "[]").replace("log.append(", "heapq.heappush(log, ")
    body = """
for number, text in sorted(log):
    if number > after:
        yield {"id": str(number), "data": text}
"""
    assert _outcomes(body, store) == (Outcome.COMPARED, Outcome.COMPARED)


GREETED = """
found = next((entry for entry in log if entry[0] > after), None)
yield {"id": str(made), "data": f"hello at {time.time()}"}
while True:
    await wait()
"""
def test_what_is_only_looked_for_is_not_sent() -> None:
    """Look-alike: another event is sent next."""
    assert Outcome.FROM_HEAD in _outcomes(GREETED)
