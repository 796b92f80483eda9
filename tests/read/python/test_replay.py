"""Where a reconnect is answered from, and what the same connection hears of afterwards: the two may differ."""

from __future__ import annotations

import pytest

from sselint.facts import IdKind, Outcome, Scope, Truth, Where
from tests.read.python.programs import HEAD, answered, settings, stream_of

BUS = (
    HEAD
    + """
import asyncio
import redis.asyncio as redis

kv = redis.Redis()
listeners = set()


async def publish(request):
    key = await kv.xadd("feed", {"text": "x"})
    PUBLISHED
    return Response(status_code=202)


async def pump():
    at = "$"
    while True:
        for _, rows in await kv.xread({"feed": at}, block=1000):
            for at, fields in rows:
                for queue in listeners:
                    queue.put_nowait((at, fields["text"]))


async def feed(request):
    cursor = request.headers.get("last-event-id", "0")

    async def body():
        queue = asyncio.Queue()
        listeners.add(queue)
        for key, fields in await kv.xrange("feed", min=f"({cursor}"):
            yield {"id": key, "data": fields["text"]}
        TAIL

    return EventSourceResponse(body())


async def start():
    STARTED


app = Starlette(routes=[Route("/feed", publish, methods=["POST"]), Route("/feed", feed)], on_startup=[start])
"""
)
FOLLOW = "while True:\n            key, text = await queue.get()\n            yield {'id': key, 'data': text}"
LOCAL = "for queue in listeners:\n        queue.put_nowait((key, 'x'))"


def bus(tail: str = FOLLOW, published: str = "pass", started: str = "pass") -> str:
    """A server with a shared log: what follows the replay, what publishing does besides, what start-up starts."""
    return BUS.replace("TAIL", tail).replace("PUBLISHED", published).replace("STARTED", started)


def test_shared_replay_and_a_local_tail() -> None:
    """Only what this process publishes reaches the queue: later events of the others never arrive."""
    replay = stream_of(bus(published=LOCAL)).replay
    assert (replay.where, replay.live_tail, replay.ends) == (Where.SHARED, Where.MEMORY, Truth.NO)


def test_shared_replay_and_a_shared_tail() -> None:
    """A task passes on what any process appended."""
    replay = stream_of(bus(started="asyncio.create_task(pump())")).replay
    assert (replay.where, replay.live_tail) == (Where.SHARED, Where.SHARED)


def test_both_feed_the_queue() -> None:
    """A local short cut beside the pump: the worse of the two is told."""
    replay = stream_of(bus(published=LOCAL, started="asyncio.create_task(pump())")).replay
    assert replay.live_tail is Where.MEMORY


def test_replay_that_ends() -> None:
    """The response ends after the replay, and the client asks again."""
    replay = stream_of(bus(tail="return")).replay
    assert (replay.where, replay.live_tail, replay.ends) == (Where.SHARED, Where.NONE, Truth.YES)


def test_polling_is_a_tail() -> None:
    """An endless loop that asks the store again and again is a shared tail; over a list it is a local one."""
    polling = """
    cursor = request.headers.get("last-event-id", "0")

    async def body():
        at = cursor
        while True:
            for at, fields in await kv.xrange("feed", min=f"({at}"):
                yield {"id": at, "data": fields["text"]}

    return EventSourceResponse(body())
    """
    replay = stream_of(answered(polling, "import redis.asyncio as redis\nkv = redis.Redis()\n")).replay
    assert (replay.where, replay.live_tail) == (Where.SHARED, Where.SHARED)
    local = """
    async def body():
        place = 0
        while True:
            for key, text in log[place:]:
                place += 1
                yield {"id": key, "data": text}

    return EventSourceResponse(body())
    """
    replay = stream_of(answered(local)).replay
    assert (replay.where, replay.live_tail) == (Where.MEMORY, Where.MEMORY)


