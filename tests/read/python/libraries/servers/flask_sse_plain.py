"""Silent: as flask_sse_counter, and nobody gives an id."""

from flask import Flask, request
from flask_sse import sse

app = Flask(__name__)
app.config["REDIS_URL"] = "redis://cache:6379/0"
app.register_blueprint(sse, url_prefix="/stream")


@app.post("/publish")
def publish():
    sse.publish({"text": request.json["text"]}, type="news")
    return "", 204
