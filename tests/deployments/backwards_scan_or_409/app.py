import secrets
from collections import deque
from collections.abc import Iterator

from fastapi import FastAPI, HTTPException, Request, status
from sse_starlette import EventSourceResponse

app = FastAPI()
buffer: deque[tuple[str, str]] = deque(maxlen=128)


@app.post("/b", status_code=status.HTTP_204_NO_CONTENT)
def add(text: str) -> None:
    buffer.append((secrets.token_urlsafe(9), text))


def missed(cursor: str) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for event in reversed(buffer):
        if event[0] == cursor:
            break
        found.insert(0, event)
    else:
        raise HTTPException(status.HTTP_409_CONFLICT, detail="cursor not held")
    return found


@app.get("/b")
def stream(request: Request) -> EventSourceResponse:
    if (cursor := request.headers.get("Last-Event-ID")) is not None:
        events = missed(cursor)
    else:
        events = list(buffer)

    def body() -> Iterator[dict[str, str]]:
        for key, text in events:
            yield {"id": key, "data": text}

    return EventSourceResponse(body())
