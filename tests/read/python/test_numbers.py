"""Numbers that are written down as text: what can be read is a number, whatever kind of number is asked for."""

from __future__ import annotations

import pytest

from sselint.facts import IdKind, Outcome
from tests.read.python.programs import stream_of

SERVER = """
import itertools
import os
from datetime import datetime

from fastapi import FastAPI, Request
from fastapi.responses import StreamingResponse

app = FastAPI()
log = []
numbers = itertools.count()


@app.post("/say")
async def say(text: str):
    log.append((next(numbers), text))


@app.get("/chat")
async def chat(request: Request):
    after = int(request.headers.get("Last-Event-ID", "0"))

    async def body():
        setting = {number}
        for number, text in log:
            if number > after:
                yield f"id: {{number}}\\ndata: {{text}}\\n\\n"

    return StreamingResponse(body(), media_type="text/event-stream")
"""
NUMBERS = [
    "float('0.5')",
    "float(os.environ.get('BEAT', '2.5'))",
    "float(3)",
    "int('ff', 16)",
    "int('0x1f', base=16)",
    "datetime.fromisoformat('2024-01-01')",
]


@pytest.mark.parametrize("number", NUMBERS)
def test_a_number_of_a_setting_ends_no_stream(number: str) -> None:
    stream = stream_of(SERVER.format(number=number))
    assert stream.ids.kind is IdKind.COUNTER
    assert stream.on_foreign.outcome is Outcome.COMPARED


@pytest.mark.parametrize("number", ["int('0.5')", "int('ff')", "float('soon')", "int(float('inf'))"])
def test_what_is_no_such_number_ends_it(number: str) -> None:
    """Look-alike: the stream fails before its first event."""
    assert stream_of(SERVER.format(number=number)).on_foreign.outcome is not Outcome.COMPARED
