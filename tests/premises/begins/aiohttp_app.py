"""`prepare()` of aiohttp begins the response, and `sse_response` of aiohttp-sse does so on entering."""

import sys

from aiohttp import web
from aiohttp_sse import sse_response


async def handler(request):
    raise web.HTTPConflict


async def made(request):
    web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    raise web.HTTPConflict


async def unsent(request):
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await response.prepare(request)
    raise web.HTTPConflict


async def sent(request):
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await response.prepare(request)
    await response.write(b"id: 1\ndata: a\n\n")
    raise web.HTTPConflict


async def sse_unsent(request):
    async with sse_response(request):
        raise web.HTTPConflict


async def sse_sent(request):
    async with sse_response(request) as response:
        await response.send("a", id="1")
        raise web.HTTPConflict


app = web.Application()
for name, view in (("handler", handler), ("made", made), ("unsent", unsent), ("sent", sent)):
    app.router.add_get(f"/{name}", view)
app.router.add_get("/sse/unsent", sse_unsent)
app.router.add_get("/sse/sent", sse_sent)

if __name__ == "__main__":
    web.run_app(app, host="127.0.0.1", port=int(sys.argv[1]))
