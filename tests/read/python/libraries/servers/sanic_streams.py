"""Fires: Sanic hands the response to a function that writes it, and each process numbers what it sends."""

import asyncio
import itertools

from sanic import Sanic
from sanic.response import stream

app = Sanic("feed")
numbers = itertools.count(1)
waiting = asyncio.Queue()


@app.post("/publish")
async def publish(request):
    await waiting.put(f"id: {next(numbers)}\r\ndata: {request.body.decode()}\r\n\r\n")


@app.route("/feed", methods=["GET"])
async def feed(request):
    async def write(response):
        while True:
            await response.write(await waiting.get())

    return stream(write, content_type="text/event-stream")
