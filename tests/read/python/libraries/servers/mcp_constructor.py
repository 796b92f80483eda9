"""Fires: the SDK's own server is given a store when it is made, and hands it to the application that it makes."""

from uuid import uuid4

from mcp.server.fastmcp import FastMCP
from mcp.server.streamable_http import EventMessage, EventStore


class Kept(EventStore):
    def __init__(self):
        self.log = []

    async def store_event(self, stream_id, message):
        event_id = uuid4().hex
        self.log.append((stream_id, event_id, message))
        return event_id

    async def replay_events_after(self, last_event_id, send_callback):
        names = [event_id for _, event_id, _ in self.log]
        if last_event_id not in names:
            return None
        place = names.index(last_event_id)
        for _, event_id, message in self.log[place + 1 :]:
            await send_callback(EventMessage(message, event_id))
        return self.log[place][0]


server = FastMCP("orders", event_store=Kept())
app = server.streamable_http_app()
