"""Fires: an event goes line by line to all that wait, with a number that the process counts."""

import itertools

from klein import Klein
from twisted.internet.defer import Deferred

app = Klein()
waiting = set()
numbers = itertools.count(1)


def tell(lines):
    number = next(numbers)
    for request in waiting:
        request.write(f"id: {number}\r\n".encode())
        for line in lines:
            request.write(f"data: {line}\r\n".encode())
        request.write(b"\r\n")


@app.route("/tell", methods=["POST"])
def told(request):
    tell(request.args[b"line"])
    return b""


@app.route("/feed")
def feed(request):
    request.setHeader("Content-Type", "text/event-stream")
    waiting.add(request)
    return Deferred()
