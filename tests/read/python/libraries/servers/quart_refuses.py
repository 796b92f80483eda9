"""Silent: random ids, and an unknown one is aborted with 409 in the handler."""

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
    cursor = request.headers.get("Last-Event-ID")
    if cursor and cursor not in events:
        abort(409)
    return Response(frames(cursor), mimetype="text/event-stream")


async def frames(cursor):
    sent = list(events).index(cursor) + 1 if cursor else 0
    while True:
        for key in list(events)[sent:]:
            yield f"id: {key}\ndata: {events[key]}\n\n"
            sent += 1
        await asyncio.sleep(0.2)
