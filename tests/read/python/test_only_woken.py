"""Queues whose elements say nothing: they wake a stream, which then asks the store again."""

from __future__ import annotations

import pytest

from sselint.facts import Where
from tests.read.python.programs import stream_of

SERVER = """
import asyncio

import asyncpg
from fastapi import FastAPI, Header
from fastapi.responses import StreamingResponse

app = FastAPI()
bells = set()


async def joined():
    return await asyncpg.connect(dsn="postgresql://db/shop")


@app.post("/orders")
async def order(text: str):
    base = await joined()
    number = await base.fetchval("INSERT INTO orders (text) VALUES ($1) RETURNING id", text)
    for bell in bells:
        bell.put_nowait(PUT)


@app.get("/orders")
async def orders(last_event_id: int = Header(default=0)):
    async def frames():
        base, last = await joined(), last_event_id
        bell = asyncio.Queue()
        bells.add(bell)
        while True:
            for row in await base.fetch("SELECT id, text FROM orders WHERE id > $1 ORDER BY id", last):
                last = row["id"]
                yield f"id: {row['id']}\\ndata: {row['text']}\\n\\n"
            try:
                WAITS
            except asyncio.TimeoutError:
                yield ": here\\n\\n"

    return StreamingResponse(frames(), media_type="text/event-stream")
"""
LOOKED = SERVER.replace("bells = set()", "bells = set()\nseen = []")


def tail_of(put: str, waits: str) -> Where:
    return stream_of(SERVER.replace("PUT", put).replace("WAITS", waits)).replay.live_tail


@pytest.mark.parametrize("put", ["None", "True", '"new"', "number", '{"id": number, "text": text}'])
@pytest.mark.parametrize(
    "waits",
    [
        "await asyncio.wait_for(bell.get(), 10)",
        "await asyncio.wait_for(bell.get(), timeout=10)",
        "await asyncio.wait_for(fut=bell.get(), timeout=10)",
    ],
)
def test_what_is_asked_again_after_a_time_tells_of_every_process(put: str, waits: str) -> None:
    """What this process publishes is only told of earlier: nobody looks at what the queue holds."""
    assert tail_of(put, waits) is Where.SHARED


def test_a_queue_for_threads_has_the_time_of_its_own() -> None:
    text = SERVER.replace("import asyncio\n", "import asyncio\nimport queue\n").replace("asyncio.Queue", "queue.Queue")
    stream = stream_of(text.replace("PUT", "None").replace("WAITS", "bell.get(timeout=10)"))
    assert stream.replay.live_tail is Where.SHARED


@pytest.mark.parametrize("waits", ["await bell.get()", "await asyncio.wait_for(bell.get(), None)"])
def test_a_wait_without_an_end_leaves_open_what_else_wakes_it(waits: str) -> None:
    """Silent: only this process is seen to wake it, and what others publish may wait for ever."""
    assert tail_of("None", waits) is Where.UNKNOWN


def test_a_row_that_is_named_in_the_queue_is_the_process_s_own() -> None:
    """Silent: what is read again is the one row that this process has told of."""
    waits = """number = await asyncio.wait_for(bell.get(), 10)
                for row in await base.fetch("SELECT id, text FROM orders WHERE id = $1", number):
                    yield f"id: {row['id']}\\ndata: {row['text']}\\n\\n\""""
    assert tail_of("number", waits) is Where.MEMORY


@pytest.mark.parametrize(
    "use",
    [
        "last = await asyncio.wait_for(bell.get(), 10)",
        "seen.append(await asyncio.wait_for(bell.get(), 10))",
        "yield f\"id: {await asyncio.wait_for(bell.get(), 10)}\\ndata: here\\n\\n\"",
    ],
)
def test_what_is_looked_at_is_no_mere_bell(use: str) -> None:
    """Silent: what is asked or sent then may come of what this process alone has put there."""
    assert stream_of(LOOKED.replace("PUT", "number").replace("WAITS", use)).replay.live_tail is Where.MEMORY


def test_a_word_that_is_sent_itself_is_no_mere_bell() -> None:
    """Silent: what comes out of the queue is an event, which other processes have no part in."""
    waits = 'yield f"data: {await asyncio.wait_for(bell.get(), 10)}\\n\\n"'
    assert tail_of('"sold out"', waits) is Where.MEMORY
