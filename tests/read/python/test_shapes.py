"""How programs are put together around a stream: factories, bare decorators, tables, positions, what the environment
chooses. Each shape that must be seen stands beside one that looks like it and must stay silent, or say something else.
"""

from __future__ import annotations

import pytest

from sselint.facts import IdKind, Outcome, Scope, Setting, Where
from tests.read.python.programs import answered, reading_of, settings, stream_of

FACTORY = """
from itertools import count
from fastapi import FastAPI, Request
from fastapi.responses import StreamingResponse

numbers = count(1)
log = []


def create_app():
    app = FastAPI()

    @app.post("/news")
    def publish(text: str):
        log.append((next(numbers), text))

    @app.get("/news")
    def news(request: Request):
        last = int(request.headers.get("last-event-id", 0))
        events = (f"id: {number}\\ndata: {text}\\n\\n" for number, text in log if number > last)
        return StreamingResponse(events, media_type="text/event-stream")

    return app
"""


def test_what_one_factory_puts_together_whole_is_found_although_nothing_calls_it() -> None:
    stream = stream_of(FACTORY)
    assert (stream.url, len(stream.apps)) == ("/news", 1)
    assert (stream.replay.where, stream.on_foreign.outcome) == (Where.MEMORY, Outcome.COMPARED)


@pytest.mark.parametrize(
    ("made", "put", "sent"),
    [
        ("log = []", "log.append((next(numbers), text))", "log"),
        ("app.state.log = []", "app.state.log.append((next(numbers), text))", "request.app.state.log"),
        ("log = Kept()", "log.add(next(numbers), text)", "log.lines"),
        ("log = log or Kept()", "log.add(next(numbers), text)", "log.lines"),
    ],
)
def test_what_a_factory_keeps_for_its_handlers_is_there_for_all_requests(made: str, put: str, sent: str) -> None:
    kept = "class Kept:\n    def __init__(self):\n        self.lines = []\n\n"
    kept += "    def add(self, number, text):\n        self.lines.append((number, text))\n\n\ndef create_app("
    text = FACTORY.replace("\nlog = []\n", "").replace("def create_app(", kept + ("log=None" if "or" in made else ""))
    text = text.replace("FastAPI()", f"FastAPI()\n    {made}").replace("log.append((next(numbers), text))", put)
    stream = stream_of(text.replace("text in log if", f"text in {sent} if"))
    assert (stream.ids.kind, stream.replay.where) == (IdKind.COUNTER, Where.MEMORY)
    assert stream.on_foreign.outcome is Outcome.COMPARED


def test_what_a_handler_makes_is_of_its_request_alone() -> None:
    """Look-alike: the handler makes it, not the factory."""
    text = FACTORY.replace("        last = int", "        log = []\n        last = int")
    assert stream_of(text).replay.where is not Where.MEMORY


def test_what_is_put_into_an_application_of_nobody_is_no_endpoint() -> None:
    """Look-alike: what the function makes is no application of a library that is known."""
    other = FACTORY.replace(
        "from fastapi import FastAPI, Request", "from fastapi import Request\nfrom ours import Desk"
    )
    assert not any(s.apps for s in reading_of({"app.py": other.replace("FastAPI()", "Desk()")}).streams)


def test_what_a_factory_makes_is_found_although_nothing_in_the_tree_calls_it() -> None:
    """The command line calls it, as in `gunicorn "shop:create_app()"`; a view reads what only the factory made."""
    stream = stream_of(
        {
            "shop/__init__.py": """
            from flask import Flask

            def create_app():
                app = Flask(__name__)
                from .log import Log
                from .views import bp
                app.log = Log()
                app.register_blueprint(bp, url_prefix="/api")
                return app
            """,
            "shop/log.py": """
            class Log:
                def __init__(self):
                    self.lines = []

                def add(self, line):
                    self.lines.append(line)
                    return len(self.lines)
            """,
            "shop/views.py": """
            from flask import Blueprint, current_app, make_response, request

            bp = Blueprint("lines", __name__)

            @bp.post("/lines")
            def add():
                return {"number": current_app.log.add(request.json["line"])}

            @bp.get("/lines")
            def follow():
                since = request.headers.get("Last-Event-ID", default=0, type=int)

                def frames():
                    for number, line in enumerate(current_app.log.lines[since:], since + 1):
                        yield f"id: {number}\\ndata: {line}\\n\\n"

                return make_response(frames(), {"Content-Type": "text/event-stream"})
            """,
        }
    )
    assert (stream.url, stream.replay.where) == ("/api/lines", Where.MEMORY)
    assert stream.ids.scope is Scope.OVERLAPPING