FILE = """
import sqlite3


def rows(after):
    db = sqlite3.connect({path!r})
    return db.execute("select seq, body from events where seq > ? order by seq", (after,)).fetchall()
"""
SELECT = """
    after = int(request.headers.get("last-event-id") or 0)

    async def body():
        for number, text in rows(after):
            yield {"id": str(number), "data": text}

    return EventSourceResponse(body())
"""


def test_a_file_is_as_shared_as_its_volume() -> None:
    """SQLite on disk is the pod's disk, with its path for the linker; `:memory:` is memory."""
    replay = stream_of(answered(SELECT, FILE.format(path="/data/events.db"))).replay
    assert (replay.where, replay.disk_path) == (Where.POD_DISK, "/data/events.db")
    assert stream_of(answered(SELECT, FILE.format(path=":memory:"))).replay.where is not Where.POD_DISK


def test_bounded_buffer_evicts() -> None:
    """A deque with a bound drops its oldest; one without keeps all."""
    handler = """
    async def body():
        for key, text in list(log):
            yield {"id": key, "data": text}

    return EventSourceResponse(body())
    """
    publish = "def publish(text):\n    log.append((uuid.uuid4().hex, text))\n"
    store = "import uuid\nfrom collections import deque\nlog = deque({})\n\n\n" + publish
    assert stream_of(answered(handler, store.format("maxlen=100"))).replay.evicts is Truth.YES
    assert stream_of(answered(handler, store.format(""))).replay.evicts is Truth.NO


FALLBACK = """
import redis, uuid
kv, memory = redis.Redis(), []


def publish(text):
    try:
        kv.xadd("feed", {"text": text})
    except redis.RedisError:
        memory.append((uuid.uuid4().hex, text))


def history(after):
    try:
        return [(key, fields["text"]) for key, fields in kv.xrange("feed", min=f"({after}")]
    except redis.RedisError:
        RETURN
"""
HISTORY = """
    after = request.headers.get("last-event-id", "0")

    async def body():
        for key, text in history(after):
            yield {"id": key, "data": text}

    return EventSourceResponse(body())
"""


def test_fallback_to_memory_is_a_run() -> None:
    """A branch that only runs on a failure is one all the same: two namespaces on one wire. A raise is none."""
    falling = stream_of(answered(HISTORY, FALLBACK.replace("RETURN", "return list(memory)")))
    assert falling.replay.where is Where.MEMORY
    raising = stream_of(answered(HISTORY, FALLBACK.replace("RETURN", "raise")))
    assert raising.replay.where is Where.SHARED
    assert raising.ids.scope is Scope.SHARED


CHOSEN = """
import itertools, os, redis


class Memory:
    def __init__(self):
        self.rows, self.numbers = [], itertools.count(1)

    def add(self, text):
        self.rows.append((str(next(self.numbers)), text))

    def after(self, key):
        return [row for row in self.rows if int(row[0]) > int(key)]


class Shared:
    def __init__(self):
        self.kv = redis.Redis()

    def add(self, text):
        self.kv.xadd("feed", {"text": text})

    def after(self, key):
        return [(key, fields["text"]) for key, fields in self.kv.xrange("feed", min=f"({key}")]


CHOICE


def publish(text):
    store.add(text)
"""
AFTER = """
    after = request.headers.get("last-event-id", "0")

    async def body():
        for key, text in store.after(after):
            yield {"id": key, "data": text}

    return EventSourceResponse(body())
"""
CHOICES = {
    "if": 'if os.environ.get("BACKEND", "memory") == "redis":\n    store = Shared()\nelse:\n    store = Memory()',
    "conditional": 'store = Shared() if os.getenv("BACKEND") == "redis" else Memory()',
    "table": 'store = {"memory": Memory, "redis": Shared}[os.environ.get("BACKEND", "memory")]()',
}


