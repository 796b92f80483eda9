"""Fires: an ObjectId is made by the driver in the process that writes, and only this process keeps it at hand."""

from bson import ObjectId
from fastapi import FastAPI, Request
from fastapi.responses import StreamingResponse
from pymongo import AsyncMongoClient

app = FastAPI()
archive = AsyncMongoClient("mongodb://log").feed.archive
recent = []


@app.post("/publish")
async def publish(text: str):
    key = str(ObjectId())
    recent.append((key, text))
    await archive.insert_one({"_id": ObjectId(key), "text": text})


@app.get("/feed")
async def feed(request: Request):
    last = request.headers.get("last-event-id", "")

    async def frames():
        for key, text in recent:
            if key > last:
                yield f"id: {key}\ndata: {text}\n\n"

    return StreamingResponse(frames(), media_type="text/event-stream")
