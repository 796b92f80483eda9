"""What middleware sets on a request, for the handler that takes it from there: it has nothing to do with the cursor."""

from __future__ import annotations

import pytest

from sselint.facts import IdKind, Stream, Where
from tests.read.python.programs import reading_of, stream_of

LOGS = """
import itertools


class Shelf:
    def __init__(self, redis):
        self.redis = redis

    async def after(self, last):
        return [(row[0], row[1]["text"]) for row in await self.redis.xrange("log", "(" + last, "+")]


class Desk:
    def __init__(self):
        self.rows, self.numbers = [], itertools.count(1)

    def put(self, text):
        self.rows.append((next(self.numbers), text))

    async def after(self, last):
        return [row for row in self.rows if row[0] > int(last)]


desk = Desk()
"""

ROUTES = """
from starlette.responses import StreamingResponse
from starlette.routing import Route


async def feed(request):
    last = request.headers.get("last-event-id", "0")

    async def body():
        for number, text in await request.state.log.after(last):
            yield f"id: {number}\\ndata: {text}\\n\\n"

    return StreamingResponse(body(), media_type="text/event-stream")


async def say(request):
    request.state.log.put(await request.body())


routes = [Route("/feed", feed), Route("/say", say, methods=["POST"])]
"""

APP = """
from redis.asyncio import Redis
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.base import BaseHTTPMiddleware
from logs import Shelf, desk
from routes import routes


class Puts(BaseHTTPMiddleware):
    async def dispatch(self, request, call_next):
        request.state.{name} = {value}
        return await call_next(request)


app = Starlette(routes={routes}, middleware=[Middleware(Puts)])
"""
SHELF, DESK = "Shelf(Redis())", "desk"


def app(value: str, name: str = "log", routes: str = "routes") -> str:
    """An application whose middleware sets a value on each request."""
    return APP.format(value=value, name=name, routes=routes)


def feed_of(files: dict[str, str]) -> Stream:
    """The stream of a program of several files that share the logs and the routes."""
    return stream_of({"logs.py": LOGS, "routes.py": ROUTES, **files})


@pytest.mark.parametrize(
    ("value", "kind", "where"),
    [(SHELF, IdKind.STORE, Where.SHARED), (DESK, IdKind.COUNTER, Where.MEMORY)],
)
def test_what_middleware_sets_is_what_the_handler_takes(value: str, kind: IdKind, where: Where) -> None:
    """It does not look at the cursor, and still the stream comes from what it set."""
    stream = feed_of({"app.py": app(value)})
    assert (stream.ids.kind, stream.replay.where) == (kind, where)


def test_under_another_name_it_is_not_known() -> None:
    """The look-alike: what is set is something else."""
    stream = feed_of({"app.py": app(SHELF, name="shelf")})
    assert (stream.ids.kind, stream.replay.where) == (IdKind.UNKNOWN, Where.UNKNOWN)


def test_middleware_of_another_application_stands_in_front_of_that_one() -> None:
    """The look-alike: two applications, and the stream is in one of them."""
    stream = feed_of({"app.py": app(SHELF), "other.py": app(DESK, routes="[]")})
    assert (stream.ids.kind, stream.replay.where) == (IdKind.STORE, Where.SHARED)


UNMOUNTED = """
from redis.asyncio import Redis
from sanic import Sanic
from importlib import import_module
from logs import Shelf


def make(names, address) -> Sanic:
    app = Sanic("feeds")
    for name in names:
        app.blueprint(import_module(name).bp)
    redis = Redis.from_url(address)

    @app.listener("before_server_start")
    async def start(current, loop):
        current.ctx.redis = redis.client()

    @app.middleware("request")
    async def put(request):
        request.ctx.log = Shelf(Sanic.get_app("feeds").ctx.redis)

    return app
"""

BLUEPRINT = """
from sanic import Blueprint

bp = Blueprint("feed")


@bp.get("/feed")
async def feed(request):
    last = request.headers.get("last-event-id", "0")
    response = await request.respond(content_type="text/event-stream")
    while True:
        for number, text in await request.ctx.log.after(last):
            await response.send(f"id: {number}\\ndata: {text}\\n\\n")
            last = number
"""


def test_handler_that_is_mounted_by_a_computed_name() -> None:
    """Any middleware of the tree may stand in front of it, be it that what it sets is there only once the server has
    started."""
    stream = stream_of({"app.py": UNMOUNTED, "logs.py": LOGS, "feeds.py": BLUEPRINT})
    assert (stream.ids.kind, stream.replay.where) == (IdKind.STORE, Where.SHARED)


def test_middleware_of_a_test_stands_in_front_of_nothing() -> None:
    """The look-alike: only the tests have some."""
    files = {"tests/app.py": UNMOUNTED, "logs.py": LOGS, "feeds.py": BLUEPRINT}
    (stream,) = (s for s in reading_of(files).streams if s.path == "feeds.py")
    assert (stream.ids.kind, stream.replay.where) == (IdKind.UNKNOWN, Where.UNKNOWN)
