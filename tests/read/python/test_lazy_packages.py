"""Packages that import what they offer as soon as somebody asks for it: `__getattr__` of a module."""

from __future__ import annotations

import pytest

from sselint.facts import IdKind, Where
from tests.read.python.programs import stream_of

OFFERED = """
import importlib

PLACES = {{"Board": ".boards"}}


def __getattr__(name):
{gives}
"""

BY_TABLE = """
    if name in PLACES:
        return getattr(importlib.import_module(PLACES[name], __name__), name)
    raise AttributeError(name)
"""
BY_NAME = """
    if name == "boards":
        return importlib.import_module(".boards", __name__)
    return getattr(importlib.import_module(".boards", package=__name__), name)
"""
ABSOLUTE = """
    return getattr(importlib.import_module(f"{__name__}.boards"), name)
"""

BOARDS = """
class Board:
    def __init__(self):
        self.number = 0
        self.rows = []

    def put(self, text):
        self.number += 1
        self.rows.append((self.number, text))
"""

APP = """
from flask import Flask, Response, request
from said import {offered}

app = Flask(__name__)
board = {offered}()


@app.post("/say")
def say():
    board.put(request.json["text"])
    return "", 204


@app.get("/feed")
def feed():
    since = int(request.headers.get("Last-Event-ID", 0))

    def body():
        for number, text in board.rows:
            if number > since:
                yield f"id: {{number}}\\ndata: {{text}}\\n\\n"

    return Response(body(), mimetype="text/event-stream")
"""


def _files(gives: str, offered: str = "Board") -> dict[str, str]:
    package = OFFERED.format(gives=gives)
    return {"app.py": APP.format(offered=offered), "said/__init__.py": package, "said/boards.py": BOARDS}


@pytest.mark.parametrize("gives", [BY_TABLE, BY_NAME, ABSOLUTE])
def test_what_a_package_offers_lazily_is_found(gives: str) -> None:
    stream = stream_of(_files(gives))
    assert stream.ids.kind is IdKind.COUNTER, stream.ids.why
    assert stream.replay.where is Where.MEMORY


@pytest.mark.parametrize(
    ("gives", "offered"),
    [(BY_NAME, "Desk"), ('    return getattr(importlib.import_module(".desks", __name__), name)\n', "Board")],
)
def test_what_it_does_not_have_is_not_known(gives: str, offered: str) -> None:
    stream = stream_of(_files(gives, offered))
    assert stream.ids.kind is IdKind.UNKNOWN
    assert stream.replay.where is Where.UNKNOWN
