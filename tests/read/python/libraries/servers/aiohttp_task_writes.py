"""Fires: a task that start-up began writes to responses of a class of the tree, and its ids are from the clock."""

import asyncio
from datetime import datetime

from aiohttp import web
from aiohttp_sse import EventSourceResponse, sse_response

STREAMS = web.AppKey("streams", set)
TICKING = web.AppKey("ticking", asyncio.Task)


class Stream(EventSourceResponse):
    async def tell(self, text, number):
        await self.send(text, id=number)


async def tick(app):
    while True:
        now = datetime.now()
        told = [stream.tell("tick", str(now.timestamp())) for stream in app[STREAMS]]
        await asyncio.gather(*told)
        await asyncio.sleep(1)


async def start(app):
    app[STREAMS] = set()
    app[TICKING] = asyncio.create_task(tick(app))


async def feed(request):
    stream = await sse_response(request, response_cls=Stream)
    request.app[STREAMS].add(stream)
    await stream.wait()
    return stream


app = web.Application()
app.on_startup.append(start)
app.router.add_get("/feed", feed)
