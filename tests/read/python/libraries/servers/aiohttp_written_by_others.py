"""Fires: a handler leaves its response where others find it, and a publisher writes counted ids to all of them."""

import asyncio
import itertools

from aiohttp import web
from aiohttp_sse import sse_response

numbers = itertools.count(1)
connections = set()


async def publish(request):
    number = next(numbers)
    for connection in list(connections):
        await connection.send(await request.text(), id=str(number))
    return web.Response()


async def feed(request):
    async with sse_response(request) as response:
        connections.add(response)
        try:
            while response.is_connected():
                await asyncio.sleep(1)
        finally:
            connections.discard(response)
    return response


app = web.Application()
app.router.add_get("/feed", feed)
app.router.add_post("/publish", publish)
