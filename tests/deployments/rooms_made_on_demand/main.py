import asyncio
from collections import defaultdict, deque

from aiohttp import web
from aiohttp_sse import sse_response


class Room:
    def __init__(self):
        self.number = 0
        self.recent = deque(maxlen=100)
        self.subscribers = set()

    async def say(self, text):
        self.number += 1
        item = (self.number, text)
        self.recent.append(item)
        for q in self.subscribers:
            q.put_nowait(item)


rooms = defaultdict(Room)


async def say(request):
    data = await request.post()
    await rooms[request.match_info["room"]].say(data["text"])
    return web.Response(status=204)


async def listen(request):
    room = rooms[request.match_info["room"]]
    queue = asyncio.Queue()
    room.subscribers.add(queue)
    async with sse_response(request) as resp:
        try:
            if resp.last_event_id:
                for number, text in room.recent:
                    if number > int(resp.last_event_id):
                        await resp.send(text, id=str(number))
            while resp.is_connected():
                number, text = await queue.get()
                await resp.send(text, id=str(number))
        finally:
            room.subscribers.discard(queue)
    return resp


def create():
    app = web.Application()
    app.router.add_post("/rooms/{room}", say)
    app.router.add_get("/rooms/{room}/events", listen)
    return app


if __name__ == "__main__":
    web.run_app(create(), port=8000)
