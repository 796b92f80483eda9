"""Silent: an error that is returned is sent with its status. A page beside it is no event stream."""

import secrets

from bottle import Bottle, HTTPError, request, response

app = Bottle()
events = {}


@app.post("/publish")
def publish():
    key = secrets.token_hex(8)
    events[key] = request.forms["text"]
    return {"id": key}


@app.get("/")
def page():
    yield f"<p>{len(events)}</p>"


@app.get("/feed")
def feed():
    cursor = request.headers.get("Last-Event-ID")
    if cursor and cursor not in events:
        return HTTPError(410, "start again")
    response.set_header("Content-Type", "text/event-stream")
    return frames(cursor)


def frames(cursor):
    sent = list(events).index(cursor) + 1 if cursor else 0
    for key in list(events)[sent:]:
        yield f"id: {key}\ndata: {events[key]}\n\n"
