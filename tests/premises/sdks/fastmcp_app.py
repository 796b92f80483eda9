"""The ways in which FastMCP can be given an event store, one path each."""

import contextlib
import os

import anyio
from fastmcp import Context, FastMCP
from fastmcp.server.event_store import EventStore
from key_value.aio.stores.filetree import FileTreeStore
from starlette.applications import Starlette
from starlette.routing import Mount

NAME = os.environ["NAME"]
STEP = 0.15


def server():
    made = FastMCP("work")

    @made.tool
    async def work(label: str, steps: int, ctx: Context) -> str:
        for step in range(1, steps + 1):
            await ctx.info(f"{NAME}:{label}:{step}")
            await anyio.sleep(STEP)
        return f"{NAME}:{label}:done"

    return made


apps = {
    "memory": server().http_app(path="/", event_store=EventStore()),
    "shared": server().http_app(path="/", event_store=EventStore(FileTreeStore(data_directory=os.environ["FOLDER"]))),
    "stateless": server().http_app(path="/", event_store=EventStore(), stateless_http=True),
    "plain": server().http_app(path="/", event_store=EventStore(), stateless_http=None),
}


@contextlib.asynccontextmanager
async def lifespan(app):
    async with contextlib.AsyncExitStack() as stack:
        for inner in apps.values():
            await stack.enter_async_context(inner.lifespan(app))
        yield


app = Starlette(routes=[Mount(f"/{name}", app=inner) for name, inner in apps.items()], lifespan=lifespan)
