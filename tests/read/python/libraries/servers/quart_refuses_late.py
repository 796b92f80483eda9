"""Fires: the refusal stands in the generator, and Quart has sent its head by then (flask_refuses_early)."""

import asyncio
import secrets

from quart import Quart, Response, abort, request

app = Quart(__name__)
events = {}


@app.post("/publish")
async def publish():
    key = secrets.token_hex(8)
    events[key] = await request.get_data(as_text=True)
    return {"id": key}


@app.get("/feed")
async def feed():
    return Response(frames(request.headers.get("Last-Event-ID")), mimetype="text/event-stream")


async def frames(cursor):
    if cursor and cursor not in events:
        abort(409)
    sent = list(events).index(cursor) + 1 if cursor else 0
    while True:
        for key in list(events)[sent:]:
            yield f"id: {key}\ndata: {events[key]}\n\n"
            sent += 1
        await asyncio.sleep(0.2)
