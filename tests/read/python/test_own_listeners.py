"""Queues of one request that a listener of the same request fills."""

from __future__ import annotations

import pytest

from sselint.facts import Outcome, Where
from tests.read.python.programs import stream_of

SERVER = """
import asyncio

import asyncpg
from fastapi import FastAPI, Header
from fastapi.responses import StreamingResponse

app = FastAPI()
hearers = []


async def joined():
    return await asyncpg.connect(dsn="postgresql://db/shop")


@app.post("/orders")
async def order(text: str):
    base = await joined()
    number = await base.fetchval("INSERT INTO orders (text) VALUES ($1) RETURNING id", text)
    PUBLISHES


async def orders_after(last):
    base = await joined()
    for row in await base.fetch("SELECT id, text FROM orders WHERE id > $1 ORDER BY id", last):
        yield row
    inbox = asyncio.Queue()

    def heard(_base, _process, _channel, payload):
        inbox.put_nowait(PUT)

    LISTENS
    while True:
        number = await inbox.get()
        yield await base.fetchrow("SELECT id, text FROM orders WHERE id = $1", number)


@app.get("/orders")
async def orders(last_event_id: int = Header(default=0)):
    async def frames():
        async for row in orders_after(last_event_id):
            yield f"id: {row['id']}\\ndata: {row['text']}\\n\\n"

    return StreamingResponse(frames(), media_type="text/event-stream")
"""
TELLS = "await base.execute(\"SELECT pg_notify('orders', $1)\", str(number))"
CALLS = 'for hearer in hearers:\n        hearer(None, 0, "orders", number)'


@pytest.mark.parametrize("put", ["payload", "int(payload)"])
def test_a_listener_of_the_request_tells_what_every_process_publishes(put: str) -> None:
    """The database calls it in each process that listens, whoever has published."""
    text = SERVER.replace("PUBLISHES", TELLS).replace("LISTENS", 'await base.add_listener("orders", heard)')
    stream = stream_of(text.replace("PUT", put))
    assert (stream.replay.where, stream.replay.live_tail) == (Where.SHARED, Where.SHARED)
    assert stream.on_foreign.outcome is Outcome.COMPARED


def test_what_the_process_calls_itself_hears_of_no_other_process() -> None:
    """Silent: the same function stands in a list of the process, and only this process's handlers call it."""
    text = SERVER.replace("PUBLISHES", CALLS).replace("LISTENS", "hearers.append(heard)")
    stream = stream_of(text.replace("PUT", "payload"))
    assert stream.replay.live_tail is Where.MEMORY


def test_what_a_listener_puts_of_the_process_itself_stays_its_own() -> None:
    """Silent: what it puts is no part of what it was told."""
    text = SERVER.replace("PUBLISHES", TELLS).replace("LISTENS", 'await base.add_listener("orders", heard)')
    stream = stream_of(text.replace("PUT", "len(hearers)"))
    assert stream.replay.live_tail is Where.MEMORY
