"""Cursors that are more than text: JSON behind base64, and numbers that are signed."""

from __future__ import annotations

import pytest

from sselint.facts import IdKind, Outcome, Scope
from tests.read.python.programs import stream_of

SERVER = """
import base64
import hashlib
import hmac
import itertools
import json
import os
import secrets

from fastapi import FastAPI, HTTPException, Request
from fastapi.responses import StreamingResponse

server = FastAPI()
life = secrets.token_hex(4)
said = []
numbers = itertools.count(1)
KEY


def packed(number):
    return base64.urlsafe_b64encode(json.dumps(PACKED).encode()).decode()


def unpacked(given):
    held = json.loads(base64.urlsafe_b64decode(given))
    UNPACKED


def signature(number):
    return hmac.new(key, str(number).encode(), hashlib.sha256).hexdigest()[:12]


def signed(number):
    return f"{number}.{signature(number)}"


def checked(given):
    number, _, mark = given.partition(".")
    if not hmac.compare_digest(mark, signature(number)):
        raise HTTPException(400)
    return int(number)


@server.post("/say")
def say(text: str):
    said.append((next(numbers), text))


@server.get("/said")
def hear(request: Request):
    given = request.headers.get("last-event-id")
    behind = READ(given) if given else 0

    def body():
        for number, text in said:
            if number > behind:
                yield f"id: {WRITTEN(number)}\\ndata: {text}\\n\\n"

    return StreamingResponse(body(), media_type="text/event-stream")
"""


def server(packed: str, unpacked: str) -> str:
    """A server whose ids are JSON."""
    text = SERVER.replace("PACKED", packed, 1).replace("UNPACKED", unpacked).replace("KEY", "key = b'x'", 1)
    return text.replace("READ", "unpacked").replace("WRITTEN", "packed")


NUMBERED = [
    ('{"at": number}', 'return held["at"]'),
    ('{"at": number}', 'return int(held.get("at"))'),
    ("[number]", "return held[0]"),
]
DATED = [
    ('{"life": life, "at": number}', 'other, at = held["life"], held["at"]'),
    ('{"at": number, "life": life}', 'other, at = held.get("life"), held.get("at")'),
    ("[life, number]", "other, at = held"),
    ("[number, life]", "at, other = held[0], held[1]"),
]


@pytest.mark.parametrize(("packed", "unpacked"), NUMBERED)
def test_a_number_is_a_number_however_it_is_packed(packed: str, unpacked: str) -> None:
    stream = stream_of(server(packed, unpacked))
    assert (stream.ids.kind, stream.ids.scope) == (IdKind.COUNTER, Scope.OVERLAPPING)
    assert stream.on_foreign.outcome is Outcome.COMPARED


@pytest.mark.parametrize(("packed", "unpacked"), DATED)
def test_a_name_of_the_process_in_it_tells_foreign_ids(packed: str, unpacked: str) -> None:
    refused = unpacked + "\n    if other != life:\n        raise HTTPException(410)\n    return at"
    stream = stream_of(server(packed, refused))
    assert (stream.ids.kind, stream.ids.scope) == (IdKind.EPOCH_PREFIXED, Scope.UNIQUE_LOCAL)
    assert stream.on_foreign.outcome is Outcome.FAIL_CLOSED


@pytest.mark.parametrize(("packed", "unpacked"), DATED)
def test_unless_nothing_looks_at_it(packed: str, unpacked: str) -> None:
    """Look-alike: the name is there, and only the number counts."""
    stream = stream_of(server(packed, unpacked + "\n    return at"))
    assert stream.ids.scope is Scope.UNIQUE_LOCAL
    assert stream.on_foreign.outcome is Outcome.COMPARED


@pytest.mark.parametrize(
    ("key", "outcome", "scope"),
    [
        ('key = os.environ["SIGNS_WITH"].encode()', Outcome.COMPARED, Scope.OVERLAPPING),
        ('key = b"the same for all"', Outcome.COMPARED, Scope.OVERLAPPING),
        ("key = secrets.token_bytes(32)", Outcome.FAIL_CLOSED, Scope.UNIQUE_LOCAL),
    ],
)
def test_what_another_process_signed_is_good_where_all_have_one_key(key: str, outcome: Outcome, scope: Scope) -> None:
    text = SERVER.replace("KEY", key, 1).replace("PACKED", "number", 1).replace("UNPACKED", "return held")
    stream = stream_of(text.replace("READ", "checked").replace("WRITTEN", "signed"))
    assert (stream.on_foreign.outcome, stream.ids.scope) == (outcome, scope)


LINES = """
import pathlib

from fastapi import FastAPI, Header
from fastapi.responses import StreamingResponse

server = FastAPI()
said = []
kept = pathlib.Path("/var/lib/said.log")


@server.post("/say")
def say(text: str):
    said.append(text)
    with kept.open("a") as end:
        end.write(text + "\\n")


@server.get("/said")
def hear(last_event_id: int = Header(0)):
    def body():
        for number, line in enumerate(SOURCE, start=1):
            if number > last_event_id:
                yield f"id: {number}\\ndata: {line}\\n\\n"

    return StreamingResponse(body(), media_type="text/event-stream")
"""


def test_the_number_of_a_line_is_the_same_to_all_that_read_the_file() -> None:
    ids = stream_of(LINES.replace("SOURCE", "kept.open()")).ids
    assert (ids.kind, ids.scope) == (IdKind.INDEX, Scope.SHARED)


def test_the_number_of_an_element_of_a_list_is_not() -> None:
    ids = stream_of(LINES.replace("SOURCE", "said")).ids
    assert (ids.kind, ids.scope) == (IdKind.INDEX, Scope.OVERLAPPING)
