"""Fires: Klein, an open list, and the rest of it behind the cursor."""

from klein import Klein
from twisted.internet import reactor, task

app = Klein()
events = []


@app.route("/publish", methods=["POST"])
def publish(request):
    events.append((len(events) + 1, request.content.read().decode()))
    return b""


@app.route("/feed")
async def feed(request):
    request.setHeader("Content-Type", "text/event-stream")
    last = int(request.getHeader("Last-Event-ID") or 0)
    while True:
        for number, text in events:
            if number > last:
                request.write(f"id: {number}\ndata: {text}\n\n".encode())
                last = number
        await task.deferLater(reactor, 0.2, lambda: None)


if __name__ == "__main__":
    app.run("localhost", 8080)
