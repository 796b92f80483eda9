"""ServerSentEvent and Stream of Litestar."""

from litestar import Litestar, get
from litestar.exceptions import HTTPException
from litestar.response import ServerSentEvent, ServerSentEventMessage, Stream


def foreign():
    return HTTPException(status_code=409)


@get("/handler")
async def handler() -> None:
    raise foreign()


async def frames(first):
    if first:
        yield first
    raise foreign()


@get("/unsent")
async def unsent() -> Stream:
    return Stream(frames(None), media_type="text/event-stream")


@get("/sent")
async def sent() -> Stream:
    return Stream(frames(b"id: 1\ndata: a\n\n"), media_type="text/event-stream")


@get("/sse/unsent")
async def sse_unsent() -> ServerSentEvent:
    return ServerSentEvent(frames(None))


@get("/sse/sent")
async def sse_sent() -> ServerSentEvent:
    return ServerSentEvent(frames(ServerSentEventMessage(data="a", id=1)))


app = Litestar([handler, unsent, sent, sse_unsent, sse_sent])
