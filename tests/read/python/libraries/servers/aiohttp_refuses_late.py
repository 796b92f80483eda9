"""Fires: the same refusal inside `sse_response` of aiohttp-sse, whose head has left by then."""

import asyncio
import uuid

from aiohttp import web
from aiohttp_sse import sse_response

EVENTS = {}


async def publish(request):
    key = uuid.uuid4().hex
    EVENTS[key] = await request.text()
    return web.json_response({"id": key})


async def feed(request):
    async with sse_response(request) as response:
        cursor = response.last_event_id
        if cursor is not None and cursor not in EVENTS:
            raise web.HTTPConflict(text="start again")
        seen = list(EVENTS).index(cursor) + 1 if cursor else 0
        while response.is_connected():
            for key in list(EVENTS)[seen:]:
                await response.send(EVENTS[key], id=key)
                seen += 1
            await asyncio.sleep(0.2)
    return response


app = web.Application()
app.router.add_post("/publish", publish)
app.router.add_get("/feed", feed)
