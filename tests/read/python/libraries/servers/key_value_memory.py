"""Fires: the same in the memory of each process, and an id that is not there gets everything."""

from uuid import uuid4

from key_value.aio.stores.memory import MemoryStore
from key_value.aio.wrappers.prefix_keys import PrefixKeysWrapper
from starlette.applications import Starlette
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

journal = PrefixKeysWrapper(MemoryStore(), prefix="orders")


async def publish(request):
    event_id = uuid4().hex
    order = await journal.get(key="order") or {"ids": []}
    await journal.put(key=event_id, value={"text": (await request.body()).decode()})
    await journal.put(key="order", value={"ids": [*order["ids"], event_id]})
    return Response(status_code=204)


async def feed(request):
    last = request.headers.get("last-event-id")

    async def frames():
        ids = (await journal.get(key="order") or {"ids": []})["ids"]
        for event_id in ids[ids.index(last) + 1 if last in ids else 0 :]:
            entry = await journal.get(key=event_id)
            yield f"id: {event_id}\ndata: {entry['text']}\n\n"

    return StreamingResponse(frames(), media_type="text/event-stream")


app = Starlette(routes=[Route("/feed", feed), Route("/publish", publish, methods=["POST"])])
