"""Columns that the database numbers without being the key of their table: an identity, a sequence, a serial."""

from __future__ import annotations

import pytest

from sselint.facts import IdKind, Scope
from tests.read.python.programs import stream_of

NEWS = """
import asyncio
from fastapi import FastAPI, Header
from fastapi.responses import StreamingResponse
from sqlalchemy import BigInteger, Column, Identity, Integer, Sequence, create_engine, select
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column

app = FastAPI()
engine = create_engine("postgresql://db/news")
numbers = Sequence("numbers")
queues = []


class Base(DeclarativeBase):
    pass


class News(Base):
    __tablename__ = "news"
    text: Mapped[str] = mapped_column(primary_key=True)
    NUMBER


@app.post("/news")
async def publish(text: str):
    with Session(engine) as session:
        news = News(text=text)
        session.add(news)
        session.flush()
        for queue in queues:
            await queue.put({"id": str(news.number), "data": news.text})
        session.commit()


@app.get("/news")
def news(seen: int = Header(0, alias="Last-Event-ID")):
    queue = asyncio.Queue()
    queues.append(queue)

    async def body():
        with Session(engine) as session:
            for row in session.scalars(select(News).where(News.number > seen).order_by(News.number)):
                yield f"id: {row.number}\\ndata: {row.text}\\n\\n"
        while True:
            entry = await queue.get()
            yield f"id: {entry['id']}\\ndata: {entry['data']}\\n\\n"

    return StreamingResponse(body(), media_type="text/event-stream")
"""


@pytest.mark.parametrize(
    "number",
    [
        "number: Mapped[int] = mapped_column(BigInteger, numbers, unique=True)",
        "number: Mapped[int] = mapped_column(BigInteger, Sequence('other'), unique=True)",
        "number: Mapped[int] = mapped_column(Identity(always=True), unique=True)",
        "number: Mapped[int] = mapped_column(server_default=numbers.next_value())",
        "number: Mapped[int] = mapped_column(autoincrement=True, unique=True)",
        "number = Column(Integer, numbers)",
        "number = Column('number', Integer, Identity())",
    ],
)
def test_the_database_numbers_the_column(number: str) -> None:
    ids = stream_of(NEWS.replace("NUMBER", number)).ids
    assert (ids.kind, ids.scope) == (IdKind.STORE, Scope.SHARED)


@pytest.mark.parametrize(
    "number",
    [
        "number: Mapped[int] = mapped_column(BigInteger, unique=True)",
        "number: Mapped[int] = mapped_column(autoincrement=False)",
        "number = Column(Integer)",
    ],
)
def test_a_column_that_nothing_sets_is_not_known(number: str) -> None:
    """Look-alikes: a trigger may set it."""
    assert stream_of(NEWS.replace("NUMBER", number)).ids.kind is IdKind.UNKNOWN


def test_a_column_of_a_field_is_numbered_as_it_says() -> None:
    source = NEWS.replace("class News(Base):", "class News(SQLModel, table=True):").replace(
        "from sqlalchemy.orm import", "from sqlmodel import Field, SQLModel\nfrom sqlalchemy.orm import"
    )
    source = source.replace(
        "text: Mapped[str] = mapped_column(primary_key=True)", "text: str = Field(primary_key=True)"
    )
    numbered = "number: int = Field(default=None, sa_column=Column(BigInteger, Identity(), unique=True))"
    assert stream_of(source.replace("NUMBER", numbered)).ids.kind is IdKind.STORE
