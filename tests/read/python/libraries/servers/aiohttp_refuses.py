"""Silent: random ids, and an unknown one is a 409 before `prepare()`."""

import asyncio
import uuid

from aiohttp import web

EVENTS = {}


async def publish(request):
    key = uuid.uuid4().hex
    EVENTS[key] = await request.text()
    return web.json_response({"id": key})


async def feed(request):
    cursor = request.headers.get("Last-Event-ID")
    if cursor is not None and cursor not in EVENTS:
        raise web.HTTPConflict(text="start again")
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await response.prepare(request)
    seen = list(EVENTS).index(cursor) + 1 if cursor else 0
    while True:
        for key in list(EVENTS)[seen:]:
            await response.write(f"id: {key}\ndata: {EVENTS[key]}\n\n".encode())
            seen += 1
        await asyncio.sleep(0.2)


app = web.Application()
app.add_routes([web.post("/publish", publish), web.get("/feed", feed)])
