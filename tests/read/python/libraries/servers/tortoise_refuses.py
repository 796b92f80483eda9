"""Silent: random ids in a shared table; one without a row is refused."""

from uuid import uuid4

from fastapi import FastAPI, HTTPException, Request
from fastapi.responses import StreamingResponse
from tortoise import fields, models
from tortoise.contrib.fastapi import register_tortoise

app = FastAPI()
register_tortoise(app, db_url="postgres://db/app", modules={"models": ["app"]})


class Event(models.Model):
    number = fields.BigIntField(primary_key=True)
    name = fields.CharField(max_length=36)
    text = fields.TextField()


@app.post("/publish")
async def publish(text: str):
    event = Event(name=str(uuid4()), text=text)
    await event.save()


@app.get("/feed")
async def feed(request: Request):
    last = request.headers.get("last-event-id")
    events = Event.all().order_by("number")
    if last is not None:
        known = await Event.get_or_none(name=last)
        if known is None:
            raise HTTPException(410)
        events = events.filter(number__gt=known.number)

    async def frames():
        async for event in events:
            yield f"id: {event.name}\ndata: {event.text}\n\n"

    return StreamingResponse(frames(), media_type="text/event-stream")
