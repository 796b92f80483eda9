"""Silent: the offset is the id, and a consumer of its own is sought to the cursor."""

from aiokafka import AIOKafkaConsumer, TopicPartition
from fastapi import FastAPI, Request
from fastapi.responses import StreamingResponse

app = FastAPI()
PARTITION = TopicPartition("news", 0)


@app.get("/feed")
async def feed(request: Request):
    cursor = request.headers.get("Last-Event-ID")

    async def frames():
        consumer = AIOKafkaConsumer(bootstrap_servers="kafka:9092")
        await consumer.start()
        consumer.assign([PARTITION])
        if cursor is not None:
            consumer.seek(PARTITION, int(cursor) + 1)
        async for record in consumer:
            yield f"id: {record.offset}\ndata: {record.value.decode()}\n\n"

    return StreamingResponse(frames(), media_type="text/event-stream")
