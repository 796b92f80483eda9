"""Fires: a database in the memory of the process is no database."""

import sqlite3
import time

from flask import Flask, Response, request

database = sqlite3.connect(":memory:", check_same_thread=False)
database.execute("CREATE TABLE events (id INTEGER PRIMARY KEY, text TEXT)")
app = Flask(__name__)


@app.post("/publish")
def publish():
    database.execute("INSERT INTO events (text) VALUES (?)", (request.get_data(as_text=True),))
    return "", 204


@app.get("/feed")
def feed():
    def frames(position):
        while True:
            for number, text in database.execute("SELECT id, text FROM events WHERE id > ?", (position,)):
                yield f"id: {number}\ndata: {text}\n\n"
                position = number
            time.sleep(1)

    return Response(frames(int(request.headers.get("Last-Event-ID", 0))), mimetype="text/event-stream")
