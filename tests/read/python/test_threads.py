"""What a thread gives, however it is waited for: by itself, as a task, behind a shield."""

from __future__ import annotations

import pytest

from sselint.facts import IdKind, Outcome, Where
from tests.read.python.programs import stream_of

ROWS = """
import asyncio
from typing import Annotated

from fastapi import FastAPI, Header
from fastapi.responses import StreamingResponse
from sqlalchemy import create_engine, select
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column, sessionmaker


class Base(DeclarativeBase):
    pass


class Happened(Base):
    __tablename__ = "happened"
    id: Mapped[int] = mapped_column(primary_key=True)
    text: Mapped[str]


sessions = sessionmaker(bind=create_engine("postgresql+psycopg://db/app"))
app = FastAPI()


def load(after):
    with sessions() as session:
        behind = select(Happened).where(Happened.id > after).order_by(Happened.id)
        return tuple({"id": row.id, "text": row.text} for row in session.scalars(behind))


async def apart(operation, /, *arguments):
    task = asyncio.create_task(asyncio.to_thread(operation, *arguments))
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.gather(task, return_exceptions=True)
        raise


async def body(after):
    for row in WAITED:
        if row["id"] is not None:
            yield f"id: {row['id']}\\ndata: {row['text']}\\n\\n"


@app.get("/events")
async def events(last: Annotated[int, Header(alias="Last-Event-ID")] = 0):
    return StreamingResponse(body(last), media_type="text/event-stream")
"""


@pytest.mark.parametrize(
    "waited",
    [
        "await asyncio.to_thread(load, after)",
        "await asyncio.create_task(asyncio.to_thread(load, after))",
        "await asyncio.shield(asyncio.ensure_future(asyncio.to_thread(load, after)))",
        "await apart(load, after)",
    ],
)
def test_rows_that_a_thread_reads_are_of_the_store(waited: str) -> None:
    stream = stream_of(ROWS.replace("WAITED", waited))
    assert (stream.ids.kind, stream.replay.where) == (IdKind.STORE, Where.SHARED)
    assert stream.on_foreign.outcome is Outcome.COMPARED


def test_what_is_not_understood_is_not_empty_because_it_may_be() -> None:
    unseen = "from elsewhere import unseen\n" + ROWS.replace("WAITED", "await unseen(after)")
    assert stream_of(unseen).on_foreign.outcome is Outcome.UNKNOWN
