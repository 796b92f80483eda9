"""Guards whose keys are minted in the process and loaded from elsewhere too: another process may know them as well."""

from __future__ import annotations

import pytest

from sselint.facts import Guard, KeyOrigin
from tests.read.python.programs import stream_of

PROGRAM = """
import json, os, secrets
from pathlib import Path
from flask import Flask, Response, abort, request

app = Flask(__name__)
said = []


{setup}


@app.post("/sign-in")
def sign_in():
    ticket = secrets.token_urlsafe(24)
    {add}
    return ticket


@app.post("/say")
def say():
    said.append(request.data)
    return ""


@app.get("/events")
def events():
    ticket = request.cookies.get("ticket")
    if {test}:
        abort(401)
    last = request.headers.get("Last-Event-ID")

    def body():
        start = int(last) + 1 if last else 0
        for number, text in enumerate(said[start:], start):
            yield f"id: {{number}}\\ndata: {{text}}\\n\\n"

    return Response(body(), mimetype="text/event-stream")
"""
SET = "tickets.add(ticket)", "ticket not in tickets"
DICT = "tickets[ticket] = True", "tickets.get(ticket) is None"
DESK = "desk.tickets.add(ticket)", "ticket not in desk.tickets"
DESK_DICT = "desk.tickets[ticket] = True", "ticket not in desk.tickets"
CLASS = "class Desk:\n    def __init__(self):\n{}\n\ndesk = Desk()"
READ = 'json.loads(Path("tickets.json").read_text())'


def guard_of(setup: str, add: str, test: str) -> Guard:
    """The one guard of a server whose tickets are set up so."""
    (guard,) = stream_of(PROGRAM.format(setup=setup, add=add, test=test)).guards
    return guard


LOADED = {
    "replaced": (CLASS.format(f"        self.tickets = set()\n        self.tickets = set({READ})"), *DESK),
    "replaced at times": (
        CLASS.format(
            "        self.tickets = set()\n        self.load()\n\n    def load(self):\n"
            f"        known = {READ}\n        if isinstance(known, list):\n            self.tickets = set(known)"
        ),
        *DESK,
    ),
    "update of a set": (f"tickets = set()\ntickets.update({READ})", *SET),
    "union": (f"tickets = set().union({READ})", *SET),
    "update of a dict": (f"tickets = {{}}\ntickets.update({READ})", *DICT),
    "|=": ('tickets = {}\ntickets |= json.load(open("tickets.json"))', *DICT),
    "|": (f"tickets = {{}} | {READ}", *DICT),
    "**": (f"tickets = {{**{READ}}}", *DICT),
    "by way of another": (f"old = {{}}\nold.update({READ})\ntickets = {{}}\ntickets.update(old)", *DICT),
    "or empty": (
        CLASS.format(
            "        self.tickets = self.load() or {}\n\n    def load(self):\n        try:\n"
            f"            return {READ}\n        except OSError:\n            return None"
        ),
        *DESK_DICT,
    ),
    "from the environment": ('tickets = set()\ntickets.update(os.environ.get("TICKETS", "").split(","))', *SET),
}


@pytest.mark.parametrize("name", LOADED)
def test_key_that_is_loaded_too_is_not_of_this_process_alone(name: str) -> None:
    """Whoever reads the same file, or starts again, knows the ticket."""
    assert guard_of(*LOADED[name]).origin is KeyOrigin.SHARED


OWN = {
    "set": ("tickets = set()", *SET),
    "replaced by an empty one": (
        CLASS.format("        self.tickets = set()\n\n    def forget(self):\n        self.tickets = set()"),
        *DESK,
    ),
    "update with what is minted": ("tickets = {}\nspare = {}", "tickets.update({ticket: True})", DICT[1]),
    "something else is loaded": (
        CLASS.format(f"        self.tickets = set()\n        self.notes = set({READ})"),
        *DESK,
    ),
    "merged into something else": (f"tickets = {{}}\nboth = {{}}\nboth.update({READ}, **tickets)", *DICT),
}


@pytest.mark.parametrize("name", OWN)
def test_key_that_only_the_process_makes_is_its_own(name: str) -> None:
    """The look-alikes: nothing is loaded, or it goes elsewhere."""
    assert guard_of(*OWN[name]).origin is KeyOrigin.RANDOM_LOCAL
