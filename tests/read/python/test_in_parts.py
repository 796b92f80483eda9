"""A history that is sent in parts of some entries each: what is cut up counts, not what it was taken from."""

from __future__ import annotations

import pytest

from sselint.facts import IdKind, Outcome, Where
from tests.read.python.programs import stream_of

SERVER = """
import json
from itertools import batched

from fastapi import FastAPI, Request
from fastapi.responses import StreamingResponse

app = FastAPI()
log = []


{parts}


@app.post("/say")
async def say(text: str):
    log.append({{"seq": len(log), "text": text}})


@app.get("/chat")
async def chat(request: Request):
    after = int(request.headers.get("Last-Event-ID", "-1")) + 1

    async def body():
        for part in in_parts({history}):
            {sends}

    return StreamingResponse(body(), media_type="text/event-stream")
"""
LISTED = """
def in_parts(entries):
    return [entries[n : n + 10] for n in range(0, len(entries), 10)]
"""
YIELDED = """
def in_parts(entries):
    for n in range(0, len(entries), 10):
        yield entries[n : n + 10]
"""
BATCHED = """
def in_parts(entries):
    return batched(entries, 10)
"""
BY_ITSELF = """for entry in part:
                yield f"id: {entry['seq']}\\ndata: {json.dumps(entry)}\\n\\n"
"""
TOGETHER = """yield f"id: {part[-1]['seq']}\\ndata: {json.dumps(part)}\\n\\n\""""
LATER = "log[after:]"
CHOSEN = "[entry for entry in log if entry['seq'] >= after]"


@pytest.mark.parametrize("parts", [LISTED, YIELDED, BATCHED])
@pytest.mark.parametrize("sends", [BY_ITSELF, TOGETHER])
@pytest.mark.parametrize("history", [LATER, CHOSEN])
def test_what_is_behind_the_cursor_is_compared_also_in_parts(parts: str, sends: str, history: str) -> None:
    stream = stream_of(SERVER.format(parts=parts, sends=sends, history=history))
    assert stream.ids.kind is IdKind.INDEX
    assert stream.replay.where is Where.MEMORY
    assert stream.on_foreign.outcome is Outcome.COMPARED, stream.on_foreign.why


@pytest.mark.parametrize("parts", [LISTED, YIELDED, BATCHED])
@pytest.mark.parametrize("sends", [BY_ITSELF, TOGETHER])
def test_a_history_that_is_cut_up_as_a_whole_is_not_compared(parts: str, sends: str) -> None:
    """Look-alike: the cursor only says whether anything is sent at all."""
    server = SERVER.format(parts=parts, sends=sends, history="log if after in range(0, 10_000) else log")
    assert stream_of(server).on_foreign.outcome is not Outcome.COMPARED
