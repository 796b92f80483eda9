"""Silent: the id is the place in a list that all processes share, counted on from the place that was asked for."""

import asyncio

from redis.asyncio import Redis
from starlette.applications import Starlette
from starlette.responses import StreamingResponse
from starlette.routing import Route

redis = Redis(host="cache", decode_responses=True)


async def scores(request):
    place = int(request.headers.get("last-event-id") or 0)

    async def body():
        at = place
        while True:
            for score in await redis.lrange("scores", at, -1):
                at += 1
                yield f"id: {at}\ndata: {score}\n\n"
            await asyncio.sleep(1)

    return StreamingResponse(body(), media_type="text/event-stream")


app = Starlette(routes=[Route("/scores", scores)])
