"""What a server reads on its way to the events, and does not send: a session in a store, how long to wait."""

from __future__ import annotations

import pytest

from sselint.facts import Where
from tests.read.python.programs import stream_of

SERVER = """
import asyncio
import uuid

import redis.asyncio as redis
from fastapi import FastAPI, HTTPException, Request
from fastapi.responses import StreamingResponse

app = FastAPI()
shared = redis.from_url("redis://sessions")
WAITS = [100, 500, 2000]
log = {}


async def tried(ask):
    for number in range(len(WAITS)):
        try:
            return await ask()
        except OSError:
            await asyncio.sleep(WAITS[number])


@app.post("/events")
async def publish(request: Request):
    log[uuid.uuid4().hex] = (await request.body()).decode()


@app.get("/feed/{session}")
async def feed(session: str, request: Request):
    last = request.headers.get("last-event-id")

    async def ask():
        return await shared.get(session)

    CHECK

    async def body():
        if last not in log:
            return
        passed = False
        for key, text in log.items():
            if passed:
                yield f"id: {key}\\ndata: {text}\\n\\n"
            passed = passed or key == last

    return StreamingResponse(body(), media_type="text/event-stream")
"""


@pytest.mark.parametrize(
    "check",
    [
        "if not await shared.get(session):\n        raise HTTPException(404)",
        "if not await tried(ask):\n        raise HTTPException(404)",
        "await asyncio.sleep(WAITS[0])",
        "await asyncio.sleep(WAITS[len(session) % 3])",
    ],
    ids=["session", "session with waits", "first wait", "some wait"],
)
def test_what_is_read_on_the_way_is_not_what_is_replayed(check: str) -> None:
    """The store has the sessions alone, so that the memory in front of it is no cache of it; and nothing of the table
    is sent. Both were told as what every process has."""
    assert stream_of(SERVER.replace("CHECK", check)).replay.where is Where.MEMORY


def test_what_is_sent_of_a_table_is_replayed() -> None:
    """Look-alike: the same table, whose numbers are what is sent."""
    sent = (
        'for number in WAITS:\n            yield f"id: {number}\\ndata: x\\n\\n"\n        for key, text in [].copy():'
    )
    program = SERVER.replace("CHECK", "").replace("for key, text in log.items():", sent)
    assert stream_of(program.replace("if last not in log:", "if last is None:")).replay.where is Where.SHARED


CUT = """
import redis
from starlette.applications import Starlette
from starlette.responses import StreamingResponse
from starlette.routing import Route

store = redis.from_url("redis://events")
rooms = []


async def feed(request):
    last = request.headers.get("Last-Event-ID", "0")
    open_here = [room for room in rooms if room != last]

    async def body():
        for _, entries in store.xread({"news": last}):
            for key, fields in entries:
ASKS
                yield f"id: {key}\\ndata: {len(open_here)}\\n\\n"

    return StreamingResponse(body(), media_type="text/event-stream")


async def put(request):
    rooms.append(request.query_params["room"])
    store.xadd("news", {"text": "news"})


app = Starlette(routes=[Route("/feed", feed), Route("/put", put, methods=["POST"])])
"""


@pytest.mark.parametrize(("many", "where"), [(3, Where.SHARED), (400, Where.UNKNOWN)])
def test_what_is_read_on_the_way_is_not_replayed_where_work_ended_before_any_event(many: int, where: Where) -> None:
    """It was told as the place of the events. Look-alike: few questions, so that events are followed."""
    asks = "\n".join(f'                if fields.get("k{n}"):\n                    continue' for n in range(many))
    assert stream_of(CUT.replace("ASKS", asks)).replay.where is where
