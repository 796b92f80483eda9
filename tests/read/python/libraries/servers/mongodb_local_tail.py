"""Fires: the collection is replayed, and what is new reaches only the listeners of this process."""

import queue

from flask import Flask, Response, request
from pymongo import MongoClient

client = MongoClient("mongodb://db:27017")
events = client.news.events
counters = client.news.counters
listeners = []
app = Flask(__name__)


@app.post("/publish")
def publish():
    number = counters.find_one_and_update({"_id": "news"}, {"$inc": {"value": 1}}, upsert=True)["value"]
    document = {"number": number, "text": request.get_data(as_text=True)}
    events.insert_one(document)
    for listener in listeners:
        listener.put(document)
    return "", 204


@app.get("/feed")
def feed():
    last = int(request.headers.get("Last-Event-ID", 0))

    def frames():
        listener = queue.Queue()
        listeners.append(listener)
        for document in events.find({"number": {"$gt": last}}).sort("number"):
            yield f"id: {document['number']}\ndata: {document['text']}\n\n"
        while True:
            document = listener.get()
            yield f"id: {document['number']}\ndata: {document['text']}\n\n"

    return Response(frames(), mimetype="text/event-stream")
