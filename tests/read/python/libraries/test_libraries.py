"""A small server for each library that `rules/python/` describes: one that fires and a look-alike that does not.

The first line of a server says which it is and why. The servers are read, never run.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from sselint.facts import FileOutcome, IdKind, KeyOrigin, Outcome, Scope, Setting, Stream, Where
from sselint.read.python import Program
from sselint.read.python.libraries.environment import Environment
from sselint.source import Source, Tree
from tests.read.python.programs import read_under

SERVERS = Path(__file__).parent / "servers"

COUNTER = (IdKind.COUNTER, Scope.OVERLAPPING)
INDEX = (IdKind.INDEX, Scope.OVERLAPPING)
RANDOM = (IdKind.RANDOM, Scope.UNIQUE_LOCAL)
STORE = (IdKind.STORE, Scope.SHARED)
NONE = (IdKind.NONE, Scope.NONE)


@dataclass(frozen=True)
class Expected:
    """What is said of the one stream of a server: its ids, where it replays from and tails, and what a foreign cursor
    meets. `status` is that of the refusal; `late` that it comes when the response has begun."""

    ids: tuple[IdKind, Scope]
    replay: Where
    tail: Where
    outcome: Outcome
    status: int | None = None
    late: bool = False


MEMORY, DISK, SHARED, UNKNOWN = Where.MEMORY, Where.POD_DISK, Where.SHARED, Where.UNKNOWN

EXPECTED = {
    "ag_ui_numbered": Expected(COUNTER, Where.NONE, Where.NONE, Outcome.NOT_READ),
    "ag_ui_runs": Expected(NONE, Where.NONE, Where.NONE, Outcome.NOT_READ),
    "aiohttp_buffered": Expected(COUNTER, MEMORY, Where.NONE, Outcome.COMPARED),
    "aiohttp_counter": Expected(COUNTER, MEMORY, MEMORY, Outcome.COMPARED),
    "aiohttp_refuses": Expected(RANDOM, MEMORY, MEMORY, Outcome.FAIL_CLOSED, 409),
    "aiohttp_refuses_late": Expected(RANDOM, MEMORY, MEMORY, Outcome.EMPTY, 409, late=True),
    "aiohttp_task_writes": Expected((IdKind.CLOCK, Scope.ORDERED_LOCAL), Where.NONE, MEMORY, Outcome.NOT_READ),
    "aiohttp_written_by_others": Expected(COUNTER, Where.NONE, MEMORY, Outcome.NOT_READ),
    "aiohttp_written_plainly": Expected(NONE, Where.NONE, MEMORY, Outcome.NOT_READ),
    "aiosqlite_file": Expected(STORE, DISK, DISK, Outcome.COMPARED),
    "asgi_counter": Expected(INDEX, MEMORY, MEMORY, Outcome.COMPARED),
    "asyncpg_listener": Expected(STORE, SHARED, SHARED, Outcome.COMPARED),
    "asyncpg_listen": Expected(STORE, SHARED, SHARED, Outcome.COMPARED),
    "beanie_documents": Expected(STORE, SHARED, MEMORY, Outcome.COMPARED),
    "databases_rows": Expected(COUNTER, MEMORY, Where.NONE, Outcome.COMPARED),
    "bottle_refuses": Expected(RANDOM, MEMORY, MEMORY, Outcome.FAIL_CLOSED, 409),
    "bottle_refuses_late": Expected(RANDOM, MEMORY, Where.NONE, Outcome.EMPTY, 409, late=True),
    "bottle_returned": Expected(RANDOM, MEMORY, Where.NONE, Outcome.FAIL_CLOSED, 410),
    "django_rest_refuses": Expected(RANDOM, MEMORY, MEMORY, Outcome.FAIL_CLOSED, 409),
    "django_rest_set": Expected(INDEX, MEMORY, MEMORY, Outcome.COMPARED),
    "dishka_by_type": Expected(INDEX, MEMORY, MEMORY, Outcome.COMPARED),
    "dishka_shared": Expected(STORE, SHARED, SHARED, Outcome.COMPARED),
    "django_cache": Expected(STORE, SHARED, SHARED, Outcome.COMPARED),
    "django_cache_local": Expected(COUNTER, MEMORY, MEMORY, Outcome.COMPARED),
    "django_eventstream_local": Expected(STORE, SHARED, MEMORY, Outcome.FAIL_CLOSED),
    "django_eventstream_shared": Expected(STORE, SHARED, SHARED, Outcome.FAIL_CLOSED),
    "django_local": Expected(INDEX, MEMORY, MEMORY, Outcome.COMPARED),
    "django_orm": Expected(STORE, SHARED, SHARED, Outcome.COMPARED),
    "django_orm_sqlite": Expected(STORE, DISK, DISK, Outcome.COMPARED),
    "dynamodb_table": Expected(STORE, SHARED, SHARED, Outcome.COMPARED),
    "etcd_watch": Expected(STORE, SHARED, SHARED, Outcome.COMPARED),
    "fakeredis_stream": Expected(COUNTER, MEMORY, MEMORY, Outcome.COMPARED),
    "fastapi_dependency": Expected(RANDOM, MEMORY, MEMORY, Outcome.FAIL_CLOSED, 409),
    "fastapi_sse_counter": Expected(COUNTER, MEMORY, MEMORY, Outcome.COMPARED),
    "fastmcp_stateful": Expected((IdKind.UNKNOWN, Scope.UNKNOWN), MEMORY, MEMORY, Outcome.UNKNOWN),
    "fastmcp_stateless": Expected(NONE, Where.NONE, MEMORY, Outcome.FAIL_CLOSED, 405),
    "flask_headers_beside": Expected(COUNTER, MEMORY, MEMORY, Outcome.COMPARED),
    "flask_refuses_early": Expected(RANDOM, MEMORY, MEMORY, Outcome.FAIL_CLOSED, 500),
    "flask_sse_counter": Expected(COUNTER, Where.NONE, SHARED, Outcome.NOT_READ),
    "flask_sse_plain": Expected(NONE, Where.NONE, SHARED, Outcome.NOT_READ),
    "flask_sqlalchemy_configured": Expected(STORE, SHARED, SHARED, Outcome.COMPARED),
    "flask_sqlalchemy_file": Expected(STORE, DISK, DISK, Outcome.COMPARED),
    "flask_views": Expected((IdKind.CLOCK, Scope.ORDERED_LOCAL), MEMORY, MEMORY, Outcome.COMPARED),
    "http_server_counter": Expected(INDEX, MEMORY, MEMORY, Outcome.COMPARED),
    "kafka_from_the_head": Expected(STORE, Where.NONE, SHARED, Outcome.NOT_READ),
    "kafka_sought": Expected(STORE, SHARED, SHARED, Outcome.COMPARED),
    "ids_ordered": Expected((IdKind.CLOCK, Scope.ORDERED_LOCAL), MEMORY, Where.NONE, Outcome.COMPARED),
    "key_value_memory": Expected(RANDOM, MEMORY, Where.NONE, Outcome.REPLAY_ALL),
    "key_value_redis": Expected(RANDOM, SHARED, Where.NONE, Outcome.FAIL_CLOSED, 409),
    "klein_counter": Expected(INDEX, MEMORY, MEMORY, Outcome.COMPARED),
    "litestar_counter": Expected(COUNTER, MEMORY, MEMORY, Outcome.COMPARED),
    "litestar_refuses": Expected(RANDOM, MEMORY, MEMORY, Outcome.FAIL_CLOSED, 409),
    "mcp_constructor": Expected(RANDOM, MEMORY, MEMORY, Outcome.EMPTY),
    "mcp_constructor_stateless": Expected(NONE, Where.NONE, MEMORY, Outcome.FAIL_CLOSED, 500),
    "mcp_shared_transport": Expected(INDEX, MEMORY, MEMORY, Outcome.EMPTY),
    "mongodb_change_stream": Expected(STORE, SHARED, SHARED, Outcome.COMPARED),
    "mongodb_driver_ids": Expected((IdKind.CLOCK, Scope.ORDERED_LOCAL), MEMORY, Where.NONE, Outcome.COMPARED),
    "mongodb_local_tail": Expected(STORE, SHARED, MEMORY, Outcome.COMPARED),
    "nats_callback": Expected(INDEX, MEMORY, Where.NONE, Outcome.COMPARED),
    "nats_jetstream": Expected(STORE, SHARED, SHARED, Outcome.COMPARED),
    "nats_plain": Expected(INDEX, MEMORY, Where.NONE, Outcome.COMPARED),
    "peewee_rows": Expected(STORE, DISK, DISK, Outcome.COMPARED),
    "django_notified": Expected(STORE, SHARED, SHARED, Outcome.COMPARED),
    "django_statements": Expected((IdKind.COUNTER, Scope.UNKNOWN), SHARED, SHARED, Outcome.COMPARED),
    "psycopg_own_numbers": Expected(COUNTER, MEMORY, MEMORY, Outcome.COMPARED),
    "psycopg_notified": Expected((IdKind.UNKNOWN, Scope.UNKNOWN), Where.NONE, SHARED, Outcome.NOT_READ),
    "quart_index": Expected(COUNTER, MEMORY, MEMORY, Outcome.COMPARED),
    "quart_refuses": Expected(RANDOM, MEMORY, MEMORY, Outcome.FAIL_CLOSED, 409),
    "quart_refuses_late": Expected(RANDOM, MEMORY, MEMORY, Outcome.EMPTY, 409, late=True),
    "redis_pubsub_counter": Expected(COUNTER, MEMORY, Where.NONE, Outcome.COMPARED),
    "redis_list_positions": Expected((IdKind.INDEX, Scope.SHARED), SHARED, SHARED, Outcome.COMPARED),
    "redis_list_recounted": Expected(
        (IdKind.CLIENT_SUPPLIED, Scope.UNKNOWN), SHARED, Where.NONE, Outcome.IGNORED
    ),
    "sanic_refuses": Expected(RANDOM, MEMORY, MEMORY, Outcome.FAIL_CLOSED, 409),
    "sanic_refuses_late": Expected(RANDOM, MEMORY, MEMORY, Outcome.EMPTY, 409, late=True),
    "sanic_streams": Expected(COUNTER, Where.NONE, MEMORY, Outcome.NOT_READ),
    "sanic_streams_late": Expected(RANDOM, MEMORY, Where.NONE, Outcome.EMPTY, 409, late=True),
    "sqlalchemy_in_memory": Expected(COUNTER, MEMORY, MEMORY, Outcome.COMPARED),
    "sqlalchemy_postgres": Expected(STORE, SHARED, SHARED, Outcome.COMPARED),
    "sqlalchemy_session_query": Expected(STORE, SHARED, SHARED, Outcome.COMPARED),
    "sqlalchemy_sqlite": Expected(STORE, DISK, DISK, Outcome.COMPARED),
    "sqlalchemy_unknown_address": Expected((IdKind.STORE, Scope.UNKNOWN), UNKNOWN, UNKNOWN, Outcome.COMPARED),
    "sqlite3_memory": Expected(COUNTER, MEMORY, MEMORY, Outcome.COMPARED),
    "sqlmodel_local_tail": Expected(STORE, SHARED, MEMORY, Outcome.COMPARED),
    "tornado_configured": Expected(COUNTER, MEMORY, Where.NONE, Outcome.COMPARED),
    "tornado_counter": Expected(COUNTER, MEMORY, MEMORY, Outcome.COMPARED),
    "tornado_refuses": Expected(RANDOM, MEMORY, MEMORY, Outcome.FAIL_CLOSED, 409),
    "tornado_refuses_late": Expected(RANDOM, MEMORY, MEMORY, Outcome.EMPTY, 409, late=True),
    "tornado_written_by_others": Expected(COUNTER, Where.NONE, MEMORY, Outcome.NOT_READ),
    "tortoise_refuses": Expected(RANDOM, SHARED, Where.NONE, Outcome.FAIL_CLOSED, 410),
    "twisted_refuses": Expected(RANDOM, MEMORY, Where.NONE, Outcome.FAIL_CLOSED, 409),
    "twisted_written_by_others": Expected(COUNTER, Where.NONE, MEMORY, Outcome.NOT_READ),
    "twisted_written_in_pieces": Expected(COUNTER, Where.NONE, MEMORY, Outcome.NOT_READ),
    "uvicorn_counter": Expected(COUNTER, MEMORY, Where.NONE, Outcome.COMPARED),
    "valkey_stream": Expected(STORE, SHARED, SHARED, Outcome.COMPARED),
    "wsgi_refuses": Expected(RANDOM, MEMORY, MEMORY, Outcome.FAIL_CLOSED, 409),
}


def read(name: str, environment: Environment | None = None) -> list[Stream]:
    """The streams of a server, a file or a folder of files, in an environment."""
    place = SERVERS / name
    files = sorted(place.rglob("*.py")) if place.is_dir() else [place.with_suffix(".py")]
    base = place if place.is_dir() else SERVERS
    texts = {file.relative_to(base).as_posix(): file.read_text() for file in files}
    tree = Tree("/nowhere", tuple(texts), lambda path: texts[path].encode())
    reading = read_under(Program([Source(path, text, "python") for path, text in texts.items()], tree), environment)
    assert [f for f in reading.files if f.outcome is not FileOutcome.ANALYSED] == []
    return [stream for stream in reading.streams if stream.apps]


@pytest.mark.parametrize("name", EXPECTED)
def test_what_is_said_of_each_server(name: str) -> None:
    (stream,) = read(name)
    run = stream.on_foreign
    found = Expected(
        (stream.ids.kind, stream.ids.scope),
        stream.replay.where,
        stream.replay.live_tail,
        run.outcome,
        run.status,
        run.late,
    )
    assert found == EXPECTED[name], (stream.ids.why, stream.replay.why, run.why)


def test_every_server_is_in_the_table_and_says_whether_it_fires() -> None:
    names = {path.stem for path in SERVERS.iterdir() if path.name != "__pycache__"}
    assert names == set(EXPECTED)
    for name in names:
        place = SERVERS / name
        files = sorted(place.rglob("*.py")) if place.is_dir() else [place.with_suffix(".py")]
        assert any(f.read_text().startswith(('"""Fires: ', '"""Silent: ')) for f in files), name


def test_the_environment_decides_whether_fastmcp_has_sessions() -> None:
    """Left open it is unknown, as the table says. Settled: ids and a session no other process knows, or neither."""
    (stateful,) = read("fastmcp_stateful", Environment({}, settled=True))
    assert (stateful.ids.kind, stateful.protocol) == (IdKind.RANDOM, "mcp")
    assert [(g.origin, g.status) for g in stateful.guards] == [(KeyOrigin.RANDOM_LOCAL, 404)]
    name = "FASTMCP_STATELESS_HTTP"
    (stateless,) = read("fastmcp_stateful", Environment({name: Setting(name, "true")}, settled=True))
    assert (stateless.ids.kind, stateless.on_foreign.status) == (IdKind.NONE, 405)


def test_a_transport_that_is_wired_by_hand_is_not_guarded() -> None:
    (stream,) = read("mcp_shared_transport")
    assert stream.guards == ()
    assert stream.on_overlap is not None
    assert stream.on_overlap.outcome is Outcome.COMPARED, "a number of its own is continued, whoever asks"
