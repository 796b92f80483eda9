"""Silent: stateless drops the store, and no id is ever on the wire."""

from fastmcp import FastMCP
from fastmcp.server.event_store import EventStore

mcp = FastMCP("weather")


@mcp.tool
def forecast(city: str) -> str:
    return f"sun over {city}"


app = mcp.http_app(event_store=EventStore(), stateless_http=True)
