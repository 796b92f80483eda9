"""Silent: a dependency refuses an unknown id before the response is made."""

import asyncio
import uuid
from typing import Annotated

from fastapi import Depends, FastAPI, Header, HTTPException
from fastapi.sse import EventSourceResponse, ServerSentEvent

app = FastAPI()
events: dict[str, str] = {}


@app.post("/publish")
async def publish(text: str):
    events[str(uuid.uuid4())] = text


async def known_cursor(last_event_id: Annotated[str | None, Header()] = None):
    if last_event_id is not None and last_event_id not in events:
        raise HTTPException(409, "start again")
    return last_event_id


@app.get("/feed", response_class=EventSourceResponse)
async def feed(cursor: Annotated[str | None, Depends(known_cursor)]):
    sent = list(events).index(cursor) + 1 if cursor else 0
    while True:
        for key in list(events)[sent:]:
            yield ServerSentEvent(data=events[key], id=key)
            sent += 1
        await asyncio.sleep(0.2)
