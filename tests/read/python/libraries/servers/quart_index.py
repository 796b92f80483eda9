"""Fires: positions in a list of the process, compared, from a generator that is returned with its headers."""

import asyncio

from quart import Quart, request

app = Quart(__name__)
messages = []


@app.post("/publish")
async def publish():
    messages.append(await request.get_data(as_text=True))
    return {"count": len(messages)}


@app.get("/feed")
async def feed():
    start = int(request.headers.get("Last-Event-ID", -1)) + 1

    async def frames():
        position = start
        while True:
            while position < len(messages):
                yield f"id: {position}\ndata: {messages[position]}\n\n".encode()
                position += 1
            await asyncio.sleep(0.2)

    return frames(), {"Content-Type": "text/event-stream", "Cache-Control": "no-cache"}
