"""Silent: entries of a Valkey stream, numbered by it, read on from the cursor."""

import valkey.asyncio as valkey
from fastapi import FastAPI, Request
from sse_starlette import EventSourceResponse

client = valkey.Valkey(host="valkey", decode_responses=True)
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
