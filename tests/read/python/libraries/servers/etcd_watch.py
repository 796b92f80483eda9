"""Silent: the revision of a write is the id, and the watch starts behind the cursor."""

import etcd3
from flask import Flask, Response, request

etcd = etcd3.client(host="etcd")
app = Flask(__name__)


@app.post("/publish")
def publish():
    etcd.put("/news/latest", request.get_data())
    return "", 204


@app.get("/feed")
def feed():
    cursor = request.headers.get("Last-Event-ID")

    def frames():
        start = int(cursor) + 1 if cursor else None
        events, cancel = etcd.watch_prefix("/news/", start_revision=start)
        try:
            for event in events:
                yield f"id: {event.mod_revision}\ndata: {event.value.decode()}\n\n"
        finally:
            cancel()

    return Response(frames(), mimetype="text/event-stream")
