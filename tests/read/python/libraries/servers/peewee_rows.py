"""Silent: rows of a file that every process of one pod opens, asked again and again."""

import time

from flask import Flask, Response, request
from peewee import AutoField, Model, SqliteDatabase, TextField

database = SqliteDatabase("/data/events.db")
app = Flask(__name__)


class Event(Model):
    id = AutoField()
    text = TextField()

    class Meta:
        database = database


@app.post("/publish")
def publish():
    Event.create(text=request.get_data(as_text=True))
    return "", 204


@app.get("/feed")
def feed():
    last = int(request.headers.get("Last-Event-ID", 0))

    def frames(last):
        while True:
            for event in Event.select().where(Event.id > last).order_by(Event.id):
                last = event.id
                yield f"id: {event.id}\ndata: {event.text}\n\n"
            time.sleep(1)

    return Response(frames(last), mimetype="text/event-stream")
