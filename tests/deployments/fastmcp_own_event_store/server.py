from fastmcp import FastMCP
from fastmcp.server.event_store import EventStore

mcp = FastMCP("notes")


@mcp.tool
def add(a: int, b: int) -> int:
    return a + b


app = mcp.http_app(event_store=EventStore(max_events_per_stream=100), retry_interval=2000)
