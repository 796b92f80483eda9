import redis.asyncio as redis
from fastapi import FastAPI, Request
from sse_starlette.sse import EventSourceResponse

app = FastAPI()
store = redis.Redis(host="redis", decode_responses=True)


@app.get("/events")
async def events(request: Request):
    position = request.headers.get("last-event-id", "0-0")

    async def stream():
        at = position
        while True:
            for _, entries in await store.xread({"events": at}, block=10000) or []:
                for at, fields in entries:
                    yield {"id": at, "data": fields["text"]}

    return EventSourceResponse(stream())
