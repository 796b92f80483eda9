"""Handlers that are classes whose objects are given something when they are made, and objects that are mounted."""

from __future__ import annotations

import pytest

from sselint.facts import IdKind, Outcome, Scope, Where
from tests.read.python.programs import reading_of, stream_of

KEPT = """
import itertools

numbers = itertools.count(1)


class Kept:
    def __init__(self):
        self.items = []

    def add(self, text):
        self.items.append((next(numbers), text))

    def after(self, number):
        for n, text in list(self.items):
            if n > number:
                yield f"id: {n}\\ndata: {text}\\n\\n"


kept = Kept()
"""

FLASK = """
from flask import Flask, Response, request
from flask.views import MethodView
from kept import kept

app = Flask(__name__)


class Feed(MethodView):
    def __init__(self, store):
        self.store = store

    def post(self):
        self.store.add(request.json["text"])
        return "", 204

    def get(self):
        after = int(request.headers.get("Last-Event-ID", 0))
        return Response(self.store.after(after), content_type="text/event-stream")


app.add_url_rule("/feed", view_func=VIEW)
"""

DJANGO = """
from django.http import StreamingHttpResponse
from django.urls import path
from django.views import View
from kept import Kept, kept


class Feed(View):
    store = None

    def post(self, request):
        self.store.add(request.body.decode())

    def get(self, request):
        after = int(request.headers.get("Last-Event-ID", 0))
        return StreamingHttpResponse(self.store.after(after), content_type="text/event-stream")


urlpatterns = [path("feed", VIEW)]
"""

PROJECT = """
import os

from django.core.asgi import get_asgi_application

os.environ["DJANGO_SETTINGS_MODULE"] = "settings"
application = get_asgi_application()
"""

PLAIN = """
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from kept import kept


class Feed(BaseHTTPRequestHandler):
    def __init__(self, store, *args, **options):
        self.store = store
        super().__init__(*args, **options)

    def do_POST(self):
        self.store.add("said")

    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        for frame in self.store.after(int(self.headers.get("Last-Event-ID") or 0)):
            self.wfile.write(frame.encode())


ThreadingHTTPServer(("", 80), VIEW).serve_forever()
"""

GIVEN = {
    "Flask, in its place": (FLASK, 'Feed.as_view("feed", kept)'),
    "Flask, by name": (FLASK, 'Feed.as_view(name="feed", store=kept)'),
    "Django": (DJANGO, "Feed.as_view(store=kept)"),
    "the standard library's server": (PLAIN, "partial(Feed, kept)"),
}


@pytest.mark.parametrize("name", GIVEN)
def test_a_class_of_handlers_is_given_what_its_objects_are_made_with(name: str) -> None:
    server, view = GIVEN[name]
    files = {"app.py": server.replace("VIEW", view), "kept.py": KEPT}
    if server is DJANGO:
        files |= {"asgi.py": PROJECT, "settings.py": 'ROOT_URLCONF = "app"'}
    stream = stream_of(files)
    assert (stream.ids.kind, stream.ids.scope) == (IdKind.COUNTER, Scope.OVERLAPPING), stream.ids.why
    assert stream.replay.where is Where.MEMORY
    assert stream.on_foreign.outcome is Outcome.COMPARED


def test_what_a_class_of_handlers_is_not_given_stays_open() -> None:
    """Look-alike: the store is the one of a file that is not in the tree."""
    files = {"app.py": FLASK.replace("VIEW", 'Feed.as_view("feed", kept)')}
    assert stream_of(files).ids.scope is Scope.UNKNOWN


QUART = """
from quart import Quart, request
from kept import kept

app = Quart(__name__)


@app.post("/feed")
async def add():
    kept.add(await request.get_data())
    return "", 204


@app.get("/feed")
async def feed():
    after = int(request.headers.get("Last-Event-ID", 0))
    response = await app.make_response((kept.after(after), {"Content-Type": "TYPE"}))
    response.timeout = None
    return response
"""


def test_an_application_makes_the_response_of_what_a_view_would_give() -> None:
    """Fires for an event stream; the look-alike sends lines of another kind."""
    stream = stream_of({"app.py": QUART.replace("TYPE", "text/event-stream"), "kept.py": KEPT})
    assert stream.ids.kind is IdKind.COUNTER
    plain = QUART.replace("TYPE", "text/plain")
    assert not reading_of({"app.py": plain, "kept.py": KEPT.replace("id:", "n:").replace("data:", "t:")}).streams


GATE = """
from starlette.applications import Starlette
from starlette.responses import StreamingResponse
from starlette.routing import Mount
from kept import kept


class Gate:
    async def __call__(self, scope, receive, send):
        headers = dict(scope["headers"])
        after = int(headers.get(b"last-event-id", b"0"))
        kept.add("seen")
        answer = StreamingResponse(kept.after(after), media_type="text/event-stream")
        await answer(scope, receive, send)


gate = Gate()
app = MOUNTED
"""


def test_an_object_that_an_application_mounts_is_no_application_beside_it() -> None:
    """Look-alike: the same object with nothing in front is the application."""
    mounted = GATE.replace("MOUNTED", 'Starlette(routes=[Mount("/feed", app=gate)])')
    streams = reading_of({"app.py": mounted, "kept.py": KEPT}).streams
    assert [s.url for s in streams] == ["/feed"]
    alone = reading_of({"app.py": GATE.replace("MOUNTED", "gate"), "kept.py": KEPT}).streams
    assert [s.url for s in alone] == [None]
