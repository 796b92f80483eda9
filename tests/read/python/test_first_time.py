"""What is made the first time that a name comes: it is seen before what happens every other time."""

from __future__ import annotations

import pytest

from sselint.facts import IdKind, Where
from sselint.read.python.server import build
from tests.read.python.programs import stream_of

ROOMS = """
from flask import Flask, Response, request

app = Flask(__name__)
rooms = {}


def begin(name):
    if name in rooms:
        return
    rooms[name] = {"count": 0, "log": []}


@app.post("/rooms/<name>")
def publish(name):
    begin(name)
    room = rooms.get(name)
    if room is None:
        return "no such room", 404
    room["count"] += 1
    room["log"].append((room["count"], request.json["text"]))
    return ""


@app.get("/rooms/<name>")
def feed(name):
    last = int(request.headers.get("Last-Event-ID", "0"))
    room = rooms.get(name)

    def body():
        for number, text in room["log"] if room else ():
            if number > last:
                yield f"id: {number}\\ndata: {text}\\n\\n"

    return Response(body(), mimetype="text/event-stream")
"""


@pytest.mark.parametrize("taken", ["rooms[name] =", "rooms.pop(name, None) #"])
def test_what_fills_a_table_for_a_new_name_is_seen_with_little_time(
    monkeypatch: pytest.MonkeyPatch, taken: str
) -> None:
    """A handler is followed on one path alone: on it the name is new, for nothing can be in the table yet. Look-alike:
    the table is never filled."""
    monkeypatch.setattr(build, "ENTRY_PATHS", 1)
    monkeypatch.setattr(build, "ROUNDS", 1)
    filled = taken.endswith("=")
    stream = stream_of(ROOMS.replace("rooms[name] =", taken))
    assert (stream.ids.kind is IdKind.COUNTER, stream.replay.where is Where.MEMORY) == (filled, filled)
