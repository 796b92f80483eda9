"""Fires: what is raised behind the first piece comes when the head has left (bottle_refuses)."""

import secrets

from bottle import Bottle, HTTPError, request, response

app = Bottle()
events = {}


@app.post("/publish")
def publish():
    key = secrets.token_hex(8)
    events[key] = request.forms["text"]
    return {"id": key}


@app.route("/feed")
def feed():
    response.headers["Content-Type"] = "text/event-stream"
    cursor = request.headers.get("Last-Event-ID")
    yield ": hello\n\n"
    if cursor and cursor not in events:
        raise HTTPError(409)
    sent = list(events).index(cursor) + 1 if cursor else 0
    for key in list(events)[sent:]:
        yield f"id: {key}\ndata: {events[key]}\n\n"
