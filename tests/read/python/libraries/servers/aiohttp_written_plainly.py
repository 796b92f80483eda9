"""Silent: as aiohttp_written_by_others, without ids."""

import asyncio

from aiohttp import web
from aiohttp_sse import sse_response

connections = set()


async def publish(request):
    for connection in list(connections):
        await connection.send(await request.text())
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
