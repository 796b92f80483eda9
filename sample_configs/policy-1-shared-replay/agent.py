"""An agent back end: a task is accepted with 202, and its steps are followed on an event stream."""

import asyncio
import os
from collections.abc import AsyncIterator

from fastapi import FastAPI, Header, Response
from fastapi.responses import StreamingResponse
from pydantic import BaseModel

from journal import Journal

app = FastAPI(title="agent")
journal = Journal(os.environ.get("REDIS_URL", "redis://redis:6379/0"))
running: set[asyncio.Task[None]] = set()


class Task(BaseModel):
    text: str


async def work(text: str) -> None:
    for step in ("plan", "call tool", "report"):
        await asyncio.sleep(0.2)
        await journal.add(f"{step}: {text}")


@app.post("/tasks", status_code=202)
async def accept(task: Task, response: Response) -> dict[str, str]:
    job = asyncio.create_task(work(task.text))
    running.add(job)
    job.add_done_callback(running.discard)
    response.headers["Location"] = "/tasks/events"
    return {"task": task.text}


@app.get("/tasks/events")
async def events(last_event_id: str = Header(default="0")) -> StreamingResponse:
    async def frames() -> AsyncIterator[str]:
        async for event_id, text in journal.after(last_event_id):
            yield f"id: {event_id}\ndata: {text}\n\n"

    return StreamingResponse(frames(), media_type="text/event-stream")
