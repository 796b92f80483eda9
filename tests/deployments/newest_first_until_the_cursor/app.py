from itertools import takewhile
from uuid import uuid4

from flask import Blueprint, Flask, Response, current_app, request, stream_with_context

bp = Blueprint("news", __name__)


@bp.post("/news")
def add():
    current_app.extensions["news"].append({"id": str(uuid4()), "text": request.form["text"]})
    return "", 204


@bp.get("/news")
def stream():
    news = current_app.extensions["news"]
    last = request.headers.get("Last-Event-ID")
    newer = list(takewhile(lambda item: item["id"] != last, reversed(news)))

    @stream_with_context
    def frames():
        for item in reversed(newer):
            yield "id: {id}\ndata: {text}\n\n".format_map(item)
        yield "retry: 2000\n\n"

    return Response(frames(), content_type="text/event-stream")


def create_app():
    app = Flask(__name__)
    app.extensions["news"] = []
    app.register_blueprint(bp)
    return app
