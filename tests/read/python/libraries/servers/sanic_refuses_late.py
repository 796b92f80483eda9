"""Fires: as sanic_refuses, and a comment is sent before the refusal."""

import asyncio
import uuid

from sanic import Sanic
from sanic.exceptions import SanicException
from sanic.response import json

app = Sanic("feed")
events = {}


@app.post("/publish")
async def publish(request):
    events[uuid.uuid4().hex] = request.body.decode()
    return json({})


@app.get("/feed")
async def feed(request):
    response = await request.respond(content_type="text/event-stream")
    await response.send(": hello\n\n")
    cursor = request.headers.get("last-event-id")
    if cursor and cursor not in events:
        raise SanicException("start again", status_code=409)
    sent = list(events).index(cursor) + 1 if cursor else 0
    while True:
        for key in list(events)[sent:]:
            await response.send(f"id: {key}\ndata: {events[key]}\n\n")
            sent += 1
        await asyncio.sleep(0.2)