@pytest.mark.parametrize(
    ("store", "where"),
    [("Redis(host='cache')", Where.SHARED), ("archive.connect()", Where.UNKNOWN)],
    ids=["redis", "a library that nobody knows"],
)
def test_a_handler_registered_without_brackets_runs_at_start_up(store: str, where: Where) -> None:
    """`@app.before_server_start` without brackets. Look-alike: what it sets is out of sight, and so stays unknown."""
    stream = stream_of(f"""
        import archive
        from redis.asyncio import Redis
        from sanic import Sanic

        app = Sanic("scores")

        @app.before_server_start
        async def connect(app):
            app.ctx.redis = {store}

        @app.get("/scores")
        async def scores(request):
            last = request.headers.get("last-event-id") or "0"
            response = await request.respond(content_type="text/event-stream")
            while True:
                for _, rows in await request.app.ctx.redis.xread({{"scores": last}}, block=1000):
                    for last, fields in rows:
                        await response.send(f"id: {{last}}\\ndata: {{fields['score']}}\\n\\n")
        """)
    assert stream.replay.where is where


STEPS = """
async def body():
    for number, step in enumerate(STEPS):
        if number >= first:
            yield {"id": str(number), "data": step}

return EventSourceResponse(body())
"""


@pytest.mark.parametrize(
    ("table", "where", "scope"),
    [
        ('STEPS = ("open", "choose", "invite")', Where.SHARED, Scope.SHARED),
        ('STEPS = ["open"]\n\n\ndef learn(step):\n    STEPS.append(step)', Where.MEMORY, Scope.OVERLAPPING),
    ],
    ids=["written down", "grows"],
)
def test_positions_in_a_table(table: str, where: Where, scope: Scope) -> None:
    """A tuple is the same on every process. Look-alike: a list that code adds to is not."""
    read = 'first = int(request.headers.get("last-event-id", -1)) + 1\n'
    stream = stream_of(answered(read + STEPS, table))
    assert (stream.replay.where, stream.ids.scope) == (where, scope)
    assert stream.on_foreign.outcome in (Outcome.COMPARED, Outcome.FROM_HEAD)


@pytest.mark.parametrize("known", [True, False], ids=["asked for with the cursor", "not asked for at all"])
def test_what_is_not_understood_is_unknown_and_neither_ignored_nor_nothing(known: bool) -> None:
    """Events that an unknown library gives for the cursor. Look-alike: it is not given the cursor, which is ignored."""
    given = "cursor" if known else ""
    stream = stream_of(
        answered(
            f"""
            cursor = request.headers.get("last-event-id")

            async def body():
                for row in archive.read({given}):
                    yield {{"id": row.key, "data": row.text}}

            return EventSourceResponse(body())
            """,
            "import archive",
        )
    )
    assert stream.on_foreign.outcome is (Outcome.UNKNOWN if known else Outcome.IGNORED)
    assert stream.replay.where is (Where.UNKNOWN if known else Where.NONE)
    assert stream.replay.live_tail in ((Where.UNKNOWN, Where.NONE) if known else (Where.NONE,))


ROOMS = """
from collections import defaultdict
import itertools


class Room:
    def __init__(self):
        self.numbers = itertools.count(1)
        self.said = []


rooms = {rooms}


def say(name, text):
    room = rooms[name]
    room.said.append((next(room.numbers), text))
"""


@pytest.mark.parametrize(
    ("rooms", "outcome"), [("defaultdict(Room)", Outcome.COMPARED), ("{}", None)], ids=["defaultdict", "dict"]
)
def test_a_defaultdict_keeps_what_it_makes(rooms: str, outcome: Outcome | None) -> None:
    """What one handler adds to `rooms[name]` is what another finds there. Look-alike: a dict raises for a new name."""
    stream = stream_of(
        answered(
            """
            after = int(request.headers.get("last-event-id") or 0)
            room = rooms[request.path_params["name"]]

            async def body():
                for number, text in room.said:
                    if number > after:
                        yield {"id": str(number), "data": text}

            return EventSourceResponse(body())
            """,
            ROOMS.format(rooms=rooms),
        )
    )
    assert (stream.replay.where is Where.MEMORY) == (outcome is not None)
    assert stream.on_foreign.outcome is outcome or outcome is None


LOGS = """
import itertools
import os

from redis.asyncio import Redis


class MemoryLog:
    def __init__(self):
        self.rows, self.numbers = [], itertools.count(1)

    def append(self, text):
        self.rows.append((str(next(self.numbers)), text))

    async def after(self, last):
        return [row for row in self.rows if int(row[0]) > int(last)]


class RedisLog:
    def __init__(self):
        self.redis = Redis(host="cache")

    async def after(self, last):
        return [(key, fields["text"]) for key, fields in await self.redis.xrange("log", min=f"({last}")]


def chosen():
    match os.environ.get("LOG", "memory"):
        case "redis":
            return RedisLog()
        case _:
            return MemoryLog()


class State:
    def __init__(self):
        self.log = chosen()


state = State()
"""


