"""Fires: ids that begin with the time are foreign everywhere else, and yet compare with what is kept there."""

from collections import deque

from fastapi import FastAPI, Request
from fastapi.responses import StreamingResponse
from ulid import ULID

app = FastAPI()
kept = deque(maxlen=500)


@app.post("/publish")
async def publish(text: str):
    kept.append((str(ULID()), text))


@app.get("/feed")
async def feed(request: Request):
    last = request.headers.get("last-event-id", "")

    async def frames():
        for name, text in list(kept):
            if name > last:
                yield f"id: {name}\ndata: {text}\n\n"

    return StreamingResponse(frames(), media_type="text/event-stream")
