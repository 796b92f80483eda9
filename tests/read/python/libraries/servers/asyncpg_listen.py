"""Silent: rows of PostgreSQL, asked for again whenever it notifies."""

import asyncio
import os

import asyncpg
from fastapi import FastAPI, Request
from fastapi.responses import StreamingResponse

app = FastAPI()


@app.on_event("startup")
async def connect():
    app.state.pool = await asyncpg.create_pool(os.environ["DATABASE_URL"])


@app.post("/publish")
async def publish(request: Request):
    text = (await request.body()).decode()
    return {"id": await app.state.pool.fetchval("INSERT INTO events (text) VALUES ($1) RETURNING id", text)}


@app.get("/feed")
async def feed(request: Request):
    async def frames():
        position = int(request.headers.get("Last-Event-ID", 0))
        while True:
            rows = await app.state.pool.fetch("SELECT id, text FROM events WHERE id > $1 ORDER BY id", position)
            for row in rows:
                position = row["id"]
                yield f"id: {position}\ndata: {row['text']}\n\n"
            await asyncio.sleep(1)

    return StreamingResponse(frames(), media_type="text/event-stream")
