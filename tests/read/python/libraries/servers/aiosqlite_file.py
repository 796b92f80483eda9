"""Fires: unless the disk is shared, a log in a SQLite file."""

import asyncio

import aiosqlite
from fastapi import FastAPI, Request
from fastapi.responses import StreamingResponse

app = FastAPI()
PATH = "/data/events.db"


@app.post("/publish")
async def publish(request: Request):
    async with aiosqlite.connect(PATH) as database:
        cursor = await database.execute("INSERT INTO events (text) VALUES (?)", ((await request.body()).decode(),))
        await database.commit()
        return {"id": cursor.lastrowid}


@app.get("/feed")
async def feed(request: Request):
    async def frames():
        position = int(request.headers.get("Last-Event-ID", 0))
        while True:
            later = "SELECT id, text FROM events WHERE id > ?"
            async with aiosqlite.connect(PATH) as database, database.execute(later, (position,)) as rows:
                async for number, text in rows:
                    position = number
                    yield f"id: {number}\ndata: {text}\n\n"
            await asyncio.sleep(1)

    return StreamingResponse(frames(), media_type="text/event-stream")
