"""`write()` of Tornado collects, `flush()` begins the response."""

import asyncio
import sys

from tornado.web import Application, HTTPError, RequestHandler


class Handler(RequestHandler):
    def get(self):
        raise HTTPError(409)


class Unsent(RequestHandler):
    def get(self):
        self.set_header("Content-Type", "text/event-stream")
        self.write("id: 1\ndata: a\n\n")
        raise HTTPError(409)


class Sent(RequestHandler):
    async def get(self):
        self.set_header("Content-Type", "text/event-stream")
        self.write("id: 1\ndata: a\n\n")
        await self.flush()
        raise HTTPError(409)


async def main():
    Application([("/handler", Handler), ("/unsent", Unsent), ("/sent", Sent)]).listen(int(sys.argv[1]), "127.0.0.1")
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main())
