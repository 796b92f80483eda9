"""Fires: a database of one process, whose numbers another process gives out again."""

from databases import Database
from fastapi import FastAPI, Request
from fastapi.responses import StreamingResponse

app = FastAPI()
database = Database("sqlite://:memory:")


@app.post("/publish")
async def publish(text: str):
    await database.execute("INSERT INTO events (text) VALUES (:text)", {"text": text})


@app.get("/feed")
async def feed(request: Request):
    last = int(request.headers.get("last-event-id", "0"))

    async def frames():
        statement = "SELECT id, text FROM events WHERE id > :last ORDER BY id"
        async for event in database.iterate(statement, {"last": last}):
            yield f"id: {event['id']}\ndata: {event['text']}\n\n"

    return StreamingResponse(frames(), media_type="text/event-stream")
