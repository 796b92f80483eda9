"""Fires: a view that is a class, which continues a text of digits behind whatever is kept here."""

import queue
import time
from typing import ClassVar

from flask import Flask, Response, request
from flask.views import MethodView

app = Flask(__name__)


class Broker:
    history: ClassVar[list] = []
    listeners: ClassVar[list] = []

    @classmethod
    def publish(cls, text):
        event = {"id": f"{time.time_ns()}", "text": text}
        cls.history.append(event)
        for listener in cls.listeners:
            listener.put(event)


class Feed(MethodView):
    def get(self):
        last = request.headers.get("Last-Event-ID")
        inbox = queue.Queue()
        Broker.listeners.append(inbox)

        def frames():
            yield from map(self.frame, (e for e in Broker.history if last and e["id"] > last))
            while True:
                yield self.frame(inbox.get())

        return Response(frames(), headers={"Content-Type": "text/event-stream"})

    @staticmethod
    def frame(event):
        return f"id: {event['id']}\ndata: {event['text']}\n\n"

    def post(self):
        Broker.publish(request.get_data(as_text=True))
        return "", 204


app.add_url_rule("/feed", "feed", Feed.as_view("feed"))
