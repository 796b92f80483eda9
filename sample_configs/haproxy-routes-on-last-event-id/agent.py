"""An agent back end: a task is accepted with 202, and its steps are followed on an event stream."""

import asyncio
from collections.abc import AsyncIterator

from fastapi import FastAPI, Header, Response
from fastapi.responses import StreamingResponse
from pydantic import BaseModel

from journal import journal

app = FastAPI(title="agent")
running: set[asyncio.Task[None]] = set()


class Task(BaseModel):
    text: str


async def work(text: str) -> None:
    for step in ("plan", "call tool", "report"):
        await asyncio.sleep(0.2)
        journal.add(f"{step}: {text}")


@app.post("/tasks", status_code=202)
async def accept(task: Task, response: Response) -> dict[str, str]:
    job = asyncio.create_task(work(task.text))
    running.add(job)
    job.add_done_callback(running.discard)
    response.headers["Location"] = "/tasks/events"
    return {"task": task.text}


@app.get("/tasks/events")
async def events(last_event_id: str | None = Header(default=None)) -> StreamingResponse:
    position = journal.position_after(last_event_id)

    async def frames() -> AsyncIterator[str]:
        nonlocal position
        while True:
            for event in journal.events[position:]:
                position += 1
                yield f"id: {event.id}\ndata: {event.text}\n\n"
            await asyncio.sleep(0.1)

    return StreamingResponse(frames(), media_type="text/event-stream")
