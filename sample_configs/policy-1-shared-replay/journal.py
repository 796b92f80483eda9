"""What all processes have told, in one Redis stream: it hands out the ids, and any process continues it."""

from collections.abc import AsyncIterator

from redis.asyncio import Redis

STREAM = "agent:events"


class Journal:
    def __init__(self, url: str) -> None:
        self._redis = Redis.from_url(url, decode_responses=True)

    async def add(self, text: str) -> str:
        return await self._redis.xadd(STREAM, {"text": text})

    async def after(self, last_event_id: str) -> AsyncIterator[tuple[str, str]]:
        """Everything behind the id, then what is told from now on, by whichever process."""
        while True:
            for _, entries in await self._redis.xread({STREAM: last_event_id}, block=15_000):
                for last_event_id, fields in entries:
                    yield last_event_id, fields["text"]
