"""What a client may leave out of its query: that it does is tried first, for what it would filter by hides the rest."""

from __future__ import annotations

import pytest

from sselint.facts import IdKind, Outcome
from sselint.read.python.answers import streams
from tests.read.python.programs import reading_of

APP = """
import redis.asyncio as redis
from fastapi import FastAPI, Query, Request
from fastapi.responses import StreamingResponse

app = FastAPI()
store = redis.from_url("redis://events", decode_responses=True)


@app.post("/say")
async def say(text: str):
    await store.xadd("news", {{"text": text, "kind": "news", "author": "me"}})


@app.get("/feed")
async def feed(request: Request, {parameters}):
    last = request.headers.get("last-event-id", "0")

    async def body():
        for _, entries in await store.xread({{"news": last}}):
            for key, fields in entries:
                {filtered}
                    continue
                yield f"id: {{key}}\\ndata: {{fields['text']}}\\n\\n"

    return StreamingResponse(body(), media_type="text/event-stream")
"""


@pytest.mark.parametrize(
    ("parameters", "filtered", "found"),
    [
        ("kind: str | None = None", "if kind is not None and fields['kind'] != kind:", True),
        ("kind: str | None = Query(default=None)", "if kind and fields['kind'] != kind:", True),
        ("kind: str | None = None, author: str | None = None", "if kind or author:", True),
        # Look-alikes: it is not left out, or what is left out leads past the event.
        ('kind: str = "news"', "if not kind:", True),
        ("kind: str | None = None", "if kind is None:", False),
    ],
)
def test_a_filter_that_is_left_out_is_tried_first(
    parameters: str, filtered: str, found: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One path is all that is followed."""
    monkeypatch.setattr(streams, "SHAPE_PATHS", 1)
    monkeypatch.setattr(streams, "PATHS", 1)
    (stream,) = reading_of({"app.py": APP.format(parameters=parameters, filtered=filtered)}).streams
    assert (stream.ids.kind is IdKind.STORE) is found
    assert (stream.on_foreign.outcome is Outcome.COMPARED) is found


@pytest.mark.parametrize("filtered", ["if kind is None:", "if kind is not None and fields['kind'] != kind:"])
def test_both_are_tried(filtered: str) -> None:
    text = APP.format(parameters="kind: str | None = None", filtered=filtered)
    (stream,) = reading_of({"app.py": text}).streams
    assert (stream.ids.kind, stream.on_foreign.outcome) == (IdKind.STORE, Outcome.COMPARED)
