import asyncio
from dataclasses import dataclass, field
from typing import Annotated
from uuid import UUID, uuid4

from fastapi import Depends, FastAPI, Header, HTTPException
from fastapi.sse import EventSourceResponse, ServerSentEvent


@dataclass
class Upload:
    id: UUID = field(default_factory=uuid4)
    steps: list[str] = field(default_factory=list)
    done: bool = False


app = FastAPI()
uploads: dict[UUID, Upload] = {}


def known(upload_id: UUID) -> Upload:
    try:
        return uploads[upload_id]
    except KeyError:
        raise HTTPException(404, "unknown upload")


@app.post("/uploads")
async def start() -> dict[str, str]:
    upload = Upload()
    uploads[upload.id] = upload
    return {"id": str(upload.id)}


@app.post("/uploads/{upload_id}/steps")
async def step(upload: Annotated[Upload, Depends(known)], text: str) -> None:
    upload.steps.append(text)


@app.get("/uploads/{upload_id}/events", response_class=EventSourceResponse)
async def events(upload: Annotated[Upload, Depends(known)], last_event_id: Annotated[int, Header()] = -1):
    at = last_event_id + 1
    while not upload.done:
        while at < len(upload.steps):
            yield ServerSentEvent(data=upload.steps[at], id=str(at), event="step")
            at += 1
        await asyncio.sleep(0.5)