def test_store_chosen_by_the_environment() -> None:
    """Unknown because of the variable, which is named, until the deployment's files settle it either way."""
    for name, choice in CHOICES.items():
        program = answered(AFTER, CHOSEN.replace("CHOICE", choice))
        stream = stream_of(program)
        assert stream.ids.scope is Scope.UNKNOWN, name
        assert stream.replay.where is Where.UNKNOWN, name
        assert "BACKEND" in stream.ids.why, name
        assert stream.environment == {"BACKEND"}, name
        local = stream_of(program, settings(BACKEND="memory"))
        assert (local.ids.kind, local.replay.where) == (IdKind.COUNTER, Where.MEMORY), name
        shared = stream_of(program, settings(BACKEND="redis"))
        assert (shared.ids.kind, shared.replay.where) == (IdKind.STORE, Where.SHARED), name


def test_missing_variable_is_its_default_only_where_all_is_known() -> None:
    """A variable that is not set has its default; where the files do not say all, it is unknown."""
    program = answered(AFTER, CHOSEN.replace("CHOICE", CHOICES["if"]))
    assert stream_of(program, settings(OTHER="1")).replay.where is Where.MEMORY
    assert stream_of(program, settings(settled=False, OTHER="1")).replay.where is Where.UNKNOWN


def test_injected_store_is_what_is_injected() -> None:
    """The constructor's argument decides, not the class that the handler's module names."""
    injected = "class Feed:\n    def __init__(self, inner):\n        self.inner = inner\n\n\nstore = Feed(MADE()).inner"
    for made, expected in (("Memory", Where.MEMORY), ("Shared", Where.SHARED)):
        program = CHOSEN.replace("CHOICE", injected.replace("MADE", made))
        assert stream_of(answered(AFTER, program)).replay.where is expected


def test_outcome_is_part_of_it() -> None:
    """A shared log answers any cursor, and continues it."""
    stream = stream_of(answered(AFTER, CHOSEN.replace("CHOICE", "store = Shared()")))
    assert stream.on_foreign.outcome is Outcome.COMPARED


STORE = """
from collections import deque
from uuid import uuid4

from mcp.server.streamable_http import EventMessage, EventStore


class Memory(EventStore):
    def __init__(self):
        self.streams, self.index = {}, {}

    async def store_event(self, stream_id, message):
        event_id = uuid4().hex
        if stream_id not in self.streams:
            self.streams[stream_id] = deque(maxlen=100)
        self.streams[stream_id].append((event_id, message))
        self.index[event_id] = stream_id
        return event_id

    async def replay_events_after(self, last_event_id, send_callback):
        if last_event_id not in self.index:
            MISS
        found = False
        for event_id, message in self.streams.get(self.index[last_event_id], deque()):
            if found:
                await send_callback(EventMessage(message, event_id))
            found = found or event_id == last_event_id
        return self.index[last_event_id]
"""


def test_event_store_that_nothing_mounts() -> None:
    """A fact without a verdict. The SDK answers 200 whether the store gives None or raises."""
    for miss in ("return None", "raise KeyError(last_event_id)"):
        stream = stream_of({"store.py": STORE.replace("MISS", miss)})
        assert (stream.symbol, stream.apps, stream.protocol) == ("Memory", (), "mcp")
        assert (stream.ids.kind, stream.replay.where) == (IdKind.RANDOM, Where.MEMORY)
        assert stream.on_foreign.outcome is Outcome.EMPTY


@pytest.mark.parametrize("carries", [True, False], ids=["with ids", "without ids"])
def test_a_list_that_is_asked_again_from_its_end_sends_what_is_added(carries: bool) -> None:
    """Nothing at first, then what others publish: no replay, and ids where the text has them."""
    frame = "id: {key}\\ndata: {text}\\n\\n" if carries else "data: {text}\\n\\n"
    stream = stream_of(
        f"""
        import asyncio
        import itertools
        from fastapi import FastAPI
        from fastapi.responses import StreamingResponse

        app = FastAPI()
        log = []
        numbers = itertools.count(1)


        @app.post("/publish")
        async def publish():
            log.append((next(numbers), "x"))


        @app.get("/feed")
        async def feed():
            async def frames():
                position = len(log)
                while True:
                    for key, text in log[position:]:
                        position += 1
                        yield f"{frame}"
                    await asyncio.sleep(1)

            return StreamingResponse(frames(), media_type="text/event-stream")
        """
    )
    assert stream.ids.kind is (IdKind.COUNTER if carries else IdKind.NONE)
    assert (stream.replay.where, stream.replay.live_tail) == (Where.NONE, Where.MEMORY)


