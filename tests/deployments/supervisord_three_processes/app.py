import itertools
from collections import deque

from fastapi import FastAPI, Request
from sse_starlette.sse import EventSourceResponse

app = FastAPI()
sequence = itertools.count(1)
recent: deque = deque(maxlen=1000)


def publish(text: str) -> None:
    recent.append((next(sequence), text))


@app.get("/events")
async def events(request: Request):
    after = int(request.headers.get("last-event-id", 0))

    async def stream():
        for number, text in list(recent):
            if number > after:
                yield {"id": str(number), "data": text}

    return EventSourceResponse(stream())
