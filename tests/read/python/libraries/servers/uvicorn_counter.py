"""Fires: a counter in each of the workers that uvicorn is told to start."""

import itertools

import uvicorn
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse, StreamingResponse
from starlette.routing import Route

numbers = itertools.count(1)
lines = []


async def write(request):
    lines.append((next(numbers), (await request.body()).decode()))
    return PlainTextResponse("")


async def read(request):
    after = int(request.headers.get("last-event-id") or 0)

    async def body():
        for number, line in lines:
            if number > after:
                yield f"id: {number}\ndata: {line}\n\n"

    return StreamingResponse(body(), media_type="text/event-stream")


app = Starlette(routes=[Route("/lines", write, methods=["POST"]), Route("/lines", read)])

if __name__ == "__main__":
    uvicorn.run("uvicorn_counter:app", port=8000, workers=4)
