"""Asynchronous generators of Quart."""

from quart import Quart, abort

app = Quart(__name__)


@app.get("/handler")
async def handler():
    abort(409)


async def frames(first):
    if first:
        yield first
    abort(409)


@app.get("/unsent")
async def unsent():
    return frames(None), {"Content-Type": "text/event-stream"}


@app.get("/sent")
async def sent():
    return frames(b"id: 1\ndata: a\n\n"), {"Content-Type": "text/event-stream"}
