"""Silent: what the container hands in by its type is a client of the store that all processes share."""

from dishka import Provider, Scope, make_async_container
from dishka.integrations.fastapi import DishkaRoute, FromDishka, setup_dishka
from fastapi import APIRouter, FastAPI, Header
from fastapi.responses import StreamingResponse
from redis.asyncio import Redis

router = APIRouter(route_class=DishkaRoute)


@router.post("/pin")
async def pin(text: str, redis: FromDishka[Redis]):
    await redis.xadd("board", {"text": text})


@router.get("/board")
async def board(redis: FromDishka[Redis], last_event_id: str = Header("0")):
    async def notes():
        position = last_event_id
        while True:
            for _, entries in await redis.xread({"board": position}, block=5000):
                for position, fields in entries:
                    yield f"id: {position}\ndata: {fields['text']}\n\n"

    return StreamingResponse(notes(), media_type="text/event-stream")


services = Provider(scope=Scope.APP)
services.provide(lambda: Redis(host="cache"), provides=Redis)
app = FastAPI()
app.include_router(router)
setup_dishka(make_async_container(services), app)
