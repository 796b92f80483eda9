"""Fires: `fastapi.sse`, a generator handler, a counter of the process, and what compares greater."""

import asyncio
from typing import Annotated

from fastapi import FastAPI, Header
from fastapi.sse import EventSourceResponse, ServerSentEvent

app = FastAPI()
state = {"number": 0}
events = []


@app.post("/publish")
async def publish(text: str):
    state["number"] += 1
    events.append((state["number"], text))


@app.get("/feed", response_class=EventSourceResponse)
async def feed(last_event_id: Annotated[int | None, Header()] = None):
    last = last_event_id or 0
    while True:
        for number, text in list(events):
            if number > last:
                yield ServerSentEvent(data=text, id=str(number))
                last = number
        await asyncio.sleep(0.2)
