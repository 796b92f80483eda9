"""Extensions of an application: what `init_app` leaves there, and who asks for it."""

from __future__ import annotations

import pytest

from sselint.facts import IdKind, Outcome, Where
from tests.read.python.programs import stream_of

APP = """
import uuid
from flask import Flask, Response, abort, current_app, request
from werkzeug.local import LocalProxy


class Log:
    def __init__(self):
        self.events = {}


class News:
    def init_app(self, app):
        INIT

    def publish(self, text):
        self.log.events[uuid.uuid4().hex] = text

    @property
    def log(self):
        return current_app.extensions["news"]


extension = News()
FOUND


def create_app():
    app = Flask(__name__)
    extension.init_app(app)

    @app.post("/news")
    def publish():
        extension.publish(request.get_data(as_text=True))
        return "", 204

    @app.get("/news")
    def news():
        events = ASKED
        last = request.headers.get("Last-Event-ID")
        if last is not None and last not in events:
            abort(409)

        def body():
            found = last is None
            for key, text in list(events.items()):
                if found:
                    yield f"id: {key}\\ndata: {text}\\n\\n"
                found = found or key == last

        return Response(body(), mimetype="text/event-stream")

    return app
"""
SET = 'app.extensions["news"] = Log()'
PROXY = 'log = LocalProxy(lambda: current_app.extensions["news"])'


def program(init: str = SET, found: str = "", asked: str = 'current_app.extensions["news"].events') -> str:
    return APP.replace("INIT", init).replace("FOUND", found).replace("ASKED", asked)


@pytest.mark.parametrize(
    "text",
    [
        program(),
        program(init='app.extensions.setdefault("news", Log())'),
        program(init="app.extensions.update(news=Log())"),
        program(asked='current_app.extensions.get("news").events'),
        program(asked="extension.log.events"),
        program(found=PROXY, asked="log.events"),
    ],
)
def test_what_init_app_leaves_is_what_a_request_finds(text: str) -> None:
    stream = stream_of(text)
    assert (stream.ids.kind, stream.replay.where) == (IdKind.RANDOM, Where.MEMORY)
    assert stream.on_foreign.outcome is Outcome.FAIL_CLOSED


def test_a_proxy_of_a_library_stands_for_what_is_not_seen() -> None:
    """Look-alike: what the proxy asks is no function of the tree."""
    text = program(found="from helpers import find\nlog = LocalProxy(find)", asked="log.events")
    assert stream_of(text).on_foreign.outcome is not Outcome.FAIL_CLOSED


def test_another_name_among_the_extensions_is_another_one() -> None:
    text = program(asked='current_app.extensions["other"].events')
    assert stream_of(text).replay.where is not Where.MEMORY


def test_a_setting_that_only_has_a_default_is_not_known() -> None:
    """Look-alike: a default is there for somebody to set something else."""
    init = f'app.config.setdefault("FEED", "memory")\n        {SET}'
    asked = 'current_app.extensions["news"].events if current_app.config["FEED"] == "memory" else elsewhere()'
    assert stream_of("from helpers import elsewhere\n" + program(init=init, asked=asked)).on_foreign.outcome is not (
        Outcome.FAIL_CLOSED
    )
