"""Fires: the offset is the id, and nobody seeks it: what came while the client was away is lost."""

from aiokafka import AIOKafkaConsumer
from fastapi import FastAPI, Request
from fastapi.responses import StreamingResponse

app = FastAPI()


@app.get("/feed")
async def feed(request: Request):
    async def frames():
        consumer = AIOKafkaConsumer("news", bootstrap_servers="kafka:9092")
        await consumer.start()
        async for record in consumer:
            yield f"id: {record.offset}\ndata: {record.value.decode()}\n\n"

    return StreamingResponse(frames(), media_type="text/event-stream")
