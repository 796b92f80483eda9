"""Stores that are asked for an entry by the cursor itself, and what else a cursor carries."""

from __future__ import annotations

import pytest

from sselint.facts import IdKind, Outcome, Where
from tests.read.python.programs import answered, stream_of

STORE = """
import redis
log = redis.from_url("redis://log")


def publish(text):
    number = log.incr("number")
    log.hset("texts", number, text)
    log.rpush("log", text)
"""

SHARED = """
last = request.headers.get("last-event-id")
if last and not {asked}:
    {missing}

async def body():
    for key, text in log.xrange("log", f"({{last}}", "+"):
        yield {{"id": key, "data": text}}

return EventSourceResponse(body())
"""


@pytest.mark.parametrize("asked", ['log.hexists("texts", last)', 'log.hget("texts", last)', 'log.get(f"text:{last}")'])
@pytest.mark.parametrize(
    ("missing", "outcome"), [("return Response(status_code=409)", Outcome.FAIL_CLOSED), ("pass", Outcome.COMPARED)]
)
def test_a_store_that_is_asked_for_the_cursor(asked: str, missing: str, outcome: Outcome) -> None:
    """An id that nobody gave out is not there: the answer is what is said then. What the store knows is no foreign id:
    it goes on behind it for all. Look-alike: whatever the store says, what compares is sent."""
    stream = stream_of(answered(SHARED.format(asked=asked, missing=missing), STORE))
    assert stream.on_foreign.outcome is outcome


ROWS = """
{opened}


def publish(text):
    rows.execute("INSERT INTO log (room, text) VALUES ('a', ?)", (text,))
"""

ASKED = """
last = request.headers.get("last-event-id") or "0"
{asked}

def body():
    if row is None:
        return
    for key, text in rows.execute("SELECT id, text FROM log WHERE room = ? AND id > ?", (row[0], int(last))):
        yield {{"id": key, "data": text}}

return EventSourceResponse(body())
"""

SQLITE = 'import sqlite3\nrows = sqlite3.connect("/data/log.db")'
HELD = 'import sqlite3\ndatabase = sqlite3.connect("/data/log.db")\nrows = database.cursor()'
BY_KEY = "SELECT room FROM log WHERE id = ?"
STATEMENTS = {
    "by its key": (SQLITE, f'row = rows.execute("{BY_KEY}", (int(last),)).fetchone()', Outcome.EMPTY),
    "fetched later": (HELD, f'rows.execute("{BY_KEY}", (int(last),))\nrow = rows.fetchone()', Outcome.EMPTY),
    "put together": (
        SQLITE,
        'table = request.query_params["table"]\n'
        "row = rows.execute(f\"SELECT room FROM {table} WHERE id = ? AND text <> ''\", (last,)).fetchone()",
        Outcome.EMPTY,
    ),
    "what compares": (
        SQLITE,
        'row = rows.execute("SELECT room FROM log WHERE id >= ? LIMIT 1", (int(last),)).fetchone()',
        Outcome.COMPARED,
    ),
    "how many": (
        SQLITE,
        'row = rows.execute("SELECT COUNT(*) FROM log WHERE id = ?", (last,)).fetchone()',
        Outcome.COMPARED,
    ),
    "of the room": (
        SQLITE,
        'row = rows.execute("SELECT room FROM log WHERE room = ?", ("a",)).fetchone()',
        Outcome.COMPARED,
    ),
}


@pytest.mark.parametrize("name", STATEMENTS)
def test_a_row_that_is_asked_for_by_the_cursor(name: str) -> None:
    """An id that nobody gave out has no row. Look-alikes: what compares, how many, and another key."""
    opened, asked, outcome = STATEMENTS[name]
    stream = stream_of(answered(ASKED.format(asked=asked), ROWS.format(opened=opened)))
    assert (stream.replay.where, stream.on_foreign.outcome) == (Where.POD_DISK, outcome)


def test_known_to_all_and_kept_by_one() -> None:
    """The index is shared and the events are not: an id of another process is found, and this one goes on from what it
    holds itself."""
    store = STORE.replace("def publish", "kept = []\n\n\ndef publish") + "    kept.append((number, text))\n"
    handler = SHARED.format(asked='log.hexists("texts", last)', missing="return Response(status_code=409)")
    handler = handler.replace('log.xrange("log", f"({last}", "+"):', "kept:\n        if int(key) <= int(last or 0):")
    handler = handler.replace("        yield", "            continue\n        yield")
    stream = stream_of(answered(handler, store))
    assert stream.replay.where is Where.MEMORY
    assert stream.on_foreign.outcome is Outcome.COMPARED


