"""Histories that are cut down to so many of the newest: what is left is still there to be replayed."""

from __future__ import annotations

import pytest

from sselint.facts import Outcome, Where
from tests.read.python.programs import stream_of

ROOMS = """
from flask import Flask, Response, request
from settings_of_the_company import most

app = Flask(__name__)
MOST = 500
rooms = {{}}


@app.post("/rooms/<name>")
def publish(name):
    room = rooms.setdefault(name, {{"count": 0, "log": []}})
    room["count"] += 1
    room["log"].append({{"number": room["count"], "text": request.json["text"]}})
    if len(room["log"]) > MOST:
        {trimmed}
    return ""


@app.get("/rooms/<name>")
def feed(name):
    last = int(request.headers.get("Last-Event-ID", "0"))
    room = rooms[name]
    begin = len(room["log"])

    def body():
        for event in {sent}:
            if event["number"] > last:
                yield f"id: {{event['number']}}\\ndata: {{event['text']}}\\n\\n"
        while True:
            yield ": waiting\\n\\n"

    return Response(body(), mimetype="text/event-stream")
"""
TRIMMED = [
    'room["log"] = room["log"][len(room["log"]) - MOST:]',
    'room["log"] = room["log"][len(room["log"]) - most:]',
    'room["log"] = room["log"][len(room["log"]) // 2:]',
    'room["log"] = room["log"][max(0, len(room["log"]) - MOST):]',
    'room["log"] = room["log"][-MOST:]',
    'room["log"] = room["log"][1:]',
    'del room["log"][: len(room["log"]) - MOST]',
    'excess = len(room["log"]) - MOST\n        room["log"] = room["log"][excess:]',
]


@pytest.mark.parametrize("trimmed", TRIMMED)
def test_what_is_left_of_a_history_is_replayed(trimmed: str) -> None:
    stream = stream_of(ROOMS.format(trimmed=trimmed, sent='room["log"]'))
    assert (stream.replay.where, stream.on_foreign.outcome) == (Where.MEMORY, Outcome.COMPARED)


def test_from_the_end_of_a_history_nothing_is_replayed() -> None:
    """The look-alike: what begins at the length that was taken before is what comes from now on."""
    stream = stream_of(ROOMS.format(trimmed="pass", sent='room["log"][begin:]'))
    assert stream.replay.where is Where.NONE
