"""A store whose constructor takes a connection that whoever makes the store opens, out of sight: its annotation says of
which library it is, and the library where its rows are."""

from __future__ import annotations

import pytest

from sselint.facts import IdKind, Outcome, Where
from tests.read.python.programs import stream_of

SQL = """
from sse_starlette import EventSourceResponse
from starlette.requests import Request
{imports}


class Journal:
    def __init__(self, db: {connection}):
        self._db = db

    async def after(self, number):
        rows = await self._db.execute("SELECT id, text FROM said WHERE id > ? ORDER BY id", (number,))
        return [(row[0], row[1]) for row in await rows.fetchall()]


class Desk:
    def __init__(self, journal: Journal):
        self.journal = journal

    async def feed(self, request: Request):
        since = int(request.headers.get("last-event-id", 0))

        async def body():
            for number, text in await self.journal.after(since):
                yield {{"id": str(number), "data": text}}

        return EventSourceResponse(body())
"""


@pytest.mark.parametrize(
    ("imports", "connection"),
    [
        ("import aiosqlite", "aiosqlite.Connection"),
        ("import sqlite3", "sqlite3.Connection"),
        ("from aiosqlite import Connection", "Connection | None"),
    ],
)
def test_a_connection_that_is_annotated_is_one_to_a_file(imports: str, connection: str) -> None:
    stream = stream_of(SQL.format(imports=imports, connection=connection))
    assert stream.ids.kind is IdKind.STORE, stream.ids.why
    assert stream.replay.where is Where.POD_DISK, stream.replay.why
    assert stream.on_foreign.outcome is Outcome.COMPARED


@pytest.mark.parametrize(
    ("imports", "connection"),
    [("import aiomysql", "aiomysql.Pool"), ("import pymysql", "pymysql.connections.Connection")],
)
def test_a_connection_to_a_server_is_one_to_what_all_share(imports: str, connection: str) -> None:
    stream = stream_of(SQL.format(imports=imports, connection=connection))
    assert stream.ids.kind is IdKind.STORE, stream.ids.why
    assert stream.replay.where is Where.SHARED, stream.replay.why


@pytest.mark.parametrize(
    ("imports", "connection"), [("import elsewhere", "elsewhere.Connection"), ("from typing import Any", "Any")]
)
def test_a_connection_of_a_library_that_nothing_describes_is_not_known(imports: str, connection: str) -> None:
    stream = stream_of(SQL.format(imports=imports, connection=connection))
    assert stream.ids.kind is IdKind.UNKNOWN
    assert stream.replay.where is Where.UNKNOWN
