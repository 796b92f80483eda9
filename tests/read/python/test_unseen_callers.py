"""Streams behind tables that only far code fills, and values that only a function looked at by itself gives."""

from __future__ import annotations

import pytest

from sselint.facts import IdKind, Outcome, Where
from tests.read.python.programs import reading_of, stream_of

BOARD = """
from dataclasses import dataclass

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, StreamingResponse
from starlette.routing import Route


@dataclass
class Card:
    place: int
    text: str


class Board:
    def __init__(self):
        self.desks = {}
        self.cards = {}

    async def open(self, desk, owner):
        self.desks[desk] = owner

    async def pin(self, desk, text):
        if desk not in self.cards:
            self.cards[desk] = []
        pinned = self.cards[desk]
        place = pinned[-1].place + 1 if pinned else 0
        pinned.append(Card(place=place, text=text))

    def behind(self, desk, place):
        return [card for card in self.cards.get(desk, []) if card.place > place]


async def refuse(request, error):
    return JSONResponse({"detail": error.detail}, status_code=error.status_code)


class Service:
    def __init__(self, board=None):
        self.board = board or Board()
        self.app = Starlette(
            routes=[Route("/desks/{desk}", self.desk)], exception_handlers={HTTPException: refuse}
        )

    async def desk(self, request):
        desk = request.path_params["desk"]
        if desk not in self.board.desks:
            raise HTTPException(status_code=404, detail="no such desk")
        seen = int(request.headers.get("last-event-id", "-1"))

        async def body():
            for card in self.board.behind(desk, seen):
                yield f"id: {card.place}\\ndata: {card.text}\\n\\n"

        return StreamingResponse(body(), media_type="text/event-stream")


service = Service()
app = service.app
"""


def test_a_stream_behind_a_table_that_nobody_is_seen_to_fill_is_found() -> None:
    found = stream_of(BOARD)
    assert found.symbol == "Service.desk"
    assert found.ids.kind is IdKind.COUNTER
    assert (found.replay.where, found.on_foreign.outcome) == (Where.MEMORY, Outcome.COMPARED)
    assert [guard.key for guard in found.guards]


def test_a_handler_that_only_refuses_is_still_no_stream() -> None:
    always = BOARD.replace("if desk not in self.board.desks:\n            raise", "raise")
    assert reading_of({"app.py": always}).streams == ()


def test_a_handler_of_an_error_is_told_its_status() -> None:
    stale = BOARD.replace(
        'seen = int(request.headers.get("last-event-id", "-1"))',
        'seen = int(request.headers.get("last-event-id", "-1"))\n'
        "        if seen not in [card.place for card in self.board.cards[desk]]:\n"
        '            raise HTTPException(409, "gone")',
    )
    found = stream_of(stale)
    assert (found.on_foreign.outcome, found.on_foreign.status) == (Outcome.FAIL_CLOSED, 409)


def test_three_numbers_that_are_written_down_apart_are_no_counter() -> None:
    found = stream_of(
        """
        from fastapi import FastAPI
        from fastapi.responses import StreamingResponse

        app = FastAPI()


        class Level:
            def __init__(self, number):
                self.number = number


        LEVELS = [Level(10), Level(20), Level(40)]


        @app.get("/levels")
        def levels():
            def body():
                for level in LEVELS:
                    yield f"id: {level.number}\\ndata: -\\n\\n"

            return StreamingResponse(body(), media_type="text/event-stream")
        """
    )
    assert found.ids.kind is IdKind.CONSTANT


WORKSHOP = """
import sys

from starlette.applications import Starlette
from starlette.responses import StreamingResponse
from starlette.routing import Route


def paint(text):
    yield f"data: {text}\\n\\n"


async def tools(request):
    return StreamingResponse(paint("hammer"), media_type="text/event-stream")


def checked(options):
    missing = set(options) - {"name"}
    if missing:
        raise ValueError(f"not known: {sorted(missing)}")
    return options


def make(*, options):
    checked(options)
    return Starlette(routes=[Route("/tools", tools)])


def main():
    app = make(options=sys.argv[1:] and {"name": sys.argv[1]})
    return app
"""


def test_an_application_whose_maker_fails_on_the_first_way_is_made_on_another() -> None:
    assert [s.symbol for s in reading_of({"app.py": WORKSHOP}).streams] == ["tools"]


CHOSEN = """
import os
import uuid
from itertools import count

from fastapi import FastAPI, Header
from fastapi.responses import StreamingResponse

app = FastAPI()


class Log:
    def all(self):
        raise NotImplementedError


class Counted(Log):
    def __init__(self):
        self.numbers, self.lines = count(1), []

    def add(self, text):
        self.lines.append((next(self.numbers), text))

    def all(self):
        return list(self.lines)


class Drawn(Log):
    def __init__(self):
        self.lines = []

    def add(self, text):
        self.lines.append((uuid.uuid4().hex, text))

    def all(self):
        return list(self.lines)


log = Counted() if os.environ.get("COUNTED") else Drawn()


@app.post("/lines")
def line(text: str):
    log.add(text)


@app.get("/lines")
def lines():
    def body():
        for key, text in log.all():
            yield f"id: {key}\\ndata: {text}\\n\\n"

    return StreamingResponse(body(), media_type="text/event-stream")
"""


def test_what_the_environment_chooses_is_told_for_each_class_too() -> None:
    found = {s.symbol: s for s in reading_of({"app.py": CHOSEN}).streams}
    assert found["lines"].ids.kind is IdKind.UNKNOWN
    assert "COUNTED" in found["lines"].ids.why
    assert (found["Counted"].ids.kind, found["Drawn"].ids.kind) == (IdKind.COUNTER, IdKind.RANDOM)
    assert not found["Counted"].apps


def test_what_is_closed_at_the_end_is_not_taken_for_its_first_element() -> None:
    found = stream_of(
        """
        from contextlib import aclosing
        from itertools import count

        from fastapi import FastAPI
        from fastapi.responses import StreamingResponse

        app = FastAPI()
        numbers = count(1)
        kept = []


        @app.post("/words")
        def word(text: str):
            kept.append((next(numbers), text))


        async def words():
            for number, text in list(kept):
                yield f"id: {number}\\ndata: {text}\\n\\n"


        async def encoded(source):
            async with aclosing(source) as inner:
                async for chunk in inner:
                    yield chunk.encode("utf-8")


        @app.get("/words")
        async def feed():
            return StreamingResponse(encoded(words()), media_type="text/event-stream")
        """
    )
    assert (found.ids.kind, found.replay.where) == (IdKind.COUNTER, Where.MEMORY)


@pytest.mark.parametrize(
    ("step", "kind"),
    [
        ("number := number + 1", IdKind.COUNTER),
        ("number := 1 + 6", IdKind.CONSTANT),
    ],
)
def test_a_number_is_counted_however_that_is_written(step: str, kind: IdKind) -> None:
    found = stream_of(
        f"""
        from fastapi import FastAPI
        from fastapi.responses import StreamingResponse

        app = FastAPI()


        def framed(number, text):
            return f"id: {{number}}\\ndata: {{text}}\\n\\n"


        @app.get("/steps")
        def steps():
            def body():
                number = 0
                yield framed({step}, "first")
                for text in ("cut", "glue"):
                    yield framed({step}, text)

            return StreamingResponse(body(), media_type="text/event-stream")
        """
    )
    assert found.ids.kind is kind
