"""Silent: no framework at all; the status is chosen before `start_response` is called."""

import time
import uuid

events = {}


def app(environ, start_response):
    if environ["REQUEST_METHOD"] == "POST":
        events[uuid.uuid4().hex] = environ["wsgi.input"].read().decode()
        start_response("204 No Content", [])
        return [b""]
    cursor = environ.get("HTTP_LAST_EVENT_ID")
    if cursor and cursor not in events:
        start_response("409 Conflict", [("Content-Type", "text/plain")])
        return [b"start again"]
    start_response("200 OK", [("Content-Type", "text/event-stream")])
    return frames(cursor)


def frames(cursor):
    sent = list(events).index(cursor) + 1 if cursor else 0
    while True:
        for key in list(events)[sent:]:
            yield f"id: {key}\ndata: {events[key]}\n\n".encode()
            sent += 1
        time.sleep(0.2)
