"""Servers that keep a tally of what they do: a `Counter` has a zero for all that it was not told of."""

from __future__ import annotations

import pytest

from sselint.facts import IdKind, Scope, Where
from tests.read.python.programs import stream_of

SERVER = """
import queue
from collections import Counter
from flask import Flask, Response, request

app = Flask(__name__)


class Board:
    def __init__(self):
        self.listening = set()
        self.number = 0
        self.told = {tally}

    def put(self, kind, text):
        self.number += 1
        {counts}
        for listener in list(self.listening):
            listener.put({{"id": {id}, "text": text}})


board = Board()


@app.post("/say")
def say():
    board.put("said", request.json["text"])
    return "", 204


@app.get("/feed")
def feed():
    listener = queue.Queue()
    board.listening.add(listener)

    def body():
        while True:
            event = listener.get()
            yield f"id: {{event['id']}}\\ndata: {{event['text']}}\\n\\n"

    return Response(body(), mimetype="text/event-stream")
"""


@pytest.mark.parametrize("id", ["self.number", "self.told[kind]"])
def test_what_counts_in_a_tally_comes_to_its_end(id: str) -> None:
    stream = stream_of(SERVER.format(tally="Counter()", counts="self.told[kind] += 1", id=id))
    assert (stream.ids.kind, stream.ids.scope) == (IdKind.COUNTER, Scope.OVERLAPPING), stream.ids.why
    assert stream.replay.live_tail is Where.MEMORY


def test_what_counts_in_a_dict_that_holds_nothing_does_not() -> None:
    """It raises before anybody is told."""
    stream = stream_of(SERVER.format(tally="{}", counts="self.told[kind] += 1", id="self.number"))
    assert stream.ids.kind is IdKind.UNKNOWN
