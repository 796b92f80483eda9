"""Fires: the rows are shared, and what goes on the wire is their number in this answer of this process."""

import time

import psycopg
from flask import Flask, Response, request

app = Flask(__name__)
sent = []


@app.post("/publish")
def publish():
    with psycopg.connect("postgresql://db/events") as connection:
        connection.execute("INSERT INTO events (text) VALUES (%s)", (request.get_data(as_text=True),))
    sent.append(request.get_data(as_text=True))
    return "", 204


@app.get("/feed")
def feed():
    start = int(request.headers.get("Last-Event-ID", -1)) + 1

    def frames(position):
        while True:
            while position < len(sent):
                yield f"id: {position}\ndata: {sent[position]}\n\n"
                position += 1
            time.sleep(1)

    return Response(frames(start), mimetype="text/event-stream")
