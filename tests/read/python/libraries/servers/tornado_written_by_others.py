"""Fires: handlers of Tornado register themselves, and a publisher writes counted ids to all of them."""

import asyncio
import itertools

from tornado.web import Application, RequestHandler

numbers = itertools.count(1)
connections = set()


class Feed(RequestHandler):
    async def get(self):
        self.set_header("Content-Type", "text/event-stream")
        connections.add(self)
        await self.flush()
        await asyncio.Event().wait()


class Publish(RequestHandler):
    def post(self):
        number = next(numbers)
        for connection in connections:
            connection.write(f"id: {number}\ndata: {self.request.body.decode()}\n\n")
            connection.flush()


app = Application([(r"/publish", Publish), (r"/feed", Feed)])

if __name__ == "__main__":
    app.listen(8888)
