"""Silent: a resource of Twisted that sets the status before it writes."""

import uuid

from twisted.internet import endpoints, reactor, task
from twisted.web.resource import Resource
from twisted.web.server import NOT_DONE_YET, Site

events = {}


class Publish(Resource):
    def render_POST(self, request):  # noqa: N802 - Twisted's name
        events[uuid.uuid4().hex] = request.content.read().decode()
        return b""


class Feed(Resource):
    def render_GET(self, request):  # noqa: N802 - Twisted's name
        cursor = request.getHeader("Last-Event-ID")
        if cursor and cursor not in events:
            request.setResponseCode(409)
            return b"start again"
        request.setHeader("Content-Type", "text/event-stream")
        sent = list(events).index(cursor) + 1 if cursor else 0
        for key in list(events)[sent:]:
            request.write(f"id: {key}\ndata: {events[key]}\n\n".encode())
        task.LoopingCall(self.beat, request).start(15)
        return NOT_DONE_YET

    def beat(self, request):
        request.write(b": beat\n\n")


root = Resource()
root.putChild(b"publish", Publish())
root.putChild(b"feed", Feed())
site = Site(root)

if __name__ == "__main__":
    endpoints.serverFromString(reactor, "tcp:8080").listen(site)
    reactor.run()
