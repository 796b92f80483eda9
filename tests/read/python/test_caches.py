"""What a process remembers in front of a store that has it all."""

from __future__ import annotations

import pytest

from sselint.facts import Outcome, Where
from tests.read.python.programs import stream_of

NEWS = """
import sqlite3
import uuid

from flask import Flask, Response, request

app = Flask(__name__)
rows = sqlite3.connect("/data/news.db")
recent = {{}}
count = 0


@app.post("/news")
def publish():
    global count
    count += 1
    key = {key}
    rows.execute("INSERT INTO news (id, text) VALUES (?, ?)", (key, request.json["text"]))
    recent[key] = request.json["text"]
    return ""


@app.get("/news")
def feed():
    last = {cursor}

    def body():
        if last in recent:
            for key, text in recent.items():
                yield f"id: {{key}}\\ndata: {{text}}\\n\\n"
            return
        {otherwise}

    return Response(body(), mimetype="text/event-stream")
"""
ROWS = """for key, text in rows.execute("SELECT id, text FROM news WHERE id > ?", (last,)):
            yield f"id: {key}\\ndata: {text}\\n\\n\""""
NAMED = {"key": "str(uuid.uuid4())", "cursor": 'request.headers.get("Last-Event-ID", "")'}
COUNTED = {"key": "count", "cursor": 'int(request.headers.get("Last-Event-ID", "0"))'}


def test_a_cache_in_front_of_a_store_answers_as_the_store_does() -> None:
    """No other process has an event of such an id: one that is not remembered here is asked of the store."""
    stream = stream_of(NEWS.format(**NAMED, otherwise=ROWS))
    assert (stream.replay.where, stream.on_foreign.outcome) == (Where.POD_DISK, Outcome.COMPARED)


@pytest.mark.parametrize(("ids", "otherwise"), [(COUNTED, ROWS), (NAMED, "return")])
def test_memory_that_answers_for_others_is_no_cache(ids: dict[str, str], otherwise: str) -> None:
    """Look-alikes: where ids are counted this process may remember its own event of a number that another one gave
    out; and where nothing stands behind the memory it is all there is."""
    assert stream_of(NEWS.format(**ids, otherwise=otherwise)).replay.where is Where.MEMORY


LOADED = """
import uuid
from functools import lru_cache

import redis.asyncio as redis
import secret
from fastapi import FastAPI, Request
from fastapi.responses import StreamingResponse

app = FastAPI()
client = redis.Redis()


{cached}
def weak():
    secrets = {{"KEY": secret.read("key"), "TOKEN": secret.read("token")}}
    return [name for name, value in secrets.items() if value.startswith("replace")]


@app.get("/news")
async def news(request: Request):
    seen = request.headers.get("last-event-id")
    print(weak())
    place = {place}
    if not place:
        return StreamingResponse(iter(()), media_type="text/event-stream")

    async def body():
        yield f"id: {{uuid.uuid4()}}\\ndata: {{len(place)}}\\n\\n"

    return StreamingResponse(body(), media_type="text/event-stream")
"""


def test_what_is_read_once_for_all_requests_is_no_replay() -> None:
    """Settings are loaded once, and a cursor is answered from where it is looked up."""
    stream = stream_of(LOADED.format(cached="@lru_cache()", place='await client.get(f"place:{seen}")'))
    assert stream.replay.where is Where.SHARED


def test_what_is_looked_up_for_the_request_is_where_it_is_kept() -> None:
    """Look-alike: what each request looks the cursor up in counts, although settings are loaded first."""
    code = LOADED.format(cached="@lru_cache()", place="[n for n in kept if n == seen]")
    code += '\n\nkept = []\n\n\n@app.post("/news")\nasync def publish():\n    kept.append(str(uuid.uuid4()))\n'
    assert stream_of(code).replay.where is Where.MEMORY


WINDOW = '''
import asyncio
from collections import deque
from contextlib import asynccontextmanager

import redis.asyncio as redis
from fastapi import FastAPI, Request
from fastapi.responses import StreamingResponse

log = redis.Redis(host="redis", decode_responses=True)
window = deque(maxlen=500)
fresh = asyncio.Condition()


async def follow():
    last = "$"
    while True:
        for _, entries in await log.xread({"events": last}, block=5000):
            for key, fields in entries:
                window.append((key, fields["text"]))
                last = key
            async with fresh:
                fresh.notify_all()


@asynccontextmanager
async def lifespan(app):
    following = asyncio.create_task(follow())
    yield
    following.cancel()


app = FastAPI(lifespan=lifespan)


@app.post("/say")
async def say(text: str):
    key = await log.xadd("events", {"text": text}, maxlen=10000)
    HERE


@app.get("/events")
async def events(request: Request):
    last = request.headers.get("last-event-id")

    async def body():
        sent = last
        if sent is not None:
            kept = list(window)
            keys = [key for key, _ in kept]
            if sent in keys:
                missed = kept[keys.index(sent) + 1 :]
            else:
                missed = OTHERWISE
            for key, text in missed:
                sent = key
                yield f"id: {key}\\ndata: {text}\\n\\n"
        while True:
            async with fresh:
                await fresh.wait()
            for key, text in list(window):
                if sent is None or key > sent:
                    sent = key
                    yield f"id: {key}\\ndata: {text}\\n\\n"

    return StreamingResponse(body(), media_type="text/event-stream")
'''
ASKED = '[(key, fields["text"]) for key, fields in await log.xrange("events", min=f"({sent}")]'


def windowed(otherwise: str = ASKED, here: str = "return key") -> tuple[Where, Where]:
    stream = stream_of(WINDOW.replace("OTHERWISE", otherwise).replace("HERE", here))
    return stream.replay.where, stream.replay.live_tail


def test_a_window_that_every_process_fills_from_the_shared_log_is_a_cache_of_it() -> None:
    """What it lacks is asked of the log, and what comes later comes from there too."""
    assert windowed() == (Where.SHARED, Where.SHARED)


@pytest.mark.parametrize("otherwise", ["kept", "[]"])
def test_a_window_that_asks_nobody_for_what_it_lacks_answers_from_memory(otherwise: str) -> None:
    """Look-alike: a process that has just started has an empty window, and nothing stands behind it."""
    assert windowed(otherwise) == (Where.MEMORY, Where.SHARED)


def test_a_window_that_this_process_fills_too_is_not_one_of_the_log() -> None:
    """Look-alike: what is said here is kept here under an id of the log, but nobody else hears of it this way."""
    assert windowed(here="window.append((key, text))")[1] is Where.MEMORY
