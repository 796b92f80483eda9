from __future__ import annotations

import asyncio
import itertools
import os
from typing import AsyncIterator, Protocol

from redis.asyncio import Redis


class EventLog(Protocol):
    async def append(self, text: str) -> str: ...

    def follow(self, after: str | None) -> AsyncIterator[tuple[str, str]]: ...


class MemoryLog:
    def __init__(self) -> None:
        self.entries: list[tuple[str, str]] = []
        self.numbers = itertools.count(1)

    async def append(self, text: str) -> str:
        key = str(next(self.numbers))
        self.entries.append((key, text))
        return key

    async def follow(self, after):
        position = int(after or 0)
        while True:
            for key, text in self.entries[position:]:
                position += 1
                yield key, text
            await asyncio.sleep(0.2)


class RedisLog:
    def __init__(self, url: str, key: str = "chat") -> None:
        self.redis = Redis.from_url(url, decode_responses=True)
        self.key = key

    async def append(self, text: str) -> str:
        return await self.redis.xadd(self.key, {"text": text}, maxlen=10_000, approximate=True)

    async def follow(self, after):
        last = after or "0-0"
        while True:
            for _, entries in await self.redis.xread({self.key: last}, block=10_000, count=100):
                for last, fields in entries:
                    yield last, fields["text"]


def from_environment() -> EventLog:
    match os.environ.get("EVENT_LOG", "memory"):
        case "memory":
            return MemoryLog()
        case "redis":
            return RedisLog(os.environ["REDIS_URL"])
        case other:
            raise SystemExit(f"unknown EVENT_LOG {other!r}")
