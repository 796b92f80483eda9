"""Handlers that a router took while their class was still being defined, and records that make what they hold."""

from __future__ import annotations

import pytest

from sselint.facts import IdKind, Outcome, Scope, Where
from tests.read.python.programs import stream_of

KLEIN = """
from functools import wraps

from attrs import Factory, field, frozen
from klein import Klein
from twisted.internet.defer import Deferred


class Router(Klein):
    def route(self, url, *args, **kwargs):
        above = super().route

        def decorator(function):
            @above(url, *args, **kwargs)
            @wraps(function)
            def wrapper(api, request, *args, **kwargs):
                request.setHeader("server", "feed")
                return function(api, request, *args, **kwargs)

            return wrapper

        return decorator


@frozen
class Observer:
    _listeners: list = field(init=False, factory=list)
    _counter: list[int] = field(init=False, factory=lambda: [0])

    def add(self, request):
        self._listeners.append(request)

    def publish(self, text):
        self._counter[0] += 1
        for request in tuple(self._listeners):
            request.write({sent}.encode())


class API:
    router = {router}

    def __init__(self, observer):
        self.observer = observer

    @router.route("/feed", methods=["GET"])
    def feed(self, request):
        request.setHeader("content-type", "text/event-stream")
        self.observer.add(request)
        return Deferred()

    @router.route("/say", methods=["POST"])
    def say(self, request):
        self.observer.publish(request.content.read())


def api_of(main):
    return API(main.observer)


@frozen
class Main:
    observer: Observer = field(init=False, factory=Observer)
    api: API = field(init=False, default=Factory(api_of, takes_self=True))


main = Main()
main.api.router.run("0.0.0.0", 8080)
"""
NUMBERED, PLAIN = 'f"id: {self._counter[0]}\\ndata: {text}\\n\\n"', 'f"event: {self._counter[0]}\\ndata: {text}\\n\\n"'


@pytest.mark.parametrize("router", ["Klein()", "Router()"], ids=["the library's", "one that inherits"])
@pytest.mark.parametrize(
    ("sent", "ids"),
    [(NUMBERED, (IdKind.COUNTER, Scope.OVERLAPPING)), (PLAIN, (IdKind.NONE, Scope.NONE))],
    ids=["numbered", "plain"],
)
def test_a_router_that_is_an_attribute_of_a_class(router: str, sent: str, ids: tuple[IdKind, Scope]) -> None:
    """The handler is a method of the object that the tree makes, which holds who listens. Look-alike: the number is
    the event's name."""
    stream = stream_of(KLEIN.replace("{router}", router).replace("{sent}", sent))
    assert (stream.ids.kind, stream.ids.scope) == ids
    assert (stream.replay.where, stream.replay.live_tail) == (Where.NONE, Where.MEMORY)
    assert stream.on_foreign.outcome is Outcome.NOT_READ


def test_addresses_that_are_put_together_out_of_sight() -> None:
    """What one decorator registers at one place is told apart by what it stands in front of, and so are the requests:
    the one that is kept for another purpose hears nothing."""
    text = KLEIN.replace("{router}", "Router()").replace("{sent}", NUMBERED)
    text = text.replace("from attrs", "from hyperlink import URL\nfrom attrs", 1)
    text = text.replace('"/feed"', 'BASE.child("feed")').replace('"/say"', 'BASE.child("say")')
    text = text.replace("class API:", 'BASE = URL.fromText("https://feed.example/")\nasked = []\n\n\nclass API:')
    ping = '    @router.route(BASE.child("ping"))\n    def ping(self, request):\n        return "ack"\n\n'
    text = text.replace('    @router.route(BASE.child("feed")', ping + '    @router.route(BASE.child("feed")')
    publishes = "        self.observer.publish("
    text = text.replace(publishes, "        asked.append(request)\n" + publishes)
    stream = stream_of(text)
    assert (stream.symbol, stream.url) == ("API.feed", None)
    assert (stream.ids.kind, stream.ids.scope) == (IdKind.COUNTER, Scope.OVERLAPPING)


@pytest.mark.parametrize("first", ["self, ", ""], ids=["a method", "a function in a class"])
def test_a_handler_in_a_class_body(first: str) -> None:
    """With `self` it is given the object first. Look-alike: without it the class is only a place to put it."""
    stream = stream_of(f"""
        import uuid
        from fastapi import APIRouter, FastAPI, Header
        from sse_starlette import EventSourceResponse

        router = APIRouter()
        log = {{}}

        class Feed:
            @router.post("/say")
            async def say({first}text: str):
                log[uuid.uuid4().hex] = text

            @router.get("/feed")
            async def feed({first}last_event_id: str = Header(default="")):
                if last_event_id and last_event_id not in log:
                    from fastapi import HTTPException
                    raise HTTPException(409)

                async def body():
                    for key, text in list(log.items()):
                        yield {{"id": key, "data": text}}

                return EventSourceResponse(body())

        app = FastAPI()
        app.include_router(router)
        """)
    assert stream.ids.kind is IdKind.RANDOM
    assert stream.on_foreign.outcome is Outcome.FAIL_CLOSED
