"""Fires: rows of a shared database are replayed, and what is new reaches only the listeners of the same process."""

import asyncio
from typing import Annotated

from fastapi import Depends, FastAPI, Request
from fastapi.responses import StreamingResponse
from sqlmodel import Field, Session, SQLModel, create_engine, select

engine = create_engine("mysql+pymysql://db/events")
listeners: set[asyncio.Queue] = set()


class Note(SQLModel, table=True):
    id: int | None = Field(default=None, primary_key=True)
    text: str


def session():
    with Session(engine) as opened:
        yield opened


app = FastAPI()


@app.post("/publish")
def publish(text: str, db: Annotated[Session, Depends(session)]):
    note = Note(text=text)
    db.add(note)
    db.commit()
    db.refresh(note)
    for queue in listeners:
        queue.put_nowait((note.id, note.text))
    return {"id": note.id}


@app.get("/feed")
async def feed(request: Request, db: Annotated[Session, Depends(session)]):
    last = int(request.headers.get("last-event-id", 0))

    async def frames():
        queue = asyncio.Queue()
        listeners.add(queue)
        for note in db.exec(select(Note).where(Note.id > last).order_by(Note.id)).all():
            yield f"id: {note.id}\ndata: {note.text}\n\n"
        while True:
            number, text = await queue.get()
            yield f"id: {number}\ndata: {text}\n\n"

    return StreamingResponse(frames(), media_type="text/event-stream")
