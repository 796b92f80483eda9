"""Loops over what is to be called: a server finds the handler of a path in its own table. Nobody reads up to a place in
such a table, as one does in a history."""

from __future__ import annotations

import pytest

from sselint.facts import IdKind, Outcome, Scope, Where
from tests.read.python.programs import stream_of

PLACES = """
import os
import re
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Reader:
    def __init__(self, path, at):
        self.path = path
        self.at = at

    def more(self):
        if os.stat(self.path).st_size < self.at:
            self.at = 0
            return "reset", []
        with open(self.path, "rb") as file:
            file.seek(self.at)
            read = file.read(4096)
        self.at += len(read)
        return "said", read.split(b"\\n")


class Desk(BaseHTTPRequestHandler):
    def do_GET(self):
{dispatch}
        self.send_error(404)

    def page(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"<html></html>")

    def feed(self):
        reader = Reader("/srv/said.log", int(self.headers.get("Last-Event-ID") or 0))
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        while True:
            kind, lines = reader.more()
            if kind == "reset":
                self.wfile.write(f"id: {{reader.at}}\\nevent: reset\\ndata: 0\\n\\n".encode())
            for line in lines:
                self.wfile.write(f"id: {{reader.at}}\\ndata: {{line}}\\n\\n".encode())
            time.sleep(1)


{table}


ThreadingHTTPServer(("", 80), Desk).serve_forever()
"""

PATTERNS = """
        for pattern, handler in PAGES:
            if pattern.match(self.path):
                handler(self)
                return
"""
PAGES = 'PAGES = [(re.compile("^/$"), Desk.page){others}, (re.compile("^/feed$"), Desk.feed)]'
OTHER = ', (re.compile("^/page{number}$"), Desk.page)'
BY_PATH = """
        for path, handler in PAGES.items():
            if self.path.startswith(path):
                return handler(self)
"""
NAMED = 'PAGES = {"/page": Desk.page, "/feed": Desk.feed}'


@pytest.mark.parametrize(
    ("dispatch", "table"),
    [
        (PATTERNS, PAGES.format(others="")),
        (PATTERNS, PAGES.format(others="".join(OTHER.format(number=number) for number in range(14)))),
        (BY_PATH, NAMED),
    ],
)
def test_a_table_of_handlers_is_not_what_is_replayed(dispatch: str, table: str) -> None:
    stream = stream_of(PLACES.format(dispatch=dispatch, table=table))
    assert (stream.ids.kind, stream.ids.scope) == (IdKind.STORE, Scope.SHARED), stream.ids.why
    assert stream.replay.where is Where.POD_DISK, stream.replay.why
    assert stream.on_foreign.outcome is Outcome.COMPARED, stream.on_foreign.why


HISTORY = """
import itertools
from flask import Flask, Response, request

app = Flask(__name__)
numbers = itertools.count(1)
said = []


def shown(text):
    return lambda: f"data: {text}"


@app.post("/say")
def say():
    said.append((next(numbers), shown(request.json["text"])))
    return "", 204


@app.get("/feed")
def feed():
    since = int(request.headers.get("Last-Event-ID", 0))

    def body():
        for number, show in said:
            if number > since:
                yield f"id: {number}\\n{show()}\\n\\n"

    return Response(body(), mimetype="text/event-stream")
"""


def test_events_that_are_kept_with_what_shows_them_are_a_history() -> None:
    """Requests add to it, so that each entry is an event, although it holds a function."""
    stream = stream_of(HISTORY)
    assert stream.replay.where is Where.MEMORY, stream.replay.why
    assert stream.on_foreign.outcome is Outcome.COMPARED
