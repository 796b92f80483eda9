"""Silent: the handler is a generator, and Bottle asks it for its first piece before the head leaves."""

import secrets
import time

import bottle

events = {}


@bottle.post("/publish")
def publish():
    key = secrets.token_hex(8)
    events[key] = bottle.request.body.read()
    return {"id": key}


@bottle.get("/feed")
def feed():
    cursor = bottle.request.get_header("Last-Event-ID")
    bottle.response.content_type = "text/event-stream"
    if cursor and cursor not in events:
        bottle.abort(409)
    sent = list(events).index(cursor) + 1 if cursor else 0
    while True:
        for key in list(events)[sent:]:
            yield f"id: {key}\ndata: {events[key]}\n\n"
            sent += 1
        time.sleep(0.2)


if __name__ == "__main__":
    bottle.run(server="gunicorn", workers=2)
