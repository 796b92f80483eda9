"""Tables as long as real ones: the stream is the last of many routes, and no limit of ours may cut it off."""

from __future__ import annotations

import pytest

from sselint.facts import IdKind
from tests.read.python.programs import reading_of

FEED = """
import itertools
from starlette.applications import Starlette
from starlette.responses import JSONResponse, StreamingResponse
from starlette.routing import Mount, Route, Router
numbers = itertools.count(1)


async def frames():
    while True:
        yield f"id: {next(numbers)}\\ndata: x\\n\\n"


async def feed(request):
    return StreamingResponse(frames(), media_type="text/event-stream")


async def plain(request):
    return JSONResponse({})

"""
MANY = "".join(f'    Route("/plain/{n}", plain),\n' for n in range(30))
TABLES = {
    "a list": f"app = Starlette(routes=[\n{MANY}    Route('/feed', feed),\n])\n",
    "a list with a name": f"table = [\n{MANY}    Route('/feed', feed),\n]\napp = Starlette(routes=table)\n",
    "a list that is unpacked": f"table = [\n{MANY}    Route('/feed', feed),\n]\napp = Starlette(routes=[*table])\n",
    "in a factory": f"def create():\n    table = [\n{MANY}    Route('/feed', feed),\n    ]\n"
    "    return Starlette(routes=table)\n\n\napp = create()\n",
    "a loop over routers": "app = Starlette()\n"
    + "".join(f"r{n} = Router(routes=[Route('/p', plain)])\n" for n in range(30))
    + "last = Router(routes=[Route('/feed', feed)])\n"
    + f"for router in ({', '.join(f'r{n}' for n in range(30))}, last):\n    app.mount('/x', router)\n",
}


@pytest.mark.parametrize("name", TABLES)
def test_the_last_of_many_routes_is_found(name: str) -> None:
    (stream,) = reading_of({"app.py": FEED + TABLES[name]}).streams
    assert stream.ids.kind is IdKind.COUNTER
    assert {app.path for app in stream.apps} == {"app.py"}


def test_a_table_of_plain_routes_is_none() -> None:
    """The look-alike: as long, and nothing in it streams."""
    table = f"app = Starlette(routes=[\n{MANY}])\n"
    assert not [s for s in reading_of({"app.py": FEED + table}).streams if s.apps]
