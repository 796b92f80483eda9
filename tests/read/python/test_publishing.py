"""What others send on a connection: known from those who call, and not from a function that is looked at by itself."""

from __future__ import annotations

import pytest

from sselint.facts import IdKind, Outcome, Scope, Where
from tests.read.python.programs import stream_of

PUSHED = """
import asyncio
import json
import weakref
from datetime import datetime

from aiohttp import web
from aiohttp_sse import EventSourceResponse, sse_response

streams = web.AppKey("streams", weakref.WeakSet)


class Response(EventSourceResponse):
    async def send_json(self, data, id=None, event=None):
        await self.send(json.dumps(data), id=id, event=event)


async def send_event(stream, data, event_id):
    await stream.send_json(data, {given})


async def worker(app):
    while True:
        now = datetime.now()
        pending = [send_event(stream, {{"time": str(now)}}, str(now.timestamp())) for stream in app[streams]]
        await asyncio.gather(*pending)
        await asyncio.sleep(1)


async def on_startup(app):
    app[streams] = weakref.WeakSet()
    asyncio.create_task(worker(app))


async def feed(request):
    stream = await sse_response(request, response_cls=Response)
    request.app[streams].add(stream)
    await stream.wait()
    return stream


app = web.Application()
app.on_startup.append(on_startup)
app.router.add_route("GET", "/feed", feed)
"""


@pytest.mark.parametrize(
    ("given", "kind", "scope"),
    [
        ("id=event_id", IdKind.CLOCK, Scope.ORDERED_LOCAL),
        ("event=event_id", IdKind.NONE, Scope.NONE),
    ],
    ids=["as the id", "as the name"],
)
def test_an_id_that_is_passed_on_through_helpers(given: str, kind: IdKind, scope: Scope) -> None:
    """A helper that is looked at by itself has no id to send, or one that nobody knows; its caller gives one.
    Look-alike: the same value is the event's name, and the default of the helper holds for every caller."""
    stream = stream_of(PUSHED.format(given=given))
    assert (stream.ids.kind, stream.ids.scope) == (kind, scope)
    assert stream.replay.where is Where.NONE
    assert stream.on_foreign.outcome is Outcome.NOT_READ


ANNOUNCED = """
import queue

from flask import Flask, Response

app = Flask(__name__)
count = 0


class Announcer:
    def __init__(self):
        self.listeners = []

    def listen(self):
        self.listeners.append(queue.Queue(maxsize=5))
        return self.listeners[-1]

    def announce(self, text):
        for i in {order}:
            try:
                self.listeners[i].put_nowait(text)
            except queue.Full:
                del self.listeners[i]


announcer = Announcer()


def framed(data, event=None):
    global count
    count += 1
    text = f"id: {{count}}\\ndata: {{data}}\\n\\n"
    return text if event is None else f"event: {{event}}\\n{{text}}"


@app.route("/ping")
def ping():
    {announced}
    return {{}}, 200


@app.route("/listen")
def listen():
    def body():
        messages = announcer.listen()
        while True:
            yield messages.get()

    return Response(body(), mimetype="text/event-stream")
"""


@pytest.mark.parametrize(
    "order",
    ["range(len(self.listeners))", "reversed(range(len(self.listeners)))", "range(len(self.listeners) - 1, -1, -1)"],
    ids=["forwards", "reversed", "downwards"],
)
def test_listeners_that_are_gone_through_by_their_numbers(order: str) -> None:
    """From the last one down, so that those whose queue is full can be taken out on the way."""
    stream = stream_of(ANNOUNCED.format(order=order, announced='announcer.announce(framed("pong"))'))
    assert (stream.ids.kind, stream.ids.scope) == (IdKind.COUNTER, Scope.OVERLAPPING)
    assert (stream.replay.where, stream.replay.live_tail) == (Where.NONE, Where.MEMORY)


@pytest.mark.parametrize("announced", ["announcer.announce(elsewhere())", "pass"], ids=["made elsewhere", "nobody"])
def test_what_nobody_in_the_tree_puts_together_may_carry_an_id(announced: str) -> None:
    """Look-alike: what is put into the queues is made out of sight, which is not the same as events without ids."""
    stream = stream_of(ANNOUNCED.format(order="reversed(range(len(self.listeners)))", announced=announced))
    assert (stream.ids.kind, stream.ids.scope) == (IdKind.UNKNOWN, Scope.UNKNOWN)


@pytest.mark.parametrize(
    ("sent", "kind"),
    [("registry.add(stream)", IdKind.UNKNOWN), ('await stream.write(b": hello\\n\\n")', IdKind.NONE)],
    ids=["out of sight", "a comment"],
)
def test_a_stream_on_which_nothing_is_seen_to_be_sent(sent: str, kind: IdKind) -> None:
    """Whoever has the connection may send ids on it. Look-alike: what the handler sends is seen, and carries none."""
    stream = stream_of(f"""
        import asyncio
        from aiohttp import web
        from elsewhere import registry

        async def feed(request):
            stream = web.StreamResponse(headers={{"Content-Type": "text/event-stream"}})
            await stream.prepare(request)
            {sent}
            while True:
                await asyncio.sleep(60)

        app = web.Application()
        app.router.add_get("/feed", feed)
        """)
    assert stream.ids.kind is kind


CHANNEL = """
import json, uuid

import redis
from flask import Flask, Response

app = Flask(__name__)
client = redis.Redis()


@app.post("/login")
def login():
    client.set("session", str(uuid.uuid4()))
    return "", 204


PUBLISHER


@app.get("/news")
def news():
    def body():
        channel = client.pubsub()
        channel.subscribe("news")
        for said in channel.listen():
            event = json.loads(said["data"])
            yield f"id: {event['key']}\\ndata: {event['text']}\\n\\n"

    return Response(body(), mimetype="text/event-stream")
"""
TOLD = """
@app.post("/say")
def say():
    client.publish("news", json.dumps({"key": str(uuid.uuid4()), "text": "hello"}))
    return "", 204
"""


def test_only_what_is_told_on_a_channel_is_heard_on_it() -> None:
    told = stream_of(CHANNEL.replace("PUBLISHER", TOLD))
    assert told.ids.kind is IdKind.RANDOM
    out_of_sight = stream_of(CHANNEL.replace("PUBLISHER", ""))
    assert (out_of_sight.ids.kind, out_of_sight.ids.scope) == (IdKind.UNKNOWN, Scope.UNKNOWN)
