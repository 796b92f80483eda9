"""Fires: the function that writes the response finds the cursor unknown when the first event has left."""

import uuid

from sanic import Sanic
from sanic.exceptions import SanicException
from sanic.response import ResponseStream, json

app = Sanic("feed")
events = {}


@app.post("/publish")
async def publish(request):
    events[uuid.uuid4().hex] = request.body.decode()
    return json({})


@app.get("/feed")
async def feed(request):
    cursor = request.headers.get("last-event-id")

    async def write(response):
        await response.write("retry: 1000\n\n")
        if cursor and cursor not in events:
            raise SanicException("start again", status_code=409)
        sent = list(events).index(cursor) + 1 if cursor else 0
        for key in list(events)[sent:]:
            await response.write(f"id: {key}\ndata: {events[key]}\n\n")

    return ResponseStream(write, content_type="text/event-stream")
