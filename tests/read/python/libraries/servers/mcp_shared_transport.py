"""Fires: one transport of the SDK for all requests asks for no session, and its store numbers its own events."""

import contextlib

import anyio
from mcp.server.lowlevel import Server
from mcp.server.streamable_http import EventMessage, EventStore, StreamableHTTPServerTransport
from starlette.applications import Starlette
from starlette.routing import Mount


class Log(EventStore):
    def __init__(self):
        self.rows = []

    async def store_event(self, stream_id, message):
        self.rows.append((stream_id, message))
        return str(len(self.rows))

    async def replay_events_after(self, last_event_id, send_callback):
        position = int(last_event_id)
        if position > len(self.rows):
            raise KeyError(last_event_id)
        stream = self.rows[position - 1][0]
        for number, (of, message) in enumerate(self.rows[position:], position + 1):
            if of == stream:
                await send_callback(EventMessage(message, str(number)))
        return stream


core = Server("jobs")
transport = StreamableHTTPServerTransport(mcp_session_id=None, event_store=Log())


@contextlib.asynccontextmanager
async def lifespan(_):
    async with transport.connect() as (read, write), anyio.create_task_group() as tasks:
        tasks.start_soon(core.run, read, write, core.create_initialization_options())
        yield


app = Starlette(routes=[Mount("/mcp", app=transport.handle_request)], lifespan=lifespan)
