"""An entry of a table that tells what an event means is not the event: nothing of it is replayed."""

from __future__ import annotations

from sselint.facts import Outcome, Where
from tests.read.python.programs import stream_of

BOARD = """
import json
import time
from flask import Flask, Response, request

app = Flask(__name__)

class Lamp:
    def __init__(self, name):
        self.name = name
        self.number = 0

LAMPS = [Lamp("green"), Lamp("red")]
for number, lamp in enumerate(LAMPS):
    lamp.number = number

class Board:
    shown = 0

board = Board()

@app.post("/show/<name>")
def show(name):
    for lamp in LAMPS:
        if lamp.name == name:
            board.shown = lamp.number
    return "", 204

@app.get("/board")
def watch():
    last = int(request.headers.get("Last-Event-ID", "0"))

    def body(count):
        before = None
        while True:
            if board.shown != before:
                before = board.shown
                count += 1
                text = json.dumps({"lamp": LAMPS[before].name})
                yield f"id: {count}\\ndata: {text}\\n\\n"
            time.sleep(1)

    return Response(body(last), mimetype="text/event-stream")
"""


def test_the_entry_that_the_state_names_is_no_replay() -> None:
    """Each number was given when the program started, to entries that stay as they are."""
    stream = stream_of(BOARD)
    assert stream.replay.where is Where.NONE, stream.replay.why
    assert stream.on_foreign.outcome is Outcome.IGNORED


HISTORY = """
import time
from flask import Flask, Response, request

app = Flask(__name__)
shown = []

@app.post("/show/<name>")
def show(name):
    shown.append(name)
    return "", 204

@app.get("/board")
def watch():
    position = int(request.headers.get("Last-Event-ID", "-1")) + 1

    def body():
        place = position
        while True:
            if place < len(shown):
                yield f"id: {place}\\ndata: {shown[place]}\\n\\n"
                place += 1
            time.sleep(1)

    return Response(body(), mimetype="text/event-stream")
"""


def test_the_entry_at_the_place_where_the_client_was_is_one() -> None:
    stream = stream_of(HISTORY)
    assert stream.replay.where is Where.MEMORY, stream.replay.why
