"""Code that goes through all headers of a request: it may look for the cursor among them, or for headers of its own."""

from __future__ import annotations

import pytest

from sselint.facts import IdKind, Outcome, Truth
from tests.read.python.programs import ASKS, stream_of

STARLETTE = """
import itertools
from sse_starlette import EventSourceResponse
from starlette.applications import Starlette
from starlette.responses import Response
from starlette.routing import Route

numbers = itertools.count(1)
said = []


async def say(request):
    said.append((next(numbers), await request.json()))
    return Response(status_code=204)


async def feed(request):
    since = 0
{looks}

    async def body():
        for number, text in said:
            if number > since:
                yield {{"id": str(number), "data": text}}

    return EventSourceResponse(body())


app = Starlette(routes=[Route("/feed", feed), Route("/say", say, methods=["POST"])])
"""

FLASK = """
import itertools
from flask import Flask, Response, request

app = Flask(__name__)
numbers = itertools.count(1)
said = []


@app.post("/say")
def say():
    said.append((next(numbers), request.json["text"]))
    return "", 204


@app.get("/feed")
def feed():
    since = 0
{looks}

    def body():
        for number, text in said:
            if number > since:
                yield f"id: {{number}}\\ndata: {{text}}\\n\\n"

    return Response(body(), mimetype="text/event-stream")
"""

IN_A_DICT = """
    named = {name.lower(): value for name, value in request.headers.items()}
    since = int(named.get("last-event-id", 0))
"""
ONE_BY_ONE = """
    for name, value in request.headers.items():
        if name.lower() == "last-event-id":
            since = int(value)
"""
BY_NAME = """
    for name in request.headers:
        if name == "last-event-id":
            since = int(request.headers[name])
"""
BYTES = """
    for name, value in request.scope["headers"]:
        if name == b"last-event-id":
            since = int(value)
"""
PAIRS = """
    for name, value in request.headers:
        if name.lower() == "last-event-id":
            since = int(value)
"""


@pytest.mark.parametrize(
    ("server", "looks"),
    [
        (STARLETTE, IN_A_DICT),
        (STARLETTE, ONE_BY_ONE),
        (STARLETTE, BY_NAME),
        (STARLETTE, BYTES),
        (FLASK, IN_A_DICT),
        (FLASK, PAIRS),
    ],
)
def test_a_cursor_that_is_found_among_all_headers_is_compared(server: str, looks: str) -> None:
    stream = stream_of(server.format(looks=looks))
    assert stream.cursor.read is Truth.YES
    assert stream.on_foreign.outcome is Outcome.COMPARED, stream.on_foreign.why


OWN_NAMES = """
    if any(name.startswith("x-own-") for name in request.headers):
        since = 0
"""
OWN_VALUES = """
    told = {name: value for name, value in request.headers.items() if name.startswith("x-own-")}
"""


@pytest.mark.parametrize("server", [STARLETTE, FLASK])
@pytest.mark.parametrize("looks", [OWN_NAMES, OWN_VALUES])
def test_a_server_that_looks_for_headers_of_its_own_reads_no_cursor(server: str, looks: str) -> None:
    if server is FLASK:
        looks = looks.replace("for name in request.headers)", "for name, _ in request.headers)")
    stream = stream_of(server.format(looks=looks))
    assert stream.cursor.read is Truth.NO, stream.cursor.why
    assert stream.on_foreign.outcome is Outcome.NOT_READ


def test_a_cursor_that_is_read_by_its_name_and_then_not_used_is_ignored() -> None:
    """Somebody reads it, so that more may be meant by it than the code does."""
    stream = stream_of(STARLETTE.format(looks='    asked = request.headers.get("last-event-id")'))
    assert stream.cursor.read is Truth.YES
    assert stream.on_foreign.outcome is Outcome.IGNORED


LONG = """
import json
import sys

from fastapi import FastAPI, Request
from fastapi.responses import StreamingResponse

app = FastAPI()


@app.middleware("http")
async def tenants(request: Request, call_next):
    tenant = None
    for name, value in request.headers.items():
        {looks}
            tenant = value
    request.state.tenant = tenant
    return await call_next(request)


@app.get("/progress")
async def progress(request: Request):
    async def body():
        data, text = json.load(sys.stdin), ""
        yield "data: begun\\n\\n"
        {uses}
{asks}
        yield f"data: {{text}}\\n\\n"

    return StreamingResponse(body(), media_type="text/event-stream")
"""


def test_who_looks_for_headers_of_its_own_in_front_of_a_long_stream_reads_no_cursor() -> None:
    """The stream is not followed to its end, and no file of the tree writes a name of the cursor."""
    stream = stream_of(LONG.format(looks='if name == "x-tenant":', uses="pass", asks=ASKS))
    assert stream.cursor.read is Truth.NO
    assert stream.ids.kind is IdKind.NONE


def test_who_looks_for_the_cursor_among_all_headers_in_front_of_a_long_stream_reads_it() -> None:
    """Look-alike: what is found there is looked up when the stream begins."""
    uses = "yield f'data: {log[int(request.state.tenant)]}\\n\\n'"
    server = LONG.format(looks='if name == "last-event-id":', uses=uses, asks=ASKS)
    stream = stream_of(server.replace("app = FastAPI()", 'app = FastAPI()\nlog = ["first", "second"]'))
    assert stream.cursor.read is Truth.YES
