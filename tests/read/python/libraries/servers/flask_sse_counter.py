"""Fires: the ids that the caller counts go to every process through Redis, and no process keeps any event."""

import itertools

from flask import Flask, request
from flask_sse import sse

app = Flask(__name__)
app.config["REDIS_URL"] = "redis://cache:6379/0"
app.register_blueprint(sse, url_prefix="/stream")
numbers = itertools.count(1)


@app.post("/publish")
def publish():
    sse.publish({"text": request.json["text"]}, type="news", id=str(next(numbers)))
    return "", 204
