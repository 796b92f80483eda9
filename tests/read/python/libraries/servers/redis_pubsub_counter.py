"""Fires: Redis only passes messages on, and each process numbers what it hears for itself."""

import itertools

import redis.asyncio as redis
from fastapi import FastAPI, Request
from sse_starlette import EventSourceResponse

client = redis.Redis(host="redis", decode_responses=True)
numbers = itertools.count(1)
heard = []
app = FastAPI()


@app.on_event("startup")
async def listen():
    channel = client.pubsub()
    await channel.subscribe("news")
    async for message in channel.listen():
        heard.append((next(numbers), message["data"]))


@app.get("/feed")
async def feed(request: Request):
    last = int(request.headers.get("Last-Event-ID", 0))

    async def events():
        for number, text in heard:
            if number > last:
                yield {"id": str(number), "data": text}

    return EventSourceResponse(events())
