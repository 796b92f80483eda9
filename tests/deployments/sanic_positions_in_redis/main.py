import asyncio
import os

from redis.asyncio import Redis
from sanic import Sanic
from sanic.exceptions import BadRequest
from sanic.response import json

app = Sanic("scores")


@app.before_server_start
async def connect(app):
    app.ctx.redis = Redis.from_url(os.environ["REDIS_URL"], decode_responses=True)


@app.after_server_stop
async def disconnect(app):
    await app.ctx.redis.aclose()


@app.post("/games/<game:str>/scores")
async def score(request, game):
    number = await request.app.ctx.redis.rpush(f"game:{game}", request.json["score"])
    return json({"id": number}, status=201)


@app.get("/games/<game:str>/live")
async def live(request, game):
    try:
        position = int(request.headers.get("last-event-id") or 0)
    except ValueError as exc:
        raise BadRequest("Last-Event-ID is a number") from exc
    response = await request.respond(content_type="text/event-stream", headers={"Cache-Control": "no-cache"})
    while True:
        for value in await request.app.ctx.redis.lrange(f"game:{game}", position, -1):
            position += 1
            await response.send(f"id: {position}\nevent: score\ndata: {value}\n\n")
        await asyncio.sleep(0.3)


if __name__ == "__main__":
    app.run(host="0.0.0.0", port=8000)
