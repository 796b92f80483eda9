"""Silent: the sequence of a JetStream stream is the id, and the subscription starts behind the cursor."""

import nats
from fastapi import FastAPI, Request
from fastapi.responses import StreamingResponse
from nats.js.api import ConsumerConfig, DeliverPolicy

app = FastAPI()


@app.get("/feed")
async def feed(request: Request):
    cursor = request.headers.get("Last-Event-ID")

    async def frames():
        connection = await nats.connect("nats://nats:4222")
        start = ConsumerConfig(deliver_policy=DeliverPolicy.NEW)
        if cursor:
            start = ConsumerConfig(deliver_policy=DeliverPolicy.BY_START_SEQUENCE, opt_start_seq=int(cursor) + 1)
        subscription = await connection.jetstream().subscribe("news", config=start)
        async for message in subscription.messages:
            yield f"id: {message.metadata.sequence.stream}\ndata: {message.data.decode()}\n\n"

    return StreamingResponse(frames(), media_type="text/event-stream")
