"""Fires: a function that NATS calls numbers what it hears, each process for itself, and only those are replayed."""

import nats
from starlette.applications import Starlette
from starlette.responses import StreamingResponse
from starlette.routing import Route

heard = []


async def hear(message):
    heard.append(message.data.decode())


async def start():
    connection = await nats.connect("nats://nats:4222")
    await connection.subscribe("news", cb=hear)


async def feed(request):
    start = int(request.headers.get("last-event-id", -1)) + 1

    async def frames():
        for number, text in enumerate(heard[start:], start):
            yield f"id: {number}\ndata: {text}\n\n"

    return StreamingResponse(frames(), media_type="text/event-stream")


app = Starlette(routes=[Route("/feed", feed)], on_startup=[start])
