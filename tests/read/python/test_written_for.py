"""Databases whose address only the environment knows, in a tree that is written for one kind of them."""

from __future__ import annotations

import pytest

from sselint.facts import Where
from tests.read.python.programs import reading_of

FEED = """
import os

from fastapi import FastAPI, Header
from fastapi.responses import StreamingResponse
from sqlalchemy import create_engine, text
from models import Event

app = FastAPI()
engine = create_engine({address})


@app.get("/feed")
def feed(last_event_id: int = Header(0)):
    def body():
        with engine.connect() as connection:
            rows = connection.execute(text("SELECT id, body FROM events WHERE id > :last"), {{"last": last_event_id}})
            for row in rows:
                yield f"id: {{row.id}}\\ndata: {{row.body}}\\n\\n"

    return StreamingResponse(body(), media_type="text/event-stream")
"""
MODELS = """
from sqlalchemy import BigInteger, Column
from sqlalchemy.{kind} import {name}
from sqlalchemy.orm import DeclarativeBase


class Base(DeclarativeBase):
    pass


class Event(Base):
    __tablename__ = "events"
    id = Column(BigInteger, primary_key=True)
    body = Column({name})
"""


def _place(address: str, kind: str, name: str, more: str = "") -> Where:
    files = {"app.py": FEED.format(address=address), "models.py": MODELS.format(kind=kind, name=name), "more.py": more}
    (stream,) = [s for s in reading_of(files).streams if s.url == "/feed"]
    return stream.replay.where


@pytest.mark.parametrize(
    ("address", "kind", "name"),
    [
        ('os.environ["DATABASE_URL"]', "dialects.postgresql", "JSONB"),
        ('os.environ["DATABASE_URL"].replace("postgres://", "postgresql+psycopg://")', "types", "JSON"),
    ],
)
def test_columns_of_one_kind_of_server_say_that_it_is_one(address: str, kind: str, name: str) -> None:
    assert _place(address, kind, name) is Where.SHARED


@pytest.mark.parametrize(
    ("kind", "name", "more"),
    [("types", "JSON", ""), ("dialects.postgresql", "JSONB", 'FALLBACK = "sqlite:///events.db"')],
)
def test_a_tree_that_runs_on_others_too_says_nothing(kind: str, name: str, more: str) -> None:
    """Look-alikes: columns that every database has, and a tree that speaks of a file as well."""
    assert _place('os.environ["DATABASE_URL"]', kind, name, more) is Where.UNKNOWN


def test_an_address_that_is_written_down_says_more() -> None:
    assert _place('"sqlite:////data/events.db"', "dialects.postgresql", "JSONB") is Where.POD_DISK
