"""Questions put together from calls: columns that keywords name have to be equal; one may stand in another."""

from __future__ import annotations

import pytest

from sselint.facts import Outcome
from tests.read.python.programs import stream_of

PROGRAM = """
from fastapi import FastAPI, HTTPException, Request
from fastapi.responses import StreamingResponse
from sqlalchemy import create_engine, select
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column

app = FastAPI()
session = Session(create_engine("postgresql://db/app"))


class Base(DeclarativeBase):
    pass


class Event(Base):
    __tablename__ = "events"
    id: Mapped[int] = mapped_column(primary_key=True)
    run: Mapped[str] = mapped_column()
    seq: Mapped[int] = mapped_column()
    text: Mapped[str] = mapped_column()


@app.get("/runs/{{run}}")
def feed(run: str, request: Request):
    last = int(request.headers.get("last-event-id", 0))
    {guard}

    def frames():
        for e in session.scalars({read}):
            yield f"id: {{e.id}}\\ndata: {{e.text}}\\n\\n"

    return StreamingResponse(frames(), media_type="text/event-stream")
"""
REFUSED = """if {row} is None:
        raise HTTPException(410)"""
BEHIND = "select(Event).where(Event.run == run, Event.id > last)"


def outcome_of(read: str = BEHIND, row: str | None = None) -> Outcome:
    """What a server does with an id that it has not given out."""
    guard = REFUSED.format(row=row) if row else ""
    return stream_of(PROGRAM.format(guard=guard, read=read)).on_foreign.outcome


@pytest.mark.parametrize(
    "row",
    [
        "session.execute(select(Event).filter_by(id=last)).scalar_one_or_none()",
        "session.execute(select(Event).where(Event.run == run).filter_by(id=last)).scalar_one_or_none()",
        "session.query(Event).filter_by(id=last).first()",
        "session.query(Event).filter_by(run=run, id=last).one_or_none()",
    ],
)
def test_a_row_that_keywords_name(row: str) -> None:
    """There is no row of a foreign id, and the answer is 410."""
    assert outcome_of(row=row) is Outcome.FAIL_CLOSED


def test_a_row_that_other_keywords_name() -> None:
    """Look-alike: the row of the run is asked for, and what comes behind the cursor is sent."""
    assert outcome_of(row="session.query(Event).filter_by(run=run).first()") is Outcome.COMPARED


WITHIN = "select(Event).where(Event.seq > select(Event.seq).where({}).scalar_subquery())"


@pytest.mark.parametrize("named", ["Event.id == last", "Event.run == run, Event.id == last"])
def test_the_place_of_a_row_that_there_is_not(named: str) -> None:
    """Nothing is greater than NULL: no row comes behind an id that nobody knows."""
    assert outcome_of(WITHIN.format(named)) is Outcome.EMPTY


def test_the_place_of_another_row() -> None:
    """Look-alike: the question within is about something that is greater than the cursor, which there may be."""
    assert outcome_of(WITHIN.format("Event.id > last")) is Outcome.COMPARED
