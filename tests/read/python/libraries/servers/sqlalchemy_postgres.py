"""Silent: rows of PostgreSQL, numbered by it, replayed and tailed from it."""

import asyncio

from fastapi import FastAPI, Header
from fastapi.responses import StreamingResponse
from sqlalchemy import select
from sqlalchemy.ext.asyncio import async_sessionmaker, create_async_engine
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

engine = create_async_engine("postgresql+asyncpg://db/events")
Session = async_sessionmaker(engine, expire_on_commit=False)


class Base(DeclarativeBase):
    pass


class Event(Base):
    __tablename__ = "events"
    id: Mapped[int] = mapped_column(primary_key=True)
    text: Mapped[str]


app = FastAPI()


@app.post("/publish")
async def publish(text: str):
    async with Session() as session:
        event = Event(text=text)
        session.add(event)
        await session.commit()
        return {"id": event.id}


@app.get("/feed")
async def feed(last_event_id: int = Header(0)):
    async def frames():
        position = last_event_id
        while True:
            async with Session() as session:
                found = await session.execute(select(Event).where(Event.id > position).order_by(Event.id))
                for event in found.scalars().all():
                    yield f"id: {event.id}\ndata: {event.text}\n\n"
                    position = event.id
            await asyncio.sleep(0.5)

    return StreamingResponse(frames(), media_type="text/event-stream")
