"""Fires: a counter of the process, and what compares greater is sent after `prepare()`."""

import asyncio
from collections import deque

from aiohttp import web

ROUTES = web.RouteTableDef()
LOG = web.AppKey("log", deque)


@ROUTES.post("/publish")
async def publish(request):
    log = request.app[LOG]
    number = log[-1][0] + 1 if log else 1
    log.append((number, await request.text()))
    return web.json_response({"id": number})


@ROUTES.get("/feed")
async def feed(request):
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await response.prepare(request)
    last = int(request.headers.get("Last-Event-ID", "0"))
    while True:
        for number, text in list(request.app[LOG]):
            if number > last:
                await response.write(f"id: {number}\ndata: {text}\n\n".encode())
                last = number
        await asyncio.sleep(0.2)


app = web.Application()
app[LOG] = deque(maxlen=500)
app.add_routes(ROUTES)

if __name__ == "__main__":
    web.run_app(app)
