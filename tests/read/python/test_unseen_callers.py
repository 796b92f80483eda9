"""Streams behind tables that only far code fills, and values that only a function looked at by itself gives."""

from __future__ import annotations

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
