"""Models that are made of rows, dicts and JSON, and say how they are sent."""

from __future__ import annotations

import pytest

from sselint.facts import IdKind, Outcome, Scope, Where
from tests.read.python.programs import stream_of

MODEL = """
import itertools

from fastapi import FastAPI, Header
from fastapi.responses import StreamingResponse
from pydantic import BaseModel
from redis import Redis
from sqlalchemy import create_engine, select
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column

server = FastAPI()


class Shown(BaseModel):
    id: int
    words: str

    def frame(self):
        return f"id: {self.id}\\ndata: {self.model_dump_json()}\\n\\n"
"""
ROWS = """

engine = create_engine("postgresql://club@base/club")


class Table(DeclarativeBase):
    pass


class Entry(Table):
    __tablename__ = "entries"
    id: Mapped[int] = mapped_column(primary_key=True)
    words: Mapped[str]


@server.get("/entries")
def entries(last_event_id: int = Header(0)):
    def body():
        with Session(engine) as session:
            for row in session.scalars(select(Entry).where(Entry.id > last_event_id)):
                yield MADE.frame()

    return StreamingResponse(body(), media_type="text/event-stream")
"""
LISTED = """

redis = Redis(host="cache")
numbers = itertools.count(1)
kept = []


@server.post("/entries")
def add(words: str):
    shown = Shown(id=next(numbers), words=words)
    PUT


@server.get("/entries")
def entries(last_event_id: int = Header(0)):
    def body():
        for held in ALL:
            shown = MADE
            if shown.id > last_event_id:
                yield shown.frame()

    return StreamingResponse(body(), media_type="text/event-stream")
"""


@pytest.mark.parametrize(
    "made",
    ["Shown.model_validate(row)", "Shown.from_orm(row)", "Shown.model_validate(row, from_attributes=True)"],
)
def test_a_model_of_a_row_has_its_id(made: str) -> None:
    stream = stream_of(MODEL + ROWS.replace("MADE", made))
    assert (stream.ids.kind, stream.ids.scope, stream.replay.where) == (IdKind.STORE, Scope.SHARED, Where.SHARED)
    assert stream.on_foreign.outcome is Outcome.COMPARED


@pytest.mark.parametrize(
    ("put", "made"),
    [
        ("kept.append(shown.model_dump_json())", "Shown.model_validate_json(held)"),
        ("kept.append(shown.model_dump())", "Shown.model_validate(held)"),
        ("kept.append(shown.dict())", "Shown(**held)"),
        ("kept.append(shown)", "Shown.model_validate(held)"),
    ],
)
def test_a_model_that_was_put_away_comes_back_as_it_was(put: str, made: str) -> None:
    text = LISTED.replace("PUT", put).replace("MADE", made).replace("ALL", "kept")
    stream = stream_of(MODEL + text)
    assert (stream.ids.kind, stream.ids.scope, stream.replay.where) == (
        IdKind.COUNTER,
        Scope.OVERLAPPING,
        Where.MEMORY,
    )
    assert stream.on_foreign.outcome is Outcome.COMPARED


def test_what_a_process_counted_is_counted_in_a_store_too() -> None:
    """Look-alike: the id comes out of the store, and a process put it there."""
    text = LISTED.replace("PUT", 'redis.rpush("all", shown.model_dump_json())')
    text = text.replace("MADE", "Shown.model_validate_json(held)").replace("ALL", 'redis.lrange("all", 0, -1)')
    stream = stream_of(MODEL + text)
    assert stream.ids.kind is IdKind.COUNTER
    assert stream.replay.where is Where.SHARED


def test_settings_out_of_sight_are_not_their_defaults() -> None:
    """Look-alike: what a file says that nobody reads here decides, and not what stands if it says nothing."""
    text = """
    import itertools
    import yaml
    from fastapi import FastAPI, Header
    from fastapi.responses import StreamingResponse
    from pydantic import BaseModel
    from redis import Redis

    server = FastAPI()

    class Settings(BaseModel):
        shared: bool = False

    with open("settings.yaml") as file:
        settings = Settings.model_validate(yaml.safe_load(file))

    class Kept:
        def __init__(self):
            self.kept = []
            self.numbers = itertools.count(1)

        def add(self, words):
            self.kept.append((next(self.numbers), words))

        def all(self):
            return list(self.kept)

    class Shared:
        def __init__(self):
            self.redis = Redis(host="cache")

        def add(self, words):
            self.redis.xadd("words", {"words": words})

        def all(self):
            return [(key, held["words"]) for key, held in self.redis.xrange("words")]

    store = Shared() if settings.shared else Kept()

    @server.post("/words")
    def add(words: str):
        store.add(words)

    @server.get("/words")
    def words():
        def body():
            for key, held in store.all():
                yield f"id: {key}\\ndata: {held}\\n\\n"

        return StreamingResponse(body(), media_type="text/event-stream")
    """
    assert stream_of(text).replay.where is Where.UNKNOWN
