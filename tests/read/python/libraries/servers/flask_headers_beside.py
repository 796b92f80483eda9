"""Fires: the generator is returned with its headers beside it; ids are positions in a list of the process."""

import time

from flask import Flask, request

app = Flask(__name__)
messages = []


@app.post("/publish")
def publish():
    messages.append(request.get_data(as_text=True))
    return {"count": len(messages)}


@app.get("/feed")
def feed():
    start = int(request.headers.get("Last-Event-ID", -1)) + 1

    def frames():
        position = start
        while True:
            while position < len(messages):
                yield f"id: {position}\ndata: {messages[position]}\n\n"
                position += 1
            time.sleep(0.2)

    return frames(), 200, {"Content-Type": "text/event-stream"}
