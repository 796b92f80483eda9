"""Fires: requests of Klein are kept in a list, and a publisher writes counted ids to all of them."""

from klein import Klein
from twisted.internet.defer import Deferred

app = Klein()


class Announcer:
    def __init__(self):
        self.listeners = []
        self.counter = [0]

    def announce(self, text):
        self.counter[0] += 1
        for listener in tuple(self.listeners):
            listener.write(f"id: {self.counter[0]}\r\ndata: {text}\r\n\r\n".encode())


announcer = Announcer()


@app.route("/publish", methods=["POST"])
def publish(request):
    announcer.announce(request.content.read().decode())
    return b""


@app.route("/feed")
def feed(request):
    request.setHeader("Content-Type", "text/event-stream")
    announcer.listeners.append(request)
    return Deferred()
