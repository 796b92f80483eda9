import asyncio

from quart import Quart, abort, request

app = Quart(__name__)
events: dict[int, str] = {}
latest = 0
changed = asyncio.Event()


@app.post("/log")
async def log():
    global latest, changed
    latest += 1
    events[latest] = (await request.get_json())["text"]
    changed.set()
    changed = asyncio.Event()
    return {"id": latest}


@app.get("/log/stream")
async def stream():
    last = request.headers.get("Last-Event-ID")
    if last is not None:
        if not last.isdigit() or int(last) not in events:
            abort(409)
        position = int(last)
    else:
        position = latest

    async def body():
        nonlocal position
        while True:
            while position < latest:
                position += 1
                yield f"id: {position}\ndata: {events[position]}\n\n".encode()
            await changed.wait()

    return body(), 200, {"Content-Type": "text/event-stream", "Cache-Control": "no-cache"}
