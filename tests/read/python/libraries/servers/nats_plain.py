"""Fires: a plain subscription has no history, and each process counts what it hears for itself."""

import nats
from fastapi import FastAPI, Request
from fastapi.responses import StreamingResponse

app = FastAPI()
heard = []


@app.on_event("startup")
async def listen():
    connection = await nats.connect("nats://nats:4222")
    subscription = await connection.subscribe("news")
    async for message in subscription.messages:
        heard.append({"id": len(heard) + 1, "text": message.data.decode()})


@app.get("/feed")
async def feed(request: Request):
    last = int(request.headers.get("Last-Event-ID", 0))

    async def frames():
        for event in heard:
            if event["id"] > last:
                yield f"id: {event['id']}\ndata: {event['text']}\n\n"

    return StreamingResponse(frames(), media_type="text/event-stream")
