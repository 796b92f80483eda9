"""Comparisons and filters of the standard library that stand where an operator or a loop would."""

from __future__ import annotations

import pytest

from sselint.facts import Outcome, Where
from tests.read.python.programs import answered, stream_of

COUNTED = """
import operator
from functools import partial
from itertools import compress, count, dropwhile, filterfalse, islice
log = []
texts = {}
ids = count(1)


def publish(text):
    number = next(ids)
    texts[number] = text
    log.append(number)
"""
AFTER = """
last = int(request.headers.get("last-event-id", "0"))

async def body():
    for number in MISSED:
        yield {"id": str(number), "data": texts[number]}

return EventSourceResponse(body())
"""


@pytest.mark.parametrize(
    "missed",
    [
        "filter(partial(operator.lt, last), log)",
        "filter(lambda n: operator.gt(n, last), log)",
        "filterfalse(partial(operator.ge, last), log)",
        "filterfalse(lambda n: n <= last, log)",
        "compress(log, map(lambda n: n > last, log))",
        "compress(log, [n > last for n in log])",
    ],
)
def test_what_is_beyond_the_cursor_is_picked_out(missed: str) -> None:
    stream = stream_of(answered(AFTER.replace("MISSED", missed), COUNTED))
    assert (stream.replay.where, stream.on_foreign.outcome) == (Where.MEMORY, Outcome.COMPARED)


@pytest.mark.parametrize("missed", ["filter(partial(operator.lt, 0), log)", "filterfalse(lambda n: n <= 0, log)"])
def test_what_is_picked_out_by_anything_else_is_not(missed: str) -> None:
    """The same functions, which are not handed the cursor: it is read, and all that is kept is sent."""
    stream = stream_of(answered(AFTER.replace("MISSED", missed), COUNTED))
    assert stream.on_foreign.outcome is Outcome.IGNORED


NAMED = """
last = request.headers.get("last-event-id")
keys = [key for key, _ in log]
start = 0
if last:
    if TEST:
        return Response("unknown", status_code=409)
    start = operator.indexOf(keys, last) + 1

async def body():
    for key, text in log[start:]:
        yield {"id": key, "data": text}

return EventSourceResponse(body())
"""
RANDOM = """
import operator
import uuid
log = []


def publish(text):
    log.append((uuid.uuid4().hex, text))
"""


@pytest.mark.parametrize("test", ["not operator.contains(keys, last)", "operator.countOf(keys, last) == 0"])
def test_a_membership_that_a_function_asks_for_refuses(test: str) -> None:
    assert stream_of(answered(NAMED.replace("TEST", test), RANDOM)).on_foreign.outcome is Outcome.FAIL_CLOSED


def test_one_that_is_there_is_not_refused() -> None:
    """Asked the other way round, what is unknown goes on, and breaks down where it is looked for."""
    stream = stream_of(answered(NAMED.replace("TEST", "operator.contains(keys, last)"), RANDOM))
    assert stream.on_foreign.status == 500


def test_a_slice_that_is_made_a_list_begins_where_it_says() -> None:
    """What a lazy slice takes is the same when it is kept: nothing in front of the place that the cursor names."""
    missed = "list(islice(log, last, None))"
    stream = stream_of(answered(AFTER.replace("MISSED", missed), COUNTED))
    assert stream.on_overlap is not None
    assert stream.on_overlap.outcome is Outcome.COMPARED
    whole = stream_of(answered(AFTER.replace("MISSED", "list(islice(log, 0, None))"), COUNTED))
    assert whole.on_foreign.outcome is Outcome.IGNORED
