"""Resuming by request body: fields of a record, refusals that are events of a 200 stream, counts of logs."""

from __future__ import annotations

import pytest

from sselint.facts import KeyOrigin, Outcome, Truth
from tests.read.python.programs import stream_of

LOGS = """
    import secrets
    from dataclasses import dataclass, field
    from fastapi import FastAPI, Request
    from fastapi.responses import StreamingResponse
    from pydantic import BaseModel

    app = FastAPI()

    @dataclass
    class Line:
        number: int
        key: str
        text: str

    @dataclass
    class Log:
        token: str
        lines: list[Line] = field(default_factory=list)
        next_number: int = 0

        def write(self, text: str) -> Line:
            number = self.next_number
            self.next_number += 1
            line = Line(number, f"{self.token}:{number}", text)
            self.lines.append(line)
            if len(self.lines) > 50:
                self.lines = self.lines[-50:]
            return line

    class Logs:
        def __init__(self):
            self.by_token: dict[str, Log] = {}

        def begin(self) -> Log:
            token = secrets.token_hex(8)
            log = Log(token)
            self.by_token[token] = log
            log.write("begun")
            return log

    logs = Logs()

    class Ask(BaseModel):
        question: str
        again: str | None = None
        FIELD: str | None = None

    @app.post("/begin")
    async def begin():
        return {"token": logs.begin().token}

    async def unknown():
        REFUSAL

    async def rest(log, after):
        for line in log.lines:
            if line.number > after:
                yield f"id: {line.key}\\ndata: {line.text}\\n\\n"

    @app.post("/ask")
    async def ask(body: Ask, request: Request):
        log = logs.by_token.get(body.again)
        if log is None:
            return StreamingResponse(unknown(), media_type="text/event-stream")
        after = int(body.FIELD.rsplit(":", 1)[1]) if body.FIELD else -1
        return StreamingResponse(rest(log, after), media_type="text/event-stream")
    """
REFUSAL = 'yield "event: error\\ndata: no such answer\\n\\n"'


def program(field: str = "last_event_id", refusal: str = REFUSAL) -> str:
    """A server whose clients name the log and the cursor in the body."""
    return LOGS.replace("FIELD", field).replace("REFUSAL", refusal)


def test_a_cursor_in_a_field_of_the_body() -> None:
    """The field that is called so is the cursor, and what is after it is sent."""
    stream = stream_of(program())
    assert (stream.cursor.read, stream.cursor.how) == (Truth.YES, "body last_event_id")
    assert stream.on_foreign.outcome is Outcome.COMPARED, "a number of the log is no constant, whatever it is at first"


def test_another_field_is_none() -> None:
    """The look-alike: a field of another name holds something else."""
    stream = stream_of(program("page"))
    assert stream.cursor.read is Truth.NO


def test_an_event_that_refuses_is_a_guard() -> None:
    """The log is not known here: an event says so, and nothing else is sent."""
    guard = next(g for g in stream_of(program()).guards if g.key == "again")
    assert (guard.origin, guard.status) == (KeyOrigin.RANDOM_LOCAL, None)


@pytest.mark.parametrize(
    "refusal",
    [
        'yield "event: welcome\\ndata: begin anew\\n\\n"',
        'yield "event: error\\ndata: lost\\n\\n"\n        yield "id: 1\\ndata: begin anew\\n\\n"',
    ],
    ids=["another event", "and goes on"],
)
def test_an_event_that_does_not_refuse_is_none(refusal: str) -> None:
    """The look-alikes: an event of another meaning, and one that is followed by others."""
    assert not stream_of(program(refusal=refusal)).guards


UNKNOWN_CURSOR = """
    from sse_starlette import EventSourceResponse
    from starlette.applications import Starlette
    from starlette.routing import Route
    from uuid import uuid4

    log = []

    async def add(request):
        log.append((uuid4().hex, "news"))

    async def feed(request):
        async def body():
            last = request.headers.get("last-event-id")
            keys = [key for key, _ in log]
            if last is not None and last not in keys:
                yield {"event": "NAME", "data": "that id is not from here"}
                return
            for key, text in log:
                yield {"id": key, "data": text}

        return EventSourceResponse(body())

    app = Starlette(routes=[Route("/feed", feed), Route("/add", add, methods=["POST"])])
    """


@pytest.mark.parametrize(("name", "refuses"), [("error", True), ("cursor_not_found", True), ("done", False)])
def test_an_unknown_cursor_that_an_event_refuses(name: str, refuses: bool) -> None:
    """An event that says so, and the end of the stream, is an answer that no client takes for the rest of it."""
    run = stream_of(UNKNOWN_CURSOR.replace("NAME", name)).on_foreign
    assert (run.outcome is Outcome.FAIL_CLOSED) is refuses
    assert run.reset is refuses


KEPT = """
    from sse_starlette import EventSourceResponse
    from starlette.applications import Starlette
    from starlette.routing import Route

    class News:
        def __init__(self):
            self.number = 0
            self.kept = []

        def add(self, text):
            self.number += 1
            self.kept.append((self.number, text))
            self.kept = self.kept[-20:]

    news = News()

    async def add(request):
        news.add("more")

    async def feed(request):
        last = int(request.headers.get("last-event-id", 0))

        async def body():
            for number, text in news.kept:
                if number > last:
                    yield {"id": str(number), "data": text}

        return EventSourceResponse(body())

    app = Starlette(routes=[Route("/feed", feed), Route("/add", add, methods=["POST"])])
    """


def test_the_tail_that_is_kept_is_compared_like_the_whole() -> None:
    """What was sliced when it was stored stands before and behind the cursor, as any log does."""
    stream = stream_of(KEPT)
    assert stream.on_foreign.outcome is Outcome.COMPARED
    assert stream.on_overlap is not None
    assert stream.on_overlap.outcome is Outcome.COMPARED


def test_what_the_run_itself_put_there_is_there() -> None:
    """A key that is missing and added is found afterwards: nothing is refused for it."""
    stream = stream_of("""
        from sse_starlette import EventSourceResponse
        from starlette.applications import Starlette
        from starlette.routing import Route

        rooms = {}

        async def feed(request):
            room = request.path_params["room"]
            if room not in rooms:
                rooms[room] = {}
            rooms[room]["seen"] = "yes"

            async def body():
                yield {"data": "hello"}

            return EventSourceResponse(body())

        app = Starlette(routes=[Route("/rooms/{room}", feed)])
        """)
    assert not stream.guards
