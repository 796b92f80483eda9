from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import AsyncGenerator


@dataclass
class ServerSentEvent:
    data: str
    event: str | None = None
    id: int | None = None
    retry: int | None = None

    def encode(self) -> bytes:
        message = f"data: {self.data}"
        if self.event is not None:
            message = f"{message}\nevent: {self.event}"
        if self.id is not None:
            message = f"{message}\nid: {self.id}"
        if self.retry is not None:
            message = f"{message}\nretry: {self.retry}"
        message = f"{message}\n\n"
        return message.encode("utf-8")


class Broker:
    def __init__(self) -> None:
        self.history: list[str] = []
        self.changed = asyncio.Condition()

    async def publish(self, message: str) -> int:
        async with self.changed:
            self.history.append(message)
            self.changed.notify_all()
        return len(self.history)

    async def subscribe(self, position: int) -> AsyncGenerator[tuple[int, str], None]:
        while True:
            while position < len(self.history):
                position += 1
                yield position, self.history[position - 1]
            async with self.changed:
                await self.changed.wait()
