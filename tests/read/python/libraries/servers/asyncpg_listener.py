"""Silent: rows are replayed, and a function that the database calls hands what is new to every listener."""

import asyncio
import json
from contextlib import asynccontextmanager

import asyncpg
from fastapi import FastAPI, Request
from fastapi.responses import StreamingResponse

listeners: set[asyncio.Queue] = set()


def hear(connection, process, channel, payload):
    for listener in listeners:
        listener.put_nowait(json.loads(payload))


@asynccontextmanager
async def lifespan(app):
    app.state.pool = await asyncpg.create_pool("postgresql://db/app")
    connection = await asyncpg.connect("postgresql://db/app")
    await connection.add_listener("news", hear)
    yield


app = FastAPI(lifespan=lifespan)


@app.post("/publish")
async def publish(request: Request, text: str):
    async with request.app.state.pool.acquire() as connection:
        row = await connection.fetchrow("INSERT INTO news (text) VALUES ($1) RETURNING id", text)
        await connection.execute("SELECT pg_notify('news', $1)", json.dumps({"id": row["id"], "text": text}))


@app.get("/feed")
async def feed(request: Request):
    last = request.headers.get("last-event-id")

    async def frames():
        inbox = asyncio.Queue()
        listeners.add(inbox)
        if last:
            rows = await request.app.state.pool.fetch("SELECT id, text FROM news WHERE id > $1 ORDER BY id", int(last))
            for row in rows:
                yield f"id: {row['id']}\ndata: {row['text']}\n\n"
        while True:
            new = await inbox.get()
            yield f"id: {new['id']}\ndata: {new['text']}\n\n"

    return StreamingResponse(frames(), media_type="text/event-stream")
