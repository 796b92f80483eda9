"""Fires: as valkey_stream, on a Redis that lives in the memory of the process."""

import fakeredis
from fastapi import FastAPI, Request
from sse_starlette import EventSourceResponse

client = fakeredis.FakeAsyncRedis(decode_responses=True)
app = FastAPI()


@app.post("/publish")
async def publish(request: Request):
    return {"id": await client.xadd("news", {"text": (await request.body()).decode()})}


@app.get("/feed")
async def feed(request: Request):
    async def events():
        position = request.headers.get("Last-Event-ID", "$")
        while True:
            for _, entries in await client.xread({"news": position}, block=5000):
                for number, fields in entries:
                    position = number
                    yield {"id": number, "data": fields["text"]}

    return EventSourceResponse(events())