@pytest.mark.parametrize(
    ("value", "where"), [(None, Where.UNKNOWN), ("redis", Where.SHARED), ("memory", Where.MEMORY)], ids=str
)
def test_an_attribute_that_the_environment_chose(value: str | None, where: Where) -> None:
    """Left open it is unknown because of the variable, which is named so that the deployment's files can settle it."""
    program = answered(
        """
        last = request.headers.get("last-event-id") or "0"

        async def body():
            for key, text in await state.log.after(last):
                yield {"id": key, "data": text}

        return EventSourceResponse(body())
        """,
        LOGS,
    )
    stream = stream_of(program, settings(LOG=value) if value else settings(settled=False))
    assert stream.replay.where is where
    assert ("LOG" in stream.environment) is (value is None)


@pytest.mark.parametrize(
    ("start", "workers"),
    [
        ('uvicorn.run("app:app", workers=4)', 4),
        ('uvicorn.run("app:app")', 1),
        ('uvicorn.Server(uvicorn.Config("app:app", workers=4)).run()', 1),
    ],
    ids=["workers", "one", "in this process"],
)
def test_how_many_processes_uvicorn_starts(start: str, workers: int) -> None:
    """`uvicorn.run` starts them. Look-alike: `Server.run` serves in the calling process, whatever its settings say."""
    app = answered("""
        async def body():
            for key, text in log:
                yield {"id": key, "data": text}

        return EventSourceResponse(body())
        """)
    (pool,) = reading_of({"app.py": app, "serve.py": f"import uvicorn\n\n{start}\n"}).pools
    assert (pool.processes.low, pool.processes.high, pool.starts) == (workers, workers, "app:app")


def test_uvicorn_asks_the_environment_where_no_number_is_given() -> None:
    app = answered('return EventSourceResponse({"id": key, "data": text} for key, text in log)')
    files = {"app.py": app, "serve.py": 'import uvicorn\n\nuvicorn.run("app:app")\n'}
    (pool,) = reading_of(files).pools
    assert (pool.processes.low, pool.processes.high) == (1, 1)
    assert pool.number_from == Setting("WEB_CONCURRENCY", "1")


COUNTED = """
latest, events = 0, {}


def publish(text):
    global latest
    latest += 1
    events[latest] = text
"""


@pytest.mark.parametrize(
    ("sent", "where", "kind"),
    [("events[number]", Where.MEMORY, IdKind.COUNTER), ('"tick"', Where.NONE, IdKind.COUNTER)],
    ids=["an entry of that number", "a constant"],
)
def test_a_number_under_which_events_are_kept(sent: str, where: Where, kind: IdKind) -> None:
    """`events[number]` is the event of that number. Look-alike: the number counts what one connection was sent."""
    stream = stream_of(
        answered(
            f"""
            cursor = request.headers.get("last-event-id")
            if cursor and int(cursor) not in events:
                return Response("unknown", status_code=409)
            start = int(cursor) if cursor else latest

            async def body():
                number = start
                while number < latest:
                    number += 1
                    yield {{"id": str(number), "data": {sent}}}

            return EventSourceResponse(body())
            """,
            COUNTED,
        )
    )
    assert (stream.replay.where, stream.ids.kind, stream.on_foreign.outcome) == (where, kind, Outcome.FAIL_CLOSED)


NEWER = """
import uuid
from itertools import takewhile

log = []


def publish(text):
    log.append({{"id": {id}, "text": text}})
"""


@pytest.mark.parametrize(
    "frame",
    [
        '"id: {id}\\ndata: {text}\\n\\n".format_map(e)',
        '"id: %(id)s\\ndata: x\\n\\n" % e',
        '"id: {0[id]}\\ndata: x\\n\\n".format(e)',
        '"id: {id}\\ndata: x\\n\\n".format(**e)',
    ],
)
def test_the_newest_first_until_the_cursor_is_met(frame: str) -> None:
    """A foreign cursor is never met, and so everything is sent again; one of this process is continued."""
    stream = stream_of(
        answered(
            f"""
            from starlette.responses import StreamingResponse
            cursor = request.headers.get("last-event-id")
            newer = list(takewhile(lambda e: e["id"] != cursor, reversed(log)))
            return StreamingResponse(({frame} for e in reversed(newer)), media_type="text/event-stream")
            """,
            NEWER.format(id="uuid.uuid4().hex"),
        )
    )
    assert (stream.ids.scope, stream.on_foreign.outcome) == (Scope.UNIQUE_LOCAL, Outcome.REPLAY_ALL)


def test_attributes_that_a_template_names() -> None:
    """`{e.id}` is the attribute. Look-alike: one that is the same for all is written down."""
    store = """
import uuid


class Event:
    kind = "note"

    def __init__(self):
        self.id = uuid.uuid4().hex


log = []


def publish():
    log.append(Event())
"""
    body = """
from starlette.responses import StreamingResponse
frames = ("id: {e.ATTRIBUTE}\\ndata: x\\n\\n".format(e=e) for e in log)
return StreamingResponse(frames, media_type="text/event-stream")
"""
    assert stream_of(answered(body.replace("ATTRIBUTE", "id"), store)).ids.kind is IdKind.RANDOM
    assert stream_of(answered(body.replace("ATTRIBUTE", "kind"), store)).ids.kind is not IdKind.RANDOM
