"""Silent: the refusal stands in the generator, and Flask sends its head with the first piece (quart_refuses_late)."""

import secrets
import time

from flask import Flask, Response, abort, request

app = Flask(__name__)
events = {}


@app.post("/publish")
def publish():
    key = secrets.token_hex(8)
    events[key] = request.get_data(as_text=True)
    return {"id": key}


@app.get("/feed")
def feed():
    return Response(frames(request.headers.get("Last-Event-ID")), mimetype="text/event-stream")


def frames(cursor):
    if cursor and cursor not in events:
        abort(409)
    sent = list(events).index(cursor) + 1 if cursor else 0
    while True:
        for key in list(events)[sent:]:
            yield f"id: {key}\ndata: {events[key]}\n\n"
            sent += 1
        time.sleep(0.2)
