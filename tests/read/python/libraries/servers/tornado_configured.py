"""Fires: what Tornado calls before the method that answers sets the head and what the route gives the handler."""

import itertools

import tornado.web

HEADERS = (("Content-Type", "text/event-stream"), ("Cache-Control", "no-cache"))
numbers = itertools.count(1)
LOG = []


class Feed(tornado.web.RequestHandler):
    def set_default_headers(self):
        for name, value in HEADERS:
            self.set_header(name, value)

    def initialize(self, log):
        self.log = log

    @tornado.web.authenticated
    async def get(self):
        last = int(self.request.headers.get("Last-Event-ID", 0))
        for number, text in self.log:
            if number > last:
                self.write(frame(number, text))
        await self.flush()


def frame(number, text):
    return "\n".join([f"id: {number}", f"data: {text}", "", ""])


class Publish(tornado.web.RequestHandler):
    def post(self):
        LOG.append((next(numbers), self.request.body.decode()))


class Feeds(tornado.web.Application):
    def __init__(self):
        tornado.web.Application.__init__(self, [(r"/feed", Feed, {"log": LOG}), (r"/publish", Publish)])


if __name__ == "__main__":
    Feeds().listen(8888)
