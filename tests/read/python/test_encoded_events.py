"""Events of a library that a handler turns into text or bytes itself."""

from __future__ import annotations

import pytest

from sselint.facts import IdKind, Outcome
from tests.read.python.programs import stream_of

NEWS = """
from {module} import {name}
from starlette.applications import Starlette
from starlette.responses import StreamingResponse
from starlette.routing import Route

log = []


async def publish(request):
    log.append((len(log) + 1, await request.body()))


async def news(request):
    last = int(request.headers.get("last-event-id", "0"))

    async def body():
        for number, text in log:
            if number > last:
                yield {sent}

    return StreamingResponse(body(), media_type="text/event-stream")


app = Starlette(routes=[Route("/news", news), Route("/publish", publish, methods=["POST"])])
"""
SSE_STARLETTE = ("sse_starlette.sse", "ServerSentEvent")
ENCODED = [
    (*SSE_STARLETTE, "ServerSentEvent(data=text, id=str(number)).encode()"),
    (*SSE_STARLETTE, "str(ServerSentEvent(data=text, id=str(number)))"),
    (*SSE_STARLETTE, 'f"{ServerSentEvent(data=text, id=str(number))}"'),
    ("fastapi.sse", "format_sse_event", "format_sse_event(data_str=text, id=str(number))"),
    ("fastapi.sse", "format_sse_event", "format_sse_event(data_str=text, id=str(number)).decode()"),
]


@pytest.mark.parametrize(("module", "name", "sent"), ENCODED)
def test_an_event_that_is_encoded_is_the_event(module: str, name: str, sent: str) -> None:
    stream = stream_of(NEWS.format(module=module, name=name, sent=sent))
    assert (stream.ids.kind, stream.on_foreign.outcome) == (IdKind.INDEX, Outcome.COMPARED)


def test_an_event_without_an_id_has_none() -> None:
    """The look-alike: nothing but data is put into it."""
    stream = stream_of(
        NEWS.format(module=SSE_STARLETTE[0], name=SSE_STARLETTE[1], sent="ServerSentEvent(text).encode()")
    )
    assert stream.ids.kind is IdKind.NONE
