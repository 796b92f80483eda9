"""`x in y` where both are written down: a set of the module is known, unless something adds to it."""

from __future__ import annotations

import pytest

from sselint.facts import IdKind, Outcome
from tests.read.python.programs import answered, stream_of

JOB = """
OVER = {over}
log = []


class Job:
    def __init__(self):
        self.state = "running"


job = Job()


def work(text):
    log.append((len(log) + 1, text))
{more}
"""
FOLLOW = """
last = int(request.headers.get("last-event-id", "0"))

async def body():
    if job.state in OVER:
        yield {"data": job.state}
        return
    for number, text in log:
        if number > last:
            yield {"id": str(number), "data": text}

return EventSourceResponse(body())
"""
ADDED = """
def settle(state):
    OVER.add(state)
"""


def _stream(over: str, more: str = "") -> tuple[IdKind, Outcome]:
    stream = stream_of(answered(FOLLOW, JOB.format(over=over, more=more)))
    return stream.ids.kind, stream.on_foreign.outcome


@pytest.mark.parametrize(
    "over", ['{"done", "failed"}', '["done", "failed"]', 'frozenset({"done", "failed"})', '("done", "failed")']
)
def test_what_a_container_of_the_module_does_not_hold_is_not_in_it(over: str) -> None:
    assert _stream(over) == (IdKind.INDEX, Outcome.COMPARED)


def test_what_it_holds_is() -> None:
    assert _stream('{"running", "done"}') == (IdKind.NONE, Outcome.IGNORED)


@pytest.mark.parametrize("over", ['{"done"}', '{"running"}'])
def test_where_something_adds_to_it_both_may_be(over: str) -> None:
    assert _stream(over, ADDED) == (IdKind.INDEX, Outcome.COMPARED)
