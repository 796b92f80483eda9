import asyncio
import os
from collections import deque
from contextlib import asynccontextmanager

from redis.asyncio import Redis
from sse_starlette import EventSourceResponse
from starlette.applications import Starlette
from starlette.routing import Route


class Fan:
    def __init__(self):
        self.seq = 0
        self.ring = deque(maxlen=500)
        self.listeners = set()

    async def run(self):
        redis = Redis.from_url(os.environ["REDIS_URL"], decode_responses=True)
        async with redis.pubsub() as pubsub:
            await pubsub.subscribe("news")
            async for message in pubsub.listen():
                if message["type"] == "message":
                    self.seq += 1
                    self.ring.append((self.seq, message["data"]))
                    for listener in self.listeners:
                        listener.put_nowait((self.seq, message["data"]))


fan = Fan()


@asynccontextmanager
async def lifespan(app):
    task = asyncio.create_task(fan.run())
    try:
        yield
    finally:
        task.cancel()


async def news(request):
    try:
        after = int(request.headers["last-event-id"])
    except (KeyError, ValueError):
        after = fan.seq

    async def body():
        queue = asyncio.Queue()
        fan.listeners.add(queue)
        try:
            for seq, text in list(fan.ring):
                if seq > after:
                    yield {"id": str(seq), "data": text}
            while True:
                seq, text = await queue.get()
                yield {"id": str(seq), "data": text}
        finally:
            fan.listeners.discard(queue)

    return EventSourceResponse(body())


app = Starlette(routes=[Route("/news", news)], lifespan=lifespan)
