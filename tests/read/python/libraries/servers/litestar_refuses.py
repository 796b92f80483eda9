"""Silent: random ids; a method of a controller refuses an unknown one before it makes the response."""

import asyncio
import uuid

from litestar import Controller, Litestar, Request, get, post
from litestar.exceptions import HTTPException
from litestar.response import Stream

EVENTS: dict[str, str] = {}


class Feed(Controller):
    path = "/feed"

    @post()
    async def publish(self, data: str) -> None:
        EVENTS[uuid.uuid4().hex] = data

    @get()
    async def follow(self, request: Request) -> Stream:
        cursor = request.headers.get("Last-Event-ID")
        if cursor and cursor not in EVENTS:
            raise HTTPException(status_code=409)
        return Stream(self.frames(cursor), media_type="text/event-stream")

    async def frames(self, cursor):
        sent = list(EVENTS).index(cursor) + 1 if cursor else 0
        while True:
            for key in list(EVENTS)[sent:]:
                yield f"id: {key}\ndata: {EVENTS[key]}\n\n"
                sent += 1
            await asyncio.sleep(0.2)


app = Litestar([Feed])
