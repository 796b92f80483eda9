"""Fires: as sqlalchemy_sqlite, with the short address of a database in the memory of the process."""

import time

from flask import Flask, Response, request
from sqlalchemy import create_engine, text

engine = create_engine("sqlite://")
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
