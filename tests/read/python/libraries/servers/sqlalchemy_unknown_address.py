"""Fires: as unknown, for the address comes from settings that are out of sight, and might be SQLite."""

import time

from flask import Flask, Response, request
from settings_of_the_company import DATABASE
from sqlalchemy import create_engine, text

engine = create_engine(DATABASE)
app = Flask(__name__)


@app.get("/feed")
def feed():
    last = int(request.headers.get("Last-Event-ID", 0))

    def frames(position):
        while True:
            with engine.connect() as connection:
                query = text("SELECT id, body FROM events WHERE id > :position ORDER BY id")
                for row in connection.execute(query, {"position": position}):
                    yield f"id: {row.id}\ndata: {row.body}\n\n"
                    position = row.id
            time.sleep(1)

    return Response(frames(last), mimetype="text/event-stream")