CHANNELS = """
import itertools
log = []
numbers = itertools.count(1)


def publish(channel, text):
    log.append((channel, next(numbers), text))
"""


@pytest.mark.parametrize(
    ("checked", "outcome"),
    [("if channel not in asked:\n    return Response(status_code=409)", Outcome.COMPARED), ("", Outcome.COMPARED)],
)
def test_a_channel_that_the_cursor_carries_is_what_the_client_asks_for(checked: str, outcome: Outcome) -> None:
    """Whoever made the id, its channel is one of the channels of the request: to check it is no refusal."""
    lines = f"""
asked = set(request.query_params.getlist("channel"))
last = request.headers.get("last-event-id")
after = 0
if last:
    channel, _, number = last.partition(":")
    {checked.replace(chr(10), chr(10) + "    ")}
    after = int(number)

async def body():
    for channel in asked:
        for _, number, text in list(log):
            if number > after:
                yield {{"id": f"{{channel}}:{{number}}", "data": text}}

return EventSourceResponse(body())
"""
    stream = stream_of(answered(lines, CHANNELS))
    assert stream.ids.kind is IdKind.COUNTER
    assert stream.on_foreign.outcome is outcome


def test_what_others_put_into_a_connections_own_list_is_live() -> None:
    """The list is new with each connection: nothing in it can have come before."""
    store = """
import asyncio
import itertools
numbers = itertools.count(1)


class Listener:
    def __init__(self):
        self.waiting = []
        self.woken = asyncio.Event()


log = set()


def publish(text):
    for listener in log:
        listener.waiting.append((next(numbers), text))
        listener.woken.set()
"""
    handler = """
listener = Listener()
log.add(listener)

async def body():
    while True:
        await listener.woken.wait()
        for number, text in listener.waiting:
            yield {"id": number, "data": text}

return EventSourceResponse(body())
"""
    stream = stream_of(answered(handler, store))
    assert (stream.replay.where, stream.replay.live_tail) == (Where.NONE, Where.MEMORY)
    assert stream.ids.kind is IdKind.COUNTER
    shared = handler.replace("listener.waiting:", "waiting:")
    stream = stream_of(
        answered(
            shared,
            store.replace("log = set()", "log = set()\nwaiting = []").replace(
                "listener.waiting.append", "waiting.append"
            ),
        )
    )
    assert stream.replay.where is Where.MEMORY


FILED = """
import itertools
numbers = itertools.count(1)
kept = {}
order = []


def publish(text):
    name = f"order-{next(numbers)}"
    kept[name] = text
    order.append(name)
"""
FROM_THERE = """
last = request.headers.get("last-event-id")
start = order.index(last) + 1 if last in kept else len(order)

async def body():
    for name in order[start:]:
        yield {"id": name, "data": kept[name]}

return EventSourceResponse(body())
"""


def test_nothing_is_filed_under_no_name() -> None:
    """Who brings no cursor is not in the table, so that nothing is looked up for it that would not be there."""
    assert stream_of(answered(FROM_THERE, FILED)).on_missing.outcome is Outcome.EMPTY
    assert stream_of(answered(FROM_THERE, FILED)).on_missing.late is False


TWICE = """
last = request.headers.get("last-event-id")
if last and not log.get("run:" + last.split(":")[0]):
    return Response(status_code=404)

async def body():
    if last and not log.{asked}:
        return
    for key, text in log.xrange("log", f"({last}", "+"):
        yield {"id": key, "data": text}

return EventSourceResponse(body())
"""


@pytest.mark.parametrize(
    ("asked", "outcome"), [('hget("texts", last)', Outcome.EMPTY), ('hget("texts", "all")', Outcome.FAIL_CLOSED)]
)
def test_a_store_that_is_asked_twice(asked: str, outcome: Outcome) -> None:
    """The run that a cursor names may well be there where the event is not: then nothing is sent. Look-alike: the
    second question has nothing to do with the cursor."""
    assert stream_of(answered(TWICE.replace("{asked}", asked), STORE)).on_foreign.outcome is outcome
