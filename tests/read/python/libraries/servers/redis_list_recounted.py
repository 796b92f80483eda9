"""Fires: all of the list is sent again, and numbered on from the cursor: the number names nothing."""

from redis.asyncio import Redis
from starlette.applications import Starlette
from starlette.responses import StreamingResponse
from starlette.routing import Route

redis = Redis(host="cache", decode_responses=True)


async def scores(request):
    number = int(request.headers.get("last-event-id") or 0)

    async def body():
        at = number
        for score in await redis.lrange("scores", 0, -1):
            at += 1
            yield f"id: {at}\ndata: {score}\n\n"

    return StreamingResponse(body(), media_type="text/event-stream")


app = Starlette(routes=[Route("/scores", scores)])
