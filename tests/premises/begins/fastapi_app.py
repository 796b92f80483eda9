"""A dependency, a StreamingResponse, and the generators of `fastapi.sse`."""

from fastapi import Depends, FastAPI, Header, HTTPException
from fastapi.responses import StreamingResponse
from fastapi.sse import EventSourceResponse, ServerSentEvent

app = FastAPI()


def known(last_event_id: str | None = Header(None)):
    raise HTTPException(409)


@app.get("/handler")
def handler():
    raise HTTPException(409)


@app.get("/dependency", dependencies=[Depends(known)])
def dependency():
    return StreamingResponse(iter([b"data: a\n\n"]), media_type="text/event-stream")


@app.get("/sse/dependency", dependencies=[Depends(known)], response_class=EventSourceResponse)
async def sse_dependency():
    yield ServerSentEvent(data="a", id="1")


async def frames(first):
    if first:
        yield first
    raise HTTPException(409)


@app.get("/unsent")
def unsent():
    return StreamingResponse(frames(None), media_type="text/event-stream")


@app.get("/sent")
def sent():
    return StreamingResponse(frames(b"id: 1\ndata: a\n\n"), media_type="text/event-stream")


@app.get("/sse/unsent", response_class=EventSourceResponse)
async def sse_unsent():
    if app.title:
        raise HTTPException(409)
    yield ServerSentEvent(data="a", id="1")


@app.get("/sse/sent", response_class=EventSourceResponse)
async def sse_sent():
    yield ServerSentEvent(data="a", id="1")
    raise HTTPException(409)


@app.get("/sse/number", response_class=EventSourceResponse)
async def sse_number():
    yield ServerSentEvent(data="a", id=1)
