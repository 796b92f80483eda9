"""What is an event stream, by what is sent."""

from __future__ import annotations

import pytest

from sselint.facts import IdKind, Minted
from tests.read.python.programs import answered, reading_of, stream_of

SERVER = """
import os
import tornado.web
from other import render


class Answer(tornado.web.RequestHandler):
    def get(self):
        {head}
        {sent}


app = tornado.web.Application([("/answer", Answer)])
"""

EVENTS = 'self.set_header("Content-Type", "text/event-stream")'


@pytest.mark.parametrize(
    ("head", "sent", "streams"),
    [
        ("pass", 'self.finish(render("page"))', False),
        ("pass", 'self.write(render("page"))\n        self.flush()', False),
        (EVENTS, "self.write(render(1))\n        self.flush()", True),
        ("pass", 'self.write("data: %s\\n\\n" % render(1))\n        self.flush()', True),
    ],
)
def test_text_that_nobody_knows_is_no_event(head: str, sent: str, streams: bool) -> None:
    """A page is no event stream although what makes it is out of sight. Look-alikes: a head or a framing that says
    that it is one."""
    assert bool(reading_of({"app.py": SERVER.format(head=head, sent=sent)}).streams) is streams


COUNTED = """
n = {begin}

async def body():
    nonlocal n
    yield {{"id": str(n), "data": "begin"}}
    while True:
        n += 1
        yield {{"id": str(n), "data": "more"}}

return EventSourceResponse(body())
"""


@pytest.mark.parametrize("begin", ["0", 'int(request.headers.get("last-event-id", -1)) + 1'])
def test_numbers_of_one_connection(begin: str) -> None:
    """The first number is written down and the others are counted on from there: for this connection alone, also where
    the client says where to begin. Look-alike: the process counts for all."""
    assert stream_of(answered(COUNTED.format(begin=begin))).ids.minted is Minted.CONNECTION
    shared = COUNTED.format(begin=begin).replace("nonlocal n", "global n").replace(f"n = {begin}\n", "", 1)
    assert stream_of(answered(shared, "n = 0\n")).ids.minted is Minted.PUBLISHED


MOUNTED = """
import uuid
import tornado.web

kept = []


class Feed(tornado.web.RequestHandler):
    def get(self):
        self.set_header("Content-Type", "text/event-stream")
        for key, text in kept:
            self.write(f"id: {key}\\ndata: {text}\\n\\n")

    def post(self):
        kept.append((uuid.uuid4().hex, self.get_argument("text")))


def main():
    tornado.web.Application([("/feed", Feed)]).listen(8888)
"""


def test_a_class_that_a_function_mounts_is_one_stream() -> None:
    """What nobody seemed to mount is told once, where a function turns out to mount it. Look-alike: nobody does."""
    assert [stream.url for stream in reading_of({"app.py": MOUNTED}).streams] == ["/feed"]
    assert [stream.url for stream in reading_of({"app.py": MOUNTED.partition("def main")[0]}).streams] == [None]


ITERATED = """
from collections import OrderedDict
import queue
from flask import Flask, Response

app = Flask("feed")
inbox = queue.Queue()


class Event:
    count = 0

    def __init__(self, data):
        Event.count += 1
        self.data, self.id = data, Event.count

    def __iter__(self):
        yield "data", self.data
        if self.id:
            yield "id", self.id

    def __str__(self):
        fields = {made}
        return "\\n".join(["%s: %s" % (k, v) for k, v in fields.items()]) + "\\n\\n"


@app.post("/publish")
def publish():
    inbox.put(Event("news"))


@app.get("/feed")
def feed():
    return Response((str(inbox.get()) for _ in iter(int, 1)), mimetype="text/event-stream")
"""


@pytest.mark.parametrize(
    ("made", "kind"),
    [("dict(self)", IdKind.COUNTER), ("OrderedDict(self)", IdKind.COUNTER), ('{"data": 1}', IdKind.NONE)],
)
def test_fields_that_an_event_gives_itself(made: str, kind: IdKind) -> None:
    """An event lists its fields and is put together from them. Look-alike: of the fields only the data is taken."""
    assert stream_of(ITERATED.replace("{made}", made)).ids.kind is kind


UNMOUNTED = """
import uuid
from django.http import StreamingHttpResponse


def frames(request):
    while True:
        yield f"id: {uuid.uuid4()}\\ndata: news\\n\\n"


def feed(request):
    return StreamingHttpResponse({given}, content_type="text/event-stream")
"""


@pytest.mark.parametrize(("given", "told"), [("frames(request)", ["feed"]), ('["data: 1"]', ["feed", "frames"])])
def test_what_a_handler_runs_is_a_part_of_it(given: str, told: list[str]) -> None:
    """Nothing mounts either of them: who runs the other to answer is told. Look-alike: a generator that nobody runs."""
    streams = reading_of({"views.py": UNMOUNTED.replace("{given}", given)}).streams
    assert sorted(stream.symbol for stream in streams) == told
