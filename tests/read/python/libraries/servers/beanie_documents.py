"""Fires: documents that every process finds are replayed, and only this process tells its listeners what is new."""

import asyncio

from beanie import Document
from fastapi import FastAPI, Request
from fastapi.responses import StreamingResponse

app = FastAPI()
listeners: set[asyncio.Queue] = set()


class Event(Document):
    text: str


@app.post("/publish")
async def publish(text: str):
    event = Event(text=text)
    await event.insert()
    for listener in listeners:
        listener.put_nowait(event)


@app.get("/feed")
async def feed(request: Request):
    last = request.headers.get("last-event-id")

    async def frames():
        inbox = asyncio.Queue()
        listeners.add(inbox)
        async for event in Event.find({"_id": {"$gt": last}}).sort("_id"):
            yield f"id: {event.id}\ndata: {event.text}\n\n"
        while True:
            event = await inbox.get()
            yield f"id: {event.id}\ndata: {event.text}\n\n"

    return StreamingResponse(frames(), media_type="text/event-stream")
