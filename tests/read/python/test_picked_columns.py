"""Rows of which some columns are picked, handed on as keywords, and made records of."""

from __future__ import annotations

import pytest

from sselint.facts import IdKind, Outcome, Where
from tests.read.python.programs import stream_of

SERVER = """
import psycopg
from flask import Flask, Response, request
from pydantic import BaseModel

app = Flask(__name__)
SHOWN = ("id", "said")


class Post(BaseModel):
    id: int
    said: str


def post_of(**columns):
    return Post(**columns)


def behind(last):
    with psycopg.connect("postgresql://db/posts") as db:
        return db.execute("SELECT * FROM posts WHERE id > %s ORDER BY id", (last,)).fetchall()


@app.get("/posts")
def posts():
    last = int(request.headers.get("Last-Event-ID", "0"))

    def events():
        for row in behind(last):
            picked = {PICKED}
            post = MADE
            yield f"id: {post.id}\\ndata: {post.said}\\n\\n"

    return Response(events(), mimetype="text/event-stream")
"""
PICKED = [
    "k: v for k, v in row.items() if k != 'hidden'",
    "k: v for k, v in row.items() if k in SHOWN and v is not None",
    "k: v for k, v in row.items() if not k.startswith('_')",
]
MADE = ["Post(**picked)", "post_of(**picked)", "Post.model_validate(picked)"]


@pytest.mark.parametrize("made", MADE)
@pytest.mark.parametrize("picked", PICKED)
def test_a_record_made_of_picked_columns_has_those_of_the_row(picked: str, made: str) -> None:
    stream = stream_of(SERVER.replace("PICKED", picked).replace("MADE", made))
    assert (stream.ids.kind, stream.replay.where) == (IdKind.STORE, Where.SHARED)
    assert stream.on_foreign.outcome is Outcome.COMPARED


def test_what_is_set_beside_the_columns_is_no_column() -> None:
    """Look-alike: the id is written down, whatever the row has."""
    stream = stream_of(SERVER.replace("PICKED", "**row, 'id': 7").replace("MADE", "Post(**picked)"))
    assert stream.ids.kind is not IdKind.STORE


def test_what_is_asked_for_behind_what_nobody_knows_is_not_all_again() -> None:
    """A place that is not understood may well be that of the last row: asking with it again is not from the start."""
    server = """
import asyncio

import asyncpg
from elsewhere import shown
from sse_starlette import EventSourceResponse
from starlette.applications import Starlette
from starlette.routing import Route


async def posts(request):
    async def events():
        last = int(request.headers.get("Last-Event-ID", "0"))
        db = await asyncpg.connect("postgresql://db/posts")
        while True:
            for row in await db.fetch("SELECT * FROM posts WHERE id > $1 ORDER BY id", last):
                post = shown(row)
                yield {"id": post.id, "data": post.said}
                last = post.id
            await asyncio.sleep(1)

    return EventSourceResponse(events())


app = Starlette(routes=[Route("/posts", posts)])
"""
    stream = stream_of(server)
    assert stream.ids.kind is IdKind.UNKNOWN
    assert stream.on_foreign.outcome in (Outcome.COMPARED, Outcome.UNKNOWN)
    assert stream_of(server.replace("WHERE id > $1 ", "").replace(", last)", ")")).on_foreign.outcome in (
        Outcome.IGNORED,
        Outcome.REPLAY_ALL,
    )
