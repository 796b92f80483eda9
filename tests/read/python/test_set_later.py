"""Columns that are set in some rows alone: a session that somebody has revoked stands beside those that nobody has."""

from __future__ import annotations

import pytest

from sselint.facts import IdKind, Outcome
from tests.read.python.programs import stream_of

SERVER = """
from datetime import datetime
from uuid import uuid4

from fastapi import Cookie, Depends, FastAPI, HTTPException
from fastapi.responses import StreamingResponse
from sqlalchemy import create_engine, select
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column

app = FastAPI()
db = Session(create_engine("postgresql://db/app"))


class Base(DeclarativeBase):
    pass


class Login(Base):
    __tablename__ = "logins"
    token: Mapped[str] = mapped_column(primary_key=True)
    revoked_at: Mapped[datetime | None] = mapped_column(nullable=True)


def current(token: str = Cookie()):
    found = db.scalar(select(Login).where(Login.token == token))
    if not found or found.revoked_at is not None:
        raise HTTPException(401)
    return found


{others}


@app.get("/events")
def feed(login=Depends(current)):
    def frames():
        while True:
            yield f"id: {{uuid4().hex}}\\ndata: tick\\n\\n"

    return StreamingResponse(frames(), media_type="text/event-stream")
"""
LOGIN = """
@app.post("/login")
def login():
    db.add(Login(token=uuid4().hex{given}))
    db.commit()
"""
LOGOUT = """
@app.post("/logout")
def logout(login=Depends(current)):
    login.revoked_at = datetime.now()
    db.commit()
"""


@pytest.mark.parametrize("others", [LOGIN.format(given="") + LOGOUT, LOGOUT], ids=["made here", "made elsewhere"])
def test_a_guard_that_asks_for_what_only_some_rows_have_lets_the_others_pass(others: str) -> None:
    """What the one place that sets the column puts there was told of every row, so that nobody came past the guard."""
    stream = stream_of(SERVER.format(others=others))
    assert stream.ids.kind is IdKind.RANDOM
    assert stream.on_foreign.outcome is Outcome.NOT_READ


EVENTS = """
from datetime import datetime
from uuid import uuid4

from fastapi import FastAPI, Request
from fastapi.responses import StreamingResponse
from sqlalchemy import create_engine, select
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column

app = FastAPI()
db = Session(create_engine("postgresql://db/app"))


class Base(DeclarativeBase):
    pass


class Event(Base):
    __tablename__ = "events"
    number: Mapped[int] = mapped_column(primary_key=True)
    at: Mapped[float] = mapped_column()
    text: Mapped[str] = mapped_column()


@app.post("/events")
def publish(text: str):
    db.add(Event(at=datetime.now().timestamp(), text=text))
    db.commit()


@app.get("/events")
def feed(request: Request):
    last = float(request.headers.get("last-event-id", 0))

    def frames():
        for event in db.scalars(select(Event).where(Event.at > last)):
            yield f"id: {event.at}\\ndata: {event.text}\\n\\n"

    return StreamingResponse(frames(), media_type="text/event-stream")
"""


def test_a_column_that_every_row_is_made_with_holds_what_is_put_there() -> None:
    """There is no other row beside these: the id is the clock's, although it comes out of a table for all."""
    assert stream_of(EVENTS).ids.kind is IdKind.CLOCK
