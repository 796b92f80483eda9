"""What runs beside the requests: a thread that never returns is no end of what starts it."""

from __future__ import annotations

import pytest

from sselint.facts import IdKind, Outcome, Scope, Where
from tests.read.python.programs import stream_of

CLOCK = """
import queue
import threading
import time

from flask import Flask, Response

app = Flask(__name__)
listening = []


def tick():
    number = 0
    while True:
        number += 1
        for inbox in listening:
            inbox.put((number, time.time()))
        time.sleep(1)


{start}


@app.route("/feed")
def feed():
    inbox = queue.Queue()
    listening.append(inbox)

    def body():
        while True:
            number, now = inbox.get()
            yield f"id: {{number}}\\ndata: {{now}}\\n\\n"

    return Response(body(), mimetype="text/event-stream")
"""


@pytest.mark.parametrize(
    "start",
    ["threading.Thread(target=tick, daemon=True).start()", "thread = threading.Thread(target=tick)\nthread.start()"],
)
def test_a_thread_that_the_module_starts_goes_on_when_requests_come(start: str) -> None:
    """The routes stand below it, and the queues that it fills are made by requests."""
    stream = stream_of(CLOCK.format(start=start))
    assert (stream.ids.kind, stream.ids.scope) == (IdKind.COUNTER, Scope.OVERLAPPING)
    assert (stream.replay.live_tail, stream.on_foreign.outcome) == (Where.MEMORY, Outcome.NOT_READ)


def test_what_nothing_starts_feeds_nothing() -> None:
    """Look-alike: the function stands there, and who calls it is out of sight."""
    text = CLOCK.format(start="").replace("inbox.put((number, time.time()))", "print(inbox)")
    assert stream_of(text).ids.kind is IdKind.UNKNOWN
