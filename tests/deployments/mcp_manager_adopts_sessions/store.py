from uuid import uuid4

from mcp.server.streamable_http import EventMessage, EventStore


class UuidStore(EventStore):
    def __init__(self):
        self._events = {}

    async def store_event(self, stream_id, message):
        key = uuid4().hex
        self._events[key] = (stream_id, message)
        return key

    async def replay_events_after(self, last_event_id, send_callback):
        entry = self._events.get(last_event_id)
        if not entry:
            return None
        keys = list(self._events)
        for key in keys[keys.index(last_event_id) + 1:]:
            stream_id, message = self._events[key]
            if stream_id == entry[0]:
                await send_callback(EventMessage(message, key))
        return entry[0]
