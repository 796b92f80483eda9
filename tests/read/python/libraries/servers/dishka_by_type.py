"""Fires: a board that the container holds for the whole process, asked for by its type, numbers its notes."""

import asyncio

from dishka import Provider, Scope, make_async_container
from dishka.integrations.fastapi import FromDishka, inject, setup_dishka
from fastapi import FastAPI, Header
from fastapi.responses import StreamingResponse


class Board:
    def __init__(self):
        self.notes = []

    def pin(self, text):
        self.notes.append((len(self.notes), text))

    async def since(self, position):
        while True:
            for number, text in list(self.notes):
                if number > position:
                    position = number
                    yield f"id: {number}\ndata: {text}\n\n"
            await asyncio.sleep(0.5)


app = FastAPI()


@app.post("/pin")
@inject
async def pin(text: str, board: FromDishka[Board]):
    board.pin(text)


@app.get("/board")
@inject
async def board(board: FromDishka[Board], last_event_id: int = Header(-1)):
    return StreamingResponse(board.since(last_event_id), media_type="text/event-stream")


services = Provider(scope=Scope.APP)
services.provide(Board)
setup_dishka(make_async_container(services), app)
