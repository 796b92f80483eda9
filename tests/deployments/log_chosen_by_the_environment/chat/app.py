from aiohttp import web
from aiohttp_sse import sse_response

from .logs import EventLog, from_environment

LOG = web.AppKey("log", EventLog)


async def say(request: web.Request) -> web.Response:
    form = await request.post()
    return web.json_response({"id": await request.app[LOG].append(str(form["text"]))})


async def listen(request: web.Request) -> web.StreamResponse:
    after = request.headers.get("Last-Event-ID")
    async with sse_response(request) as response:
        async for key, text in request.app[LOG].follow(after):
            await response.send(text, id=key)
    return response


def make_app() -> web.Application:
    app = web.Application()
    app[LOG] = from_environment()
    app.add_routes([web.post("/say", say), web.get("/listen", listen)])
    return app
