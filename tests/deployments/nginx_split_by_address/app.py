import uuid
from collections import OrderedDict

from fastapi import FastAPI, HTTPException, Request
from sse_starlette.sse import EventSourceResponse

app = FastAPI()
history: "OrderedDict[str, str]" = OrderedDict()


def publish(text: str) -> None:
    history[str(uuid.uuid4())] = text


@app.get("/events")
async def events(request: Request):
    last = request.headers.get("Last-Event-ID")
    if last is not None and last not in history:
        raise HTTPException(status_code=409, detail="start a new session")

    async def stream():
        keys = list(history)
        start = keys.index(last) + 1 if last else 0
        for key in keys[start:]:
            yield {"id": key, "data": history[key]}

    return EventSourceResponse(stream())
