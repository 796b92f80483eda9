"""Handlers that look at the path of the request themselves, and what stands before the server they are given to."""

from __future__ import annotations

import pytest

from sselint.facts import IdKind, Outcome, Where
from tests.read.python.programs import reading_of, stream_of

HEAD = """
import sqlite3
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlparse
from weather import measured

PAGES = sqlite3.connect("pages.db")


class Board:
    def __init__(self):
        self.rows = []
        self.number = 0

    def put(self, text):
        self.number += 1
        self.rows.append((self.number, text))


board = Board()
"""

HANDLER = """
class Desk(BaseHTTPRequestHandler):
    def reply(self, kind, body):
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self):
        board.put("said")
        self.reply("text/plain", b"done")

    def do_GET(self):
        asked = urlparse(self.path)
{others}
        if asked.path == "/feed" or asked.path == "/feed/":
            if measured("quiet"):
                return self.reply("text/html", b"later")
            self.send_response(200)
            self.send_header("Content-Type", "{kind}")
            self.end_headers()
            since = int(self.headers.get("Last-Event-ID") or 0)
            for number, text in board.rows:
                if number > since:
                    self.wfile.write(f"id: {{number}}\\ndata: {{text}}\\n\\n".encode())
            return
        self.send_error(404)
"""

PAGE = """
        if asked.path == "/page{number}":
            for row in PAGES.execute("SELECT title, body FROM pages WHERE number = {number}"):
                if measured(row[0]) and row[1] or measured(row[1]):
                    return self.reply("text/html", row[1])
            return self.reply("application/json", b"[]")
"""

PLAIN_START = 'ThreadingHTTPServer(("", 80), Desk).serve_forever()\n'


def _server(kind: str = "text/event-stream", pages: int = 40, start: str = PLAIN_START) -> dict[str, str]:
    others = "".join(PAGE.format(number=number) for number in range(pages))
    return {"app.py": HEAD + HANDLER.format(others=others, kind=kind) + start}


def test_a_stream_behind_many_other_addresses_of_one_handler_is_found() -> None:
    stream = stream_of(_server())
    assert stream.ids.kind is IdKind.COUNTER, stream.ids.why
    assert stream.replay.where is Where.MEMORY
    assert stream.on_foreign.outcome is Outcome.COMPARED


@pytest.mark.parametrize("kind", ["text/plain", "application/x-ndjson"])
def test_what_is_written_under_another_media_type_is_no_stream(kind: str) -> None:
    asked = "# it is no text/event-stream\n"
    files = {"app.py": asked + _server(kind, pages=2)["app.py"]}
    assert not reading_of(files).streams


START = """
def moved():
    at = 0
    while True:
        rows = PAGES.execute("SELECT number, title FROM pages WHERE number > ?", (at,)).fetchall()
        if not rows:
            {leaves}
        for row in rows:
            at = row[0]
    return at


def main():
    seen = []
{asked}
    moved()
    ThreadingHTTPServer(("", 80), Desk).serve_forever()


main()
"""
ASKED = '    if measured("place {number}"):\n        seen.append({number})\n'


def test_a_loop_of_start_up_that_says_where_it_ends_comes_to_its_end() -> None:
    start = START.format(leaves="break", asked="".join(ASKED.format(number=number) for number in range(20)))
    stream = stream_of(_server(pages=0, start=start))
    assert stream.apps
    assert stream.on_foreign.outcome is Outcome.COMPARED


def test_behind_a_loop_of_start_up_that_never_ends_nothing_is_served() -> None:
    start = START.format(leaves="continue", asked="")
    assert not any(stream.apps for stream in reading_of(_server(pages=0, start=start)).streams)


DESK = """
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from feeds import PAGES


class Desk(BaseHTTPRequestHandler):
    def do_GET(self):
        found = [page for page in PAGES if page.matches(self.path)]
        found[0].show(self)


ThreadingHTTPServer(("", 80), Desk).serve_forever()
"""

FEEDS = """
from places import pages_of

rows = []


class Counter:
    number = 0


counter = Counter()
PAGES = pages_of(__name__)


def put(text):
    counter.number += 1
    rows.append((counter.number, text))


def send(out, number, text):
    out.{written}.write(f"id: {{number}}\\ndata: {{text}}\\n\\n".encode())


def feed(desk, asked):
    since = int(desk.headers.get("Last-Event-ID") or 0)
    desk.send_response(200)
    desk.send_header("Content-Type", "{kind}")
    desk.end_headers()
    desk.{written}.flush()
    for number, text in rows:
        if number > since:
            send(desk, number, text)
"""


def test_a_function_that_is_handed_the_handler_streams_through_it() -> None:
    files = {"app.py": DESK, "feeds.py": FEEDS.format(written="wfile", kind="text/event-stream")}
    stream = stream_of(files)
    assert stream.symbol == "feed"
    assert (stream.ids.kind, stream.replay.where) == (IdKind.COUNTER, Where.MEMORY)
    assert stream.on_foreign.outcome is Outcome.COMPARED
    assert not stream.apps


@pytest.mark.parametrize(("written", "kind"), [("paper", "text/event-stream"), ("wfile", "text/csv")])
def test_a_function_that_is_handed_something_else_or_answers_something_else_streams_nothing(
    written: str, kind: str
) -> None:
    asked = "# no text/event-stream\n"
    files = {"app.py": DESK, "feeds.py": asked + FEEDS.format(written=written, kind=kind)}
    assert not reading_of(files).streams
