"""Fires: integers of the process as ids, compared; the store is injected by its name."""

import asyncio
from typing import Annotated

from litestar import Litestar, Router, get, post
from litestar.di import Provide
from litestar.params import Parameter
from litestar.response import ServerSentEvent, ServerSentEventMessage


class Log:
    def __init__(self):
        self.events = []
        self.number = 0

    def add(self, text):
        self.number += 1
        self.events.append((self.number, text))


LOG = Log()


def provide_log() -> Log:
    return LOG


@post("/publish")
async def publish(log: Log, data: str) -> None:
    log.add(data)


@get("/feed")
async def feed(log: Log, last: Annotated[int, Parameter(header="Last-Event-ID", default=0)]) -> ServerSentEvent:
    async def events():
        position = last
        while True:
            for number, text in log.events:
                if number > position:
                    position = number
                    yield ServerSentEventMessage(data=text, id=number)
            await asyncio.sleep(0.2)

    return ServerSentEvent(events())


app = Litestar([Router("/v1", route_handlers=[publish, feed])], dependencies={"log": Provide(provide_log)})
