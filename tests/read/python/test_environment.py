"""What hangs on an environment variable and what does not: a variable may only guard the way to a stream."""

from __future__ import annotations

import pytest

from sselint.facts import IdKind, Where
from tests.read.python.programs import HEAD, answered, stream_of

EVENTS = """
import asyncio
import os
import uuid
from dataclasses import dataclass

KEY = os.environ.get("API_KEY")
{before}

@dataclass
class Event:
    data: str
    number: str | None = None

    def __post_init__(self):
        if self.number is None:
            self.number = {minted}


class Manager:
    def __init__(self):
        self.queues = {{}}

    async def add(self, name):
        queue = self.queues[name] = asyncio.Queue()
        await queue.put(Event("welcome"))
        return queue

    async def broadcast(self, event):
        for queue in self.queues.values():
            await queue.put(event)


manager = Manager()


def authenticated(request):
    if KEY:
        return request.headers.get("x-api-key") == KEY
    return True


async def store(request):
    if not authenticated(request):
        return Response(status_code=401)
    await manager.broadcast(Event("stored"))


async def feed(request):
    if not authenticated(request):
        return Response(status_code=401)

    async def body():
        queue = await manager.add(uuid.uuid4().hex)
        while True:
            event = await queue.get()
            yield {{"id": event.number, "data": event.data}}

    return EventSourceResponse(body())


app = Starlette(routes=[Route("/feed", feed), Route("/store", store, methods=["POST"])])
"""


def test_a_variable_that_only_guards_the_way_in_says_nothing_of_the_ids() -> None:
    """The field of the event is `None` for a moment in every run, whatever the variable is."""
    stream = stream_of(HEAD + EVENTS.format(before="", minted="str(uuid.uuid4())"))
    assert stream.ids.kind is IdKind.RANDOM
    assert stream.replay.where is Where.NONE


def test_a_variable_that_says_how_ids_are_made_leaves_them_unknown() -> None:
    """Look-alike: the same field, and the variable decides between a random id and a counter."""
    before = "import itertools\n\ncount = itertools.count(1)\n"
    stream = stream_of(HEAD + EVENTS.format(before=before, minted="str(uuid.uuid4() if KEY else next(count))"))
    assert stream.ids.kind is IdKind.UNKNOWN
    assert "API_KEY" in stream.ids.why


STORES = """
import os
import redis


class Memory:
    def __init__(self):
        self.events = {}

    def get(self, key):
        return self.events.get(key, [])

    def put(self, key, event):
        kept = self.events.setdefault(key, [])
        kept.append((len(kept), event))


class Redis:
    def __init__(self):
        self.client = redis.Redis("redis.internal")

    def get(self, key):
        return self.client.xrange(key)

    def put(self, key, event):
        self.client.xadd(key, event)


class State:
    pass


state = State()


def publish(text):
    state.log.put("feed", {"text": text})
"""

CHOSEN = {
    "one or the other": """
state.log = Redis() if os.environ.get("REDIS_URL") else Memory()
""",
    "the second over the first": """
state.log = Memory()
if os.environ.get("REDIS_URL"):
    state.log = Redis()
""",
    "through another place": """
backend = "redis" if os.environ.get("REDIS_URL") else "memory"
state.log = {"redis": Redis, "memory": Memory}[backend]()
""",
}


@pytest.mark.parametrize("chosen", CHOSEN.values(), ids=CHOSEN)
def test_a_variable_that_chooses_the_store_is_named(chosen: str) -> None:
    """However the choice is written: the second of two assignments hangs on the variable, and so does the first."""
    program = answered(
        """
        async def body():
            for key, event in state.log.get("feed"):
                yield {"id": key, "data": event["text"]}

        return EventSourceResponse(body())
        """,
        STORES + chosen,
    )
    stream = stream_of(program)
    assert stream.replay.where is Where.UNKNOWN
    assert "REDIS_URL" in stream.environment


def test_a_variable_that_is_merely_asked_on_the_way_is_none_that_the_facts_depend_on() -> None:
    """A password lets in or does not, and a store is one or the other: only the second is read again."""
    merely_asked = EVENTS.format(before="", minted="str(uuid.uuid4())")
    assert stream_of(HEAD + merely_asked).environment == frozenset()
    chosen = EVENTS.format(before='KIND = os.environ.get("KIND", "random")', minted=CHOSEN)
    assert "KIND" in stream_of(HEAD + chosen).environment


CHOSEN = 'str(uuid.uuid4()) if KIND == "random" else f"{os.getpid()}-{len(self.data)}"'


@pytest.mark.parametrize(
    ("prefix", "kind"),
    [
        ('os.environ["HOSTNAME"]', IdKind.REPLICA_PREFIXED),
        ('os.environ.get("HOSTNAME") or socket.gethostname()', IdKind.REPLICA_PREFIXED),
        ('os.environ.get("FEED_NAME", "feed")', IdKind.COUNTER),
    ],
)
def test_a_variable_that_each_container_has_its_own_of(prefix: str, kind: IdKind) -> None:
    """It tells replicas apart as the host's name does. Look-alike: a name that the deployment may give to all."""
    store = f"""
import itertools
import os
import socket
prefix = {prefix}
counted = itertools.count()
log = []


def publish(text):
    log.append((f"{{prefix}}-{{next(counted)}}", text))
"""
    handler = """
    async def body():
        for key, text in log:
            yield {"id": key, "data": text}

    return EventSourceResponse(body())
    """
    assert stream_of(answered(handler, store)).ids.kind is kind