MAILBOX = """
    import queue
    from collections import deque
    from flask import Flask, Response, request

    app = Flask(__name__)

    class Desk:
        def __init__(self):
            self.count = 0
            self.kept = deque(maxlen=200)
            self.boxes = []

        def tell(self, text):
            self.count += 1
            note = {"n": self.count, "text": text}
            self.kept.append(note)
            for box in self.boxes:
                box.put_nowait(note)

        def listen(self, after):
            box = queue.Queue()
            PREPARED
            self.boxes.append(box)
            while True:
                yield box.get()

    desk = Desk()

    @app.post("/notes")
    def tell():
        desk.tell(request.json["text"])
        return {}

    @app.get("/notes")
    def notes():
        after = int(request.headers.get("Last-Event-ID", 0))

        def lines():
            for note in desk.listen(after):
                yield f"id: {note['n']}\\ndata: {note['text']}\\n\\n"

        return Response(lines(), mimetype="text/event-stream")
"""


@pytest.mark.parametrize(
    ("prepared", "outcome"),
    [
        ("[box.put(note) for note in self.kept if note['n'] > after]", Outcome.COMPARED),
        ("self.first = after > 0", Outcome.FROM_HEAD),
    ],
)
def test_what_a_request_puts_into_its_own_queue_is_a_replay_although_publishers_know_the_queue(
    prepared: str, outcome: Outcome
) -> None:
    stream = stream_of({"app.py": MAILBOX.replace("PREPARED", prepared)})
    assert stream.on_overlap is not None
    assert (stream.on_foreign.outcome, stream.on_overlap.outcome) == (outcome, outcome)
    assert stream.replay.live_tail is Where.MEMORY


HELD = "[box.put(note) for note in self.kept if note['n'] > after]"


@pytest.mark.parametrize(
    ("condition", "foreign", "known"),
    [
        ("self.kept and after >= self.kept[0]['n']", Outcome.COMPARED, Outcome.COMPARED),
        ("not (self.kept and self.kept[0]['n'] > after + 0)", Outcome.COMPARED, Outcome.COMPARED),
        ("self.kept and self.kept[0] and after <= self.kept[-1]['n']", Outcome.FROM_HEAD, Outcome.COMPARED),
    ],
)
def test_a_cursor_that_is_known_is_not_older_than_the_first_of_a_history(
    condition: str, foreign: Outcome, known: Outcome
) -> None:
    """Who asks first whether the cursor still stands in the buffer continues a client of its own; the newest element
    is another bound."""
    prepared = f"if {condition}:\n                {HELD}"
    stream = stream_of({"app.py": MAILBOX.replace("PREPARED", prepared)})
    assert stream.on_overlap is not None
    assert (stream.on_foreign.outcome, stream.on_overlap.outcome) == (foreign, known)


@pytest.mark.parametrize(("first", "all_of_it"), [("$", False), ("0", True)])
def test_a_stream_that_is_read_from_its_end(first: str, all_of_it: bool) -> None:
    """Redis has a sign for what is still to come. Look-alike: the sign for the start."""
    handler = f"""
    last = request.headers.get("last-event-id", "{first}")

    async def body(last):
        while True:
            for _, entries in log.xread({{"news": last}}, block=1000):
                for last, fields in entries:
                    yield {{"id": last, "data": fields["text"]}}

    return EventSourceResponse(body(last))
    """
    stream = stream_of(answered(handler, 'import redis\nlog = redis.from_url("redis://log")\n'))
    assert stream.on_missing is not None
    assert (stream.on_missing.outcome is Outcome.REPLAY_ALL) == all_of_it
    assert stream.on_foreign.outcome is Outcome.COMPARED
