"""Silent: the refusal comes after a comment was written and before it is flushed."""

import asyncio
import uuid

from tornado.web import Application, HTTPError, RequestHandler

EVENTS = {}


class Publish(RequestHandler):
    def post(self):
        EVENTS[uuid.uuid4().hex] = self.request.body.decode()


class Feed(RequestHandler):
    async def get(self):
        self.set_header("Content-Type", "text/event-stream")
        self.write(": hello\n\n")
        cursor = self.request.headers.get("Last-Event-ID")
        if cursor and cursor not in EVENTS:
            raise HTTPError(409)
        sent = list(EVENTS).index(cursor) + 1 if cursor else 0
        while True:
            for key in list(EVENTS)[sent:]:
                self.write(f"id: {key}\ndata: {EVENTS[key]}\n\n")
                sent += 1
            await self.flush()
            await asyncio.sleep(0.2)


app = Application([(r"/publish", Publish), (r"/feed", Feed)])

if __name__ == "__main__":
    app.listen(8888)
