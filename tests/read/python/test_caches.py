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
