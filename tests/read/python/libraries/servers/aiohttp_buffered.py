"""Fires: frames are put together in a buffer, by a subclass that checks its class and knows whether it has begun."""

import io
import itertools

from aiohttp import web

numbers = itertools.count(1)
events = []


class Frames(web.StreamResponse):
    def __init__(self):
        super().__init__(headers={"Content-Type": "text/event-stream"})

    async def send(self, number, text):
        if not self.prepared:
            raise RuntimeError("not prepared")
        buffer = io.StringIO()
        buffer.write(f"id: {number}\r\n")
        for line in text.split("\n"):
            buffer.write(f"data: {line}\r\n")
        buffer.write("\r\n")
        await self.write(buffer.getvalue().encode())


async def opened(request, kind=Frames):
    if not issubclass(kind, Frames):
        raise TypeError(kind)
    made = kind()
    await made.prepare(request)
    return made


async def publish(request):
    events.append((next(numbers), await request.text()))
    return web.Response()


async def feed(request):
    last = int(request.headers.get("Last-Event-ID", 0))
    response = await opened(request)
    for number, text in events:
        if number > last:
            await response.send(number, text)
    return response


app = web.Application()
app.router.add_post("/publish", publish)
app.router.add_get("/feed", feed)
