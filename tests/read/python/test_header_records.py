"""Headers and query parameters that a handler takes as one record: each field is one of them."""

from __future__ import annotations

import pytest

from sselint.facts import Outcome, Truth
from tests.read.python.programs import stream_of

SERVER = """
import itertools
from typing import Annotated

from fastapi import FastAPI, Header, Query
from fastapi.responses import StreamingResponse
from pydantic import BaseModel

app = FastAPI()
log = []
numbers = itertools.count(1)


class Asked(BaseModel):
    {field}: int = 0
    tenant: str = ""


@app.post("/say")
async def say(text: str):
    log.append((next(numbers), text))


@app.get("/chat")
async def chat(asked: Annotated[Asked, {mark}]):
    async def body():
        for number, text in log:
            if number > asked.{field}:
                yield f"id: {{number}}\\ndata: {{text}}\\n\\n"

    return StreamingResponse(body(), media_type="text/event-stream")
"""


@pytest.mark.parametrize("mark", ["Header()", "Query()"])
def test_a_field_of_a_record_of_headers_is_the_cursor(mark: str) -> None:
    stream = stream_of(SERVER.format(mark=mark, field="last_event_id"))
    assert stream.cursor.read is Truth.YES, stream.cursor.why
    assert stream.cursor.how.startswith("header" if mark == "Header()" else "query")
    assert stream.on_foreign.outcome is Outcome.COMPARED
    assert stream.on_malformed is not None
    assert stream.on_malformed.status == 422


@pytest.mark.parametrize("mark", ["Header()", "Query()"])
def test_a_record_of_headers_without_the_cursor_reads_none(mark: str) -> None:
    """Look-alike: how many are wanted is no place to go on from."""
    assert stream_of(SERVER.format(mark=mark, field="at_least")).cursor.read is Truth.NO
