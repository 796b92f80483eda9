from contextlib import asynccontextmanager
from uuid import uuid4

import anyio
from mcp.server.lowlevel import Server
from mcp.server.streamable_http import MCP_SESSION_ID_HEADER, StreamableHTTPServerTransport
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.routing import Mount

from store import UuidStore

server = Server("crm")
store = UuidStore()


class RoamingManager(StreamableHTTPSessionManager):
    """Sessions may move between pods."""

    async def handle_request(self, scope, receive, send):
        request = Request(scope, receive)
        session_id = request.headers.get(MCP_SESSION_ID_HEADER)
        if session_id and session_id not in self._server_instances:
            await self._adopt(session_id)
        if session_id:
            return await self._server_instances[session_id].handle_request(scope, receive, send)
        await super().handle_request(scope, receive, send)

    async def _adopt(self, session_id):
        transport = StreamableHTTPServerTransport(mcp_session_id=session_id, event_store=self.event_store)
        self._server_instances[session_id] = transport

        async def run(*, task_status=anyio.TASK_STATUS_IGNORED):
            async with transport.connect() as (read, write):
                task_status.started()
                await self.app.run(read, write, self.app.create_initialization_options(), stateless=True)

        await self._task_group.start(run)


manager = RoamingManager(app=server, event_store=store)


@asynccontextmanager
async def lifespan(app):
    async with manager.run():
        yield


app = Starlette(routes=[Mount("/mcp", app=manager.handle_request)], lifespan=lifespan)
