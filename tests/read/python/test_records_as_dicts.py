"""Records that are put on the wire by what their fields are called: as a dict, or as bytes that they say themselves."""

from __future__ import annotations

import pytest

from sselint.facts import IdKind
from tests.read.python.programs import answered, stream_of

STORE = """
import dataclasses
from collections import deque
from typing import Any, NamedTuple


{record}
    data: Any = ""
    event: str | None = None
    id: int | None = None

    def __bytes__(self):
        return f"id: {{self.id}}\\ndata: {{self.data}}\\n\\n".encode()

    def lines(self):
        for name, value in {fields}.items():
            if value is None or name == "data":
                continue
            yield f"{{name}}: {{value}}"
        yield f"data: {{self.data}}\\n\\n"


log, made = deque(maxlen=80), 0


def publish(text):
    global made
    made += 1
    log.append(Piece(text, "note", {id}))
"""
HANDLER = """
from starlette.responses import StreamingResponse

last = request.headers.get("last-event-id")

async def body():
    for piece in list(log):
        yield {sent}

return StreamingResponse(body(), media_type="text/event-stream")
"""
RECORDS = {
    "_asdict": ("class Piece(NamedTuple):", "self._asdict()"),
    "asdict": ("@dataclasses.dataclass\nclass Piece:", "dataclasses.asdict(self)"),
}
SENT = ["bytes(piece)", '"\\n".join(piece.lines())']


def _ids(of: str, sent: str, id: str) -> IdKind:
    record, fields = RECORDS[of]
    return stream_of(answered(HANDLER.format(sent=sent), STORE.format(record=record, fields=fields, id=id))).ids.kind


@pytest.mark.parametrize("sent", SENT)
@pytest.mark.parametrize("of", RECORDS)
def test_the_field_of_that_name_is_the_id(of: str, sent: str) -> None:
    assert _ids(of, sent, "made") is IdKind.COUNTER


@pytest.mark.parametrize("of", RECORDS)
def test_a_field_that_nothing_stands_in_is_left_out(of: str) -> None:
    """Look-alike: no event of the tree is given a number."""
    assert _ids(of, SENT[1], "None") is IdKind.NONE


MADE = """
import collections
import types
import typing
import uuid
from collections import deque, namedtuple

import msgspec

{of}
log, made = deque(maxlen=80), 0


def publish(text):
    global made
    made += 1
    log.append({record})
"""
BY_CALLS = [
    ('Piece = namedtuple("Piece", "data, id")', "Piece(text, made)"),
    ('Piece = collections.namedtuple("Piece", ["data", "kind", "id"], defaults=["a", None])', "Piece(text, id=made)"),
    ('class Piece(namedtuple("Piece", ("id", "data"))):\n    __slots__ = ()', "Piece(made, text)"),
    ("class Piece(msgspec.Struct):\n    data: str\n    id: int", "Piece(text, made)"),
    ("Piece = types.SimpleNamespace", "Piece(id=made, data=text)"),
]
READ = 'f"id: {piece.id}\\ndata: {piece.data}\\n\\n"'


def _kind(of: str, record: str) -> IdKind:
    return stream_of(answered(HANDLER.format(sent=READ), MADE.format(of=of, record=record))).ids.kind


@pytest.mark.parametrize(("of", "record"), BY_CALLS)
def test_classes_that_a_call_makes_have_the_fields_that_it_names(of: str, record: str) -> None:
    assert _kind(of, record) is IdKind.COUNTER


def test_two_calls_make_two_classes() -> None:
    """Look-alike: the other one has its fields in another order."""
    of = 'Other = namedtuple("Piece", "id data")\nPiece = namedtuple("Piece", "data id")'
    assert _kind(of, "Piece(uuid.uuid4().hex, made)") is IdKind.COUNTER
    assert _kind(of, "Other(uuid.uuid4().hex, made)") is IdKind.RANDOM


def test_fields_whose_names_are_computed_are_not_known() -> None:
    of = 'Piece = namedtuple("Piece", typing.get_type_hints(deque))'
    assert _kind(of, "Piece(text, made)") is IdKind.UNKNOWN
