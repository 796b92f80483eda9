"""Queries that a program takes apart by hand."""

from __future__ import annotations

import pytest

from sselint.facts import Outcome, Truth, Where
from tests.read.python.programs import stream_of

WSGI = """
import uuid
from urllib.parse import parse_qs, parse_qsl, urlsplit
from wsgiref.simple_server import make_server

log = []


def publish(text):
    log.append((uuid.uuid4().hex, text))


def named(query, name):
    for key, value in parse_qsl(query):
        if key == name:
            return value
    return None


def app(environ, start_response):
    if environ["REQUEST_METHOD"] == "POST":
        publish(environ["wsgi.input"].read().decode())
        start_response("204 No Content", [])
        return []
    query = parse_qs(environ["QUERY_STRING"])
    last = LAST
    keys = [key for key, _ in log]
    if last is not None and last not in keys:
        start_response("409 Conflict", [])
        return []
    start = 0 if last is None else keys.index(last) + 1
    start_response("200 OK", [("Content-Type", "text/event-stream")])
    return (f"id: {key}\\ndata: {text}\\n\\n".encode() for key, text in log[start:])


make_server("", 8000, app).serve_forever()
"""

HANDLER = """
import itertools
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlparse

numbers = itertools.count(1)
log = []


def publish(text):
    log.append((next(numbers), text))


class Feed(BaseHTTPRequestHandler):
    def do_POST(self):
        publish(self.rfile.read().decode())
        self.send_response(204)
        self.end_headers()

    def do_GET(self):
        query = parse_qs(QUERY)
        last = int(query["after"][0]) if "after" in query else 0
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        for number, text in log:
            if number > last:
                self.wfile.write(f"id: {number}\\ndata: {text}\\n\\n".encode())


ThreadingHTTPServer(("", 8000), Feed).serve_forever()
"""

ASGI = """
import redis.asyncio as redis
from starlette.datastructures import QueryParams
from urllib.parse import parse_qs

log = redis.Redis()


async def app(scope, receive, send):
    if scope["method"] == "POST":
        await log.xadd("feed", {"text": "new"})
        await send({"type": "http.response.start", "status": 204})
        await send({"type": "http.response.body"})
        return
    last = parse_qs(scope["query_string"].decode()).get("last_id", ["0"])[0]
    head = [(b"content-type", b"text/event-stream")]
    await send({"type": "http.response.start", "status": 200, "headers": head})
    while True:
        for _, entries in await log.xread({"feed": last}, block=0):
            for last, fields in entries:
                event = f"id: {last}\\ndata: {fields['text']}\\n\\n".encode()
                await send({"type": "http.response.body", "body": event, "more_body": True})
"""


@pytest.mark.parametrize(
    "last",
    [
        'query["cursor"][0] if "cursor" in query else None',
        'query.get("cursor", [None])[0]',
        '(query.get("cursor") or [None])[0]',
        'dict(parse_qsl(environ["QUERY_STRING"])).get("cursor")',
        'named(environ["QUERY_STRING"], "cursor")',
        '{key: value[-1] for key, value in query.items()}.get("cursor")',
        'next((v for k, v in parse_qsl(environ["QUERY_STRING"]) if k == "cursor"), None)',
    ],
)
def test_what_stands_under_a_name_is_what_the_client_sent(last: str) -> None:
    stream = stream_of(WSGI.replace("LAST", last))
    assert (stream.cursor.how, stream.on_foreign.outcome) == ("query cursor", Outcome.FAIL_CLOSED)
    assert stream.on_missing is not None
    assert stream.on_missing.outcome is Outcome.REPLAY_ALL


@pytest.mark.parametrize(
    "query", ["urlparse(self.path).query", 'self.path.partition("?")[2]', 'self.path.split("?", 1)[1]']
)
def test_the_address_of_a_plain_server_holds_the_query(query: str) -> None:
    stream = stream_of(HANDLER.replace("QUERY", query))
    assert (stream.cursor.how, stream.on_foreign.outcome) == ("query after", Outcome.COMPARED)


@pytest.mark.parametrize(
    "last",
    [
        'parse_qs(scope["query_string"].decode()).get("last_id", ["0"])[0]',
        'parse_qs(scope["query_string"]).get(b"last_id", [b"0"])[0].decode()',
        'QueryParams(scope["query_string"]).get("last_id", "0")',
    ],
)
def test_an_asgi_scope_holds_the_query(last: str) -> None:
    stream = stream_of(ASGI.replace('parse_qs(scope["query_string"].decode()).get("last_id", ["0"])[0]', last))
    assert (stream.cursor.how, stream.replay.where) == ("query last_id", Where.SHARED)


@pytest.mark.parametrize("query", ['"after=5&size=10"', "self.rfile.read().decode()", 'self.headers["X-Options"]'])
def test_what_is_no_query_of_the_request_is_no_cursor(query: str) -> None:
    """Look-alikes: a text of the program, the body of the request, a header of its own."""
    assert stream_of(HANDLER.replace("QUERY", query)).cursor.read is not Truth.YES


def test_a_name_of_something_else_is_no_cursor() -> None:
    stream = stream_of(WSGI.replace("LAST", 'named(environ["QUERY_STRING"], "room")'))
    assert stream.cursor.read is not Truth.YES
