"""The ways in which the MCP SDK can be wired to an event store, one path each. NAME says which process answers."""

import contextlib
import os

import anyio
import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.streamable_http import StreamableHTTPServerTransport
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.applications import Starlette
from starlette.routing import Mount
from stores import Numbered, Raising, Random, ReplayingAll, Shared

NAME = os.environ["NAME"]
STEP = 0.15


async def list_tools(ctx, params):
    return types.ListToolsResult(tools=[types.Tool(name="work", description="Works.", input_schema={"type": "object"})])


async def call_tool(ctx, params):
    label, steps = params.arguments["label"], params.arguments["steps"]
    for step in range(1, steps + 1):
        await ctx.session.send_log_message("info", f"{NAME}:{label}:{step}", related_request_id=ctx.request_id)
        await anyio.sleep(STEP)
    return types.CallToolResult(content=[types.TextContent(type="text", text=f"{NAME}:{label}:done")])


core = Server("work", on_list_tools=list_tools, on_call_tool=call_tool)


class Adopting(StreamableHTTPSessionManager):
    """Takes over the sessions that it does not know."""

    async def _handle_stateful_request(self, scope, receive, send):
        session = dict(scope["headers"]).get(b"mcp-session-id", b"").decode()
        if session and session not in self._server_instances:
            transport = StreamableHTTPServerTransport(mcp_session_id=session, event_store=self.event_store)
            self._server_instances[session] = transport
            await self._task_group.start(self.serve, transport)
        await super()._handle_stateful_request(scope, receive, send)

    async def serve(self, transport, *, task_status):
        async with transport.connect() as (read, write):
            task_status.started()
            await self.app.run(read, write, self.app.create_initialization_options())


managers = {
    "stateful": StreamableHTTPSessionManager(core, event_store=Numbered()),
    "stateful-shared": StreamableHTTPSessionManager(core, event_store=Shared(os.environ["DATABASE"])),
    "stateless": StreamableHTTPSessionManager(core, event_store=Numbered(), stateless=True),
    "json": StreamableHTTPSessionManager(core, event_store=Numbered(), json_response=True),
    "adopting": Adopting(core, event_store=Numbered()),
    "adopting-random": Adopting(core, event_store=Random()),
    "adopting-without-store": Adopting(core),
}
wired = {
    "direct": StreamableHTTPServerTransport(mcp_session_id=None, event_store=Numbered()),
    "direct-raising": StreamableHTTPServerTransport(mcp_session_id=None, event_store=Raising()),
    "direct-replaying-all": StreamableHTTPServerTransport(mcp_session_id=None, event_store=ReplayingAll()),
    "direct-shared": StreamableHTTPServerTransport(mcp_session_id=None, event_store=Shared(os.environ["DATABASE"])),
}


@contextlib.asynccontextmanager
async def lifespan(_):
    async with contextlib.AsyncExitStack() as stack:
        for manager in managers.values():
            await stack.enter_async_context(manager.run())
        tasks = await stack.enter_async_context(anyio.create_task_group())
        for transport in wired.values():
            read, write = await stack.enter_async_context(transport.connect())
            tasks.start_soon(core.run, read, write, core.create_initialization_options())
        yield
        tasks.cancel_scope.cancel()


app = Starlette(
    routes=[Mount(f"/{n}", app=thing.handle_request) for n, thing in {**managers, **wired}.items()], lifespan=lifespan
)
