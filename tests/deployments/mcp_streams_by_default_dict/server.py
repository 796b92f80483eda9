import contextlib
from collections import defaultdict
from uuid import uuid4

import uvicorn
from mcp.server.lowlevel import Server
from mcp.server.streamable_http import EventMessage, EventStore
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.applications import Starlette
from starlette.routing import Mount

server = Server("files")


class RecentEvents(EventStore):
    def __init__(self, keep=200):
        self.keep = keep
        self.streams = defaultdict(list)
        self.where = {}

    async def store_event(self, stream_id, message):
        event_id = str(uuid4())
        self.streams[stream_id].append((event_id, message))
        self.where[event_id] = stream_id
        if len(self.streams[stream_id]) > self.keep:
            gone, _ = self.streams[stream_id].pop(0)
            self.where.pop(gone, None)
        return event_id

    async def replay_events_after(self, last_event_id, send_callback):
        stream_id = self.where.get(last_event_id)
        if stream_id is None:
            return None
        found = False
        for event_id, message in self.streams[stream_id]:
            if found:
                await send_callback(EventMessage(message, event_id))
            elif event_id == last_event_id:
                found = True
        return stream_id


manager = StreamableHTTPSessionManager(app=server, event_store=RecentEvents())


@contextlib.asynccontextmanager
async def lifespan(app):
    async with manager.run():
        yield


app = Starlette(routes=[Mount("/mcp", app=manager.handle_request)], lifespan=lifespan)

if __name__ == "__main__":
    uvicorn.run(app, host="0.0.0.0", port=8000)
