"""Records that what stands for a type makes of JSON: one class, or one of several that a field tells apart."""

from __future__ import annotations

import pytest

from sselint.facts import IdKind, Outcome, Scope
from tests.read.python.programs import stream_of

SERVER = """
from typing import Annotated, Literal, Union

import redis
from fastapi import FastAPI, Header
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, Field, TypeAdapter

app = FastAPI()
kept = redis.Redis.from_url("redis://redis")


class Said(BaseModel):
    number: int

    def written(self):
        return f"id: {self.number}\\ndata: {self.model_dump_json()}\\n\\n"


class Word(Said):
    kind: Literal["word"] = "word"


class End(Said):
    kind: Literal["end"] = "end"


READER = TypeAdapter(TYPE)
count = 0


@app.post("/said")
def said():
    global count
    count += 1
    kept.rpush("said", READER.dump_json(Word(number=NUMBER)))


@app.get("/said")
def read(last_event_id: int = Header(0)):
    def events():
        for raw in kept.lrange("said", 0, -1):
            known = READER.validate_json(raw)
            if known.number > last_event_id:
                yield known.written()

    return StreamingResponse(events(), media_type="text/event-stream")
"""
TYPES = ["Word", "Word | End", "Union[Word, End]", 'Annotated[Union[Word, End], Field(discriminator="kind")]']


@pytest.mark.parametrize("kind", TYPES)
def test_a_number_of_a_store_stays_one_in_whichever_record(kind: str) -> None:
    stream = stream_of(SERVER.replace("TYPE", kind).replace("NUMBER", 'kept.incr("numbers")'))
    assert (stream.ids.kind, stream.ids.scope) == (IdKind.STORE, Scope.SHARED)
    assert stream.on_foreign.outcome is Outcome.COMPARED


@pytest.mark.parametrize("kind", TYPES)
def test_a_number_that_each_process_counts_stays_one(kind: str) -> None:
    """Look-alike: what is kept in the store was counted by a process."""
    stream = stream_of(SERVER.replace("TYPE", kind).replace("NUMBER", "count"))
    assert stream.ids.kind is IdKind.COUNTER


def test_a_type_that_is_not_seen_makes_what_is_not_seen() -> None:
    unseen = SERVER.replace("READER = TypeAdapter(TYPE)", "from elsewhere import READER")
    assert stream_of(unseen.replace("NUMBER", "count")).ids.kind is IdKind.UNKNOWN
