"""Rows that are objects of a class of the tree, which says how they are sent."""

from __future__ import annotations

import pytest

from sselint.facts import IdKind, Scope, Where
from tests.read.python.programs import reading_of, stream_of

SERVER = """
from fastapi import FastAPI, Header
from fastapi.responses import StreamingResponse
from sqlalchemy import create_engine, select
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column

engine = create_engine("postgresql://club@base/club")
server = FastAPI()


class Table(DeclarativeBase):
    pass


class Entry(Table):
    __tablename__ = "entries"
    id: Mapped[int] = mapped_column(primary_key=True)
    words: Mapped[str]

    MEMBER


@server.get("/entries")
def entries(last_event_id: int = Header(0)):
    def body():
        with Session(engine) as session:
            for entry in session.scalars(select(Entry).where(Entry.id > last_event_id)):
                yield SENT

    return StreamingResponse(body(), media_type="text/event-stream")
"""
MEMBERS = [
    ('def frame(self):\n        return f"{head}data: {self.words}\\n\\n"', "entry.frame()"),
    ('@property\n    def frame(self):\n        return f"{head}data: {self.words}\\n\\n"', "entry.frame"),
    ('def frame(self, end):\n        return f"{head}data: {self.words}" + end', 'entry.frame("\\n\\n")'),
]


@pytest.mark.parametrize(("member", "sent"), MEMBERS)
def test_what_the_class_of_a_row_says_is_sent(member: str, sent: str) -> None:
    text = SERVER.replace("MEMBER", member.replace("{head}", "id: {self.id}\\n")).replace("SENT", sent)
    stream = stream_of(text)
    assert (stream.ids.kind, stream.ids.scope, stream.replay.where) == (IdKind.STORE, Scope.SHARED, Where.SHARED)


@pytest.mark.parametrize(("member", "sent"), MEMBERS)
def test_it_may_send_no_id(member: str, sent: str) -> None:
    """Look-alike: the row has an id, and what its class sends has none."""
    text = SERVER.replace("MEMBER", member.replace("{head}", "event: entry\\n")).replace("SENT", sent)
    assert stream_of(text).ids.kind is IdKind.NONE


def test_a_row_of_django_is_of_the_class_that_was_asked() -> None:
    files = {
        "club/asgi.py": "from django.core.asgi import get_asgi_application\n\napplication = get_asgi_application()\n",
        "club/settings.py": """
        ROOT_URLCONF = "club.urls"
        DATABASES = {"default": {"ENGINE": "django.db.backends.postgresql", "NAME": "club"}}
        """,
        "club/urls.py": """
        from django.urls import path
        from club import views

        urlpatterns = [path("news", views.news), path("faces", views.faces)]
        """,
        "club/models.py": """
        from django.db import models

        class News(models.Model):
            words = models.TextField()

            def frame(self):
                return f"id: {self.pk}\\ndata: {self.words}\\n\\n"

        class Face(models.Model):
            name = models.TextField()

            def frame(self):
                return f"data: {self.name}\\n\\n"
        """,
        "club/views.py": """
        from django.http import StreamingHttpResponse
        from club.models import Face, News

        def news(request):
            behind = int(request.headers.get("Last-Event-ID", 0))

            def body():
                for row in News.objects.filter(pk__gt=behind).order_by("pk"):
                    yield row.frame()

            return StreamingHttpResponse(body(), content_type="text/event-stream")

        def faces(request):
            def body():
                for row in Face.objects.all():
                    yield row.frame()

            return StreamingHttpResponse(body(), content_type="text/event-stream")
        """,
    }
    found = {s.symbol: s.ids.kind for s in reading_of(files).streams}
    assert found == {"news": IdKind.STORE, "faces": IdKind.NONE}


TORTOISE = """
import asyncio

from fastapi import FastAPI, Request
from sse_starlette import EventSourceResponse
from tortoise import Tortoise, fields
from tortoise.models import Model

server = FastAPI()


class Line(Model):
    words = fields.TextField()

    def event(self):
        return {HEAD"data": self.words}


@server.on_event("startup")
async def connect():
    await Tortoise.init(db_url="postgres://club@base/club", modules={"models": ["app"]})


@server.get("/lines")
async def lines(request: Request):
    behind = int(request.headers.get("last-event-id") or 0)

    async def body():
        for line in await Line.filter(id__gt=behind).order_by("id"):
            yield line.event()

    return EventSourceResponse(body())
"""


@pytest.mark.parametrize(("head", "kind"), [('"id": str(self.id), ', IdKind.STORE), ('"event": "line", ', IdKind.NONE)])
def test_a_row_that_a_method_of_its_class_asks_for_is_of_that_class(head: str, kind: IdKind) -> None:
    stream = stream_of(TORTOISE.replace("HEAD", head))
    assert (stream.ids.kind, stream.replay.where) == (kind, Where.SHARED)


RELATED = """
from fastapi import FastAPI, Header
from sqlalchemy import ForeignKey, create_engine
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column, relationship
from sse_starlette import EventSourceResponse

engine = create_engine("postgresql://club@base/club")
server = FastAPI()


class Table(DeclarativeBase):
    id: Mapped[int] = mapped_column(primary_key=True)


class Club(Table):
    __tablename__ = "clubs"
    entries: Mapped[list["Entry"]] = relationship()

    def event(self):
        return {"event": "club", "data": "open"}


class Entry(Table):
    __tablename__ = "entries"
    club: Mapped[int] = mapped_column(ForeignKey("clubs.id"))
    words: Mapped[str]

    def event(self):
        return {"id": str(self.id), "data": self.words}


@server.get("/entries/{club}")
def entries(club: int, last_event_id: int = Header(0)):
    def body():
        with Session(engine) as session:
            for entry in session.get(Club, club).entries:
                if entry.id > last_event_id:
                    yield SENT

    return EventSourceResponse(body())
"""


def test_what_a_row_holds_is_not_a_row_of_its_class() -> None:
    """Its method of the same name says nothing, and what the other one gives may well have an id."""
    assert stream_of(RELATED.replace("SENT", "entry.event()")).ids.kind is not IdKind.NONE


def test_a_field_of_a_row_is_data_without_an_id() -> None:
    """Look-alike: text of the row is all that is sent."""
    assert stream_of(RELATED.replace("SENT", "entry.words")).ids.kind is IdKind.NONE
