from fastapi import FastAPI, Header
from sse_starlette import EventSourceResponse

from steps import STEPS

app = FastAPI()


@app.get("/tour")
async def tour(last_event_id: int | None = Header(default=None)):
    first = 0 if last_event_id is None else last_event_id + 1

    async def body():
        for number, step in enumerate(STEPS):
            if number >= first:
                yield {"id": str(number), "event": "step", "data": step}
        yield {"event": "done", "data": ""}

    return EventSourceResponse(body())
