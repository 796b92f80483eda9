"""Fires: unless the disk is shared, the same kind of log in a SQLite file, read with a connection."""

import time

from flask import Flask, Response, request
from sqlalchemy import create_engine, text

engine = create_engine("sqlite:////data/events.db")
app = Flask(__name__)


@app.post("/publish")
def publish():
    with engine.begin() as connection:
        connection.execute(text("INSERT INTO events (body) VALUES (:body)"), {"body": request.get_data(as_text=True)})
    return "", 204


@app.get("/feed")
def feed():
    last = request.headers.get("Last-Event-ID", type=int, default=0)

    def frames(position):
        while True:
            with engine.connect() as connection:
                query = text("SELECT id, body FROM events WHERE id > :position ORDER BY id")
                for row in connection.execute(query, {"position": position}):
                    yield f"id: {row.id}\ndata: {row.body}\n\n"
                    position = row.id
            time.sleep(1)

    return Response(frames(last), mimetype="text/event-stream")
