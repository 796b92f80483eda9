"""Event stores that differ in how ids are made, and in what they do with an id that they have never seen."""

import json
import sqlite3
from uuid import uuid4

from mcp.server.streamable_http import EventMessage, EventStore
from mcp_types.jsonrpc import jsonrpc_message_adapter


class Numbered(EventStore):
    """Ids are numbers of this process. An unknown id: `replay_events_after` returns None."""

    def __init__(self):
        self.rows = []

    def name(self):
        return str(len(self.rows) + 1)

    async def store_event(self, stream_id, message):
        event_id = self.name()
        self.rows.append((event_id, stream_id, message))
        return event_id

    async def replay_events_after(self, last_event_id, send_callback):
        position = next((n for n, row in enumerate(self.rows) if row[0] == last_event_id), None)
        return await self.unknown(send_callback) if position is None else await self.replay(position, send_callback)

    async def replay(self, position, send_callback):
        stream = self.rows[position][1]
        for event_id, of, message in self.rows[position + 1 :]:
            if of == stream and message is not None:
                await send_callback(EventMessage(message, event_id))
        return stream

    async def unknown(self, send_callback):
        return None


class Raising(Numbered):
    async def unknown(self, send_callback):
        raise KeyError("no such event")


class ReplayingAll(Numbered):
    async def unknown(self, send_callback):
        for event_id, _, message in self.rows:
            if message is not None:
                await send_callback(EventMessage(message, event_id))
        return "_GET_stream"


class Random(Numbered):
    def name(self):
        return uuid4().hex


class Shared(EventStore):
    """Ids are rows of a database that all processes share."""

    def __init__(self, path):
        self.database = sqlite3.connect(path, isolation_level=None, timeout=10)
        self.database.execute("CREATE TABLE IF NOT EXISTS events (id INTEGER PRIMARY KEY, stream TEXT, message TEXT)")

    async def store_event(self, stream_id, message):
        text = message and message.model_dump_json(by_alias=True, exclude_none=True)
        insert = "INSERT INTO events (stream, message) VALUES (?, ?)"
        return str(self.database.execute(insert, (stream_id, text)).lastrowid)

    async def replay_events_after(self, last_event_id, send_callback):
        found = self.database.execute("SELECT stream FROM events WHERE id = ?", (last_event_id,)).fetchone()
        if found is None:
            return None
        later = "SELECT id, message FROM events WHERE stream = ? AND id > ? ORDER BY id"
        for event_id, text in self.database.execute(later, (*found, last_event_id)).fetchall():
            if text is not None:
                message = jsonrpc_message_adapter.validate_python(json.loads(text))
                await send_callback(EventMessage(message, str(event_id)))
        return found[0]
