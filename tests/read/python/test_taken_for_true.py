"""A value that nobody knows is asked once whether it is true: what a name was taken for it stays on that path."""

from __future__ import annotations

from sselint.facts import Outcome
from tests.read.python.programs import stream_of

TOPICS = """
import threading, time, uuid
from collections import deque
from flask import Flask, Response, request

KNOWN = {"scores", "injuries"}
app = Flask(__name__)
kept = deque(maxlen=100)


@app.post("/news")
def publish():
    kept.append({"id": uuid.uuid4().hex, "topic": "scores"})
    return ""


def behind(seen, topics):
    held = list(kept)
    first = 0
    if seen:
        for place, entry in enumerate(held):
            if entry["id"] == seen:
                first = place + 1
                break
    return [entry for entry in held[first:] if not topics or entry["topic"] in topics]


def flow(seen, topics):
    while True:
        for entry in behind(seen, topics):
            seen = entry["id"]
            yield f"id: {entry['id']}\\ndata: {entry['topic']}\\n\\n"
        time.sleep(1)


@app.get("/news")
def news():
    topics = set(request.args.get("topics", "").split(",")) & KNOWN or set(KNOWN)
    return Response(flow(request.headers.get("Last-Event-ID"), topics), mimetype="text/event-stream")
"""
IN_ORDER = """
import itertools, time
from flask import Flask, Response, request
from backstage import options

app = Flask(__name__)
numbers = itertools.count(1)
kept = []


@app.post("/news")
def publish():
    kept.append((next(numbers), request.json["text"]))
    return ""


@app.get("/news")
def news():
    last = int(request.headers.get("Last-Event-ID", "0"))
    everything = options()

    def body():
        for number, text in kept:
            if everything:
                continue
            FIRST
            if not everything and number > last:
                yield f"id: {number}\\ndata: {text}\\n\\n"

    return Response(body(), mimetype="text/event-stream")
"""


def test_a_filter_that_the_client_chose_is_the_same_for_all_that_was_kept() -> None:
    """Were it asked anew for each entry, it would let some through and leave the earlier ones out, which is what only
    the cursor may do."""
    assert stream_of(TOPICS).on_foreign.outcome is Outcome.REPLAY_ALL


def test_what_comes_behind_the_cursor_is_still_that() -> None:
    """Look-alike: the cursor leaves the earlier ones out."""
    assert stream_of(IN_ORDER.replace("FIRST", "")).on_foreign.outcome is Outcome.COMPARED


def test_a_branch_that_the_same_answer_has_shut_is_not_taken() -> None:
    """The name is false where the loop comes to it: what would be sent if it were true is never sent."""
    shut = "if everything: yield f'id: {number}\\ndata: all\\n\\n'"
    assert stream_of(IN_ORDER.replace("FIRST", shut)).on_foreign.outcome is Outcome.COMPARED
