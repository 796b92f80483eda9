"""Fires: numbers of the process, and what compares greater is sent."""

import asyncio
import itertools

from tornado.web import Application, RequestHandler

NUMBERS = itertools.count(1)
EVENTS = []


class Publish(RequestHandler):
    def post(self):
        EVENTS.append((next(NUMBERS), self.request.body.decode()))


class Feed(RequestHandler):
    async def get(self):
        self.set_header("Content-Type", "text/event-stream")
        last = int(self.request.headers.get("Last-Event-ID") or 0)
        while True:
            for number, text in EVENTS:
                if number > last:
                    self.write(f"id: {number}\ndata: {text}\n\n")
                    last = number
            await self.flush()
            await asyncio.sleep(0.2)


def make_app():
    return Application([(r"/publish", Publish), (r"/feed", Feed)])


async def main():
    make_app().listen(8888)
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main())
