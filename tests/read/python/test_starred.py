"""Names that come with all others of a library."""

from __future__ import annotations

import pytest

from sselint.facts import IdKind
from tests.read.python.programs import reading_of, stream_of

SERVER = """
TAKEN

app = Flask(__name__)
said = []


@app.route("/say", methods=["POST"])
def say():
    said.append(request.data)
    return ""


@app.route("/feed")
def feed():
    def events():
        for number, text in enumerate(said):
            yield f"id: {number}\\ndata: {text}\\n\\n"

    return Response(events(), mimetype="text/event-stream")
"""


@pytest.mark.parametrize(
    ("taken", "common"),
    [
        ("from flask import *", ""),
        ("from common import *", "from flask import *"),
        ("from common import Flask, Response, request", "from flask import *"),
        ("import json\nfrom os.path import *\nfrom flask import *", ""),
    ],
)
def test_all_names_of_a_library_are_its_own(taken: str, common: str) -> None:
    stream = stream_of({"app.py": SERVER.replace("TAKEN", taken), "common.py": common})
    assert (stream.ids.kind, stream.url) == (IdKind.INDEX, "/feed")


def test_what_the_module_defines_itself_comes_first() -> None:
    """Look-alike: the class is the tree's own, and has no routes."""
    own = """
from flask import *


class Flask:
    def __init__(self, name): ...

    def route(self, path, methods=()):
        return lambda function: function
"""
    assert all(s.url is None for s in reading_of({"app.py": SERVER.replace("TAKEN", own)}).streams)


def test_names_of_a_library_that_nobody_describes_are_unknown() -> None:
    """Look-alike: whatever has these names there is something else."""
    assert reading_of({"app.py": SERVER.replace("TAKEN", "from elsewhere import *")}).streams == ()
