"""Silent: documents of a collection that every process reads, then its change stream."""

import os

from bson import ObjectId
from fastapi import FastAPI, Request
from fastapi.responses import StreamingResponse
from motor.motor_asyncio import AsyncIOMotorClient

client = AsyncIOMotorClient(os.environ["MONGODB_URI"])
events = client["news"]["events"]
app = FastAPI()


@app.post("/publish")
async def publish(request: Request):
    made = await events.insert_one({"text": (await request.body()).decode()})
    return {"id": str(made.inserted_id)}


@app.get("/feed")
async def feed(request: Request):
    cursor = request.headers.get("Last-Event-ID")

    async def frames():
        if cursor:
            async for document in events.find({"_id": {"$gt": ObjectId(cursor)}}).sort("_id"):
                yield f"id: {document['_id']}\ndata: {document['text']}\n\n"
        async with events.watch([{"$match": {"operationType": "insert"}}]) as changes:
            async for change in changes:
                document = change["fullDocument"]
                yield f"id: {document['_id']}\ndata: {document['text']}\n\n"

    return StreamingResponse(frames(), media_type="text/event-stream")
