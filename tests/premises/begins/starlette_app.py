"""StreamingResponse, EventSourceResponse of sse-starlette, and an id that is no string."""

from sse_starlette import EventSourceResponse
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, StreamingResponse
from starlette.routing import Route


class ForeignCursorError(Exception):
    pass


def handler(request):
    raise HTTPException(409)


def mapped(request):
    raise ForeignCursorError


async def on_foreign(request, error):
    return JSONResponse({"error": "foreign"}, status_code=409)


async def frames(first, error):
    if first:
        yield first
    raise error


def plain(first, error=None):
    def view(request):
        return StreamingResponse(frames(first, error or HTTPException(409)), media_type="text/event-stream")

    return view


def sse(first):
    return lambda request: EventSourceResponse(frames(first, HTTPException(409)))


def number(request):
    async def events():
        yield {"id": 1, "data": "a"}

    return EventSourceResponse(events())


app = Starlette(
    routes=[
        Route("/handler", handler),
        Route("/mapped", mapped),
        Route("/unsent", plain(None)),
        Route("/sent", plain(b"id: 1\ndata: a\n\n")),
        Route("/mapped-unsent", plain(None, ForeignCursorError())),
        Route("/sse/unsent", sse(None)),
        Route("/sse/sent", sse({"id": "1", "data": "a"})),
        Route("/sse/number", number),
    ],
    exception_handlers={ForeignCursorError: on_foreign},
)
