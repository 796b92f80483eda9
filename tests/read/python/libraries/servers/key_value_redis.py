"""Silent: random ids that are kept in one key-value store for all, which knows whether it holds an id."""

from uuid import uuid4

from key_value.aio.stores.redis import RedisStore
from key_value.aio.wrappers.prefix_keys import PrefixKeysWrapper
from starlette.applications import Starlette
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

journal = PrefixKeysWrapper(RedisStore(url="redis://journal:6379"), prefix="orders")


async def publish(request):
    event_id = uuid4().hex
    order = await journal.get(key="order") or {"ids": []}
    await journal.put(key=event_id, value={"text": (await request.body()).decode()})
    await journal.put(key="order", value={"ids": [*order["ids"], event_id]})
    return Response(status_code=204)


async def feed(request):
    last = request.headers.get("last-event-id")
    if last is not None and await journal.get(key=last) is None:
        return Response("unknown event", status_code=409)

    async def frames():
        ids = (await journal.get(key="order") or {"ids": []})["ids"]
        for event_id in ids[ids.index(last) + 1 if last is not None else 0 :]:
            entry = await journal.get(key=event_id)
            yield f"id: {event_id}\ndata: {entry['text']}\n\n"

    return StreamingResponse(frames(), media_type="text/event-stream")


app = Starlette(routes=[Route("/feed", feed), Route("/publish", publish, methods=["POST"])])
