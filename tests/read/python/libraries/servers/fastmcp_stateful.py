"""Silent: ids and a store, and yet a session that another process opened is a 404 before the cursor is read."""

from fastmcp import FastMCP
from fastmcp.server.event_store import EventStore

mcp = FastMCP("weather")


@mcp.tool
def forecast(city: str) -> str:
    return f"sun over {city}"


app = mcp.http_app(event_store=EventStore())
