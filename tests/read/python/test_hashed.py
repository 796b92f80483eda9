"""Ids that are hashes: what they were made of says whose they are, and their order says nothing any more."""

from __future__ import annotations

import pytest

from sselint.facts import IdKind, Outcome, Scope
from tests.read.python.programs import answered, stream_of

STORE = """
import hashlib
import itertools
import time
counted = itertools.count(1)
log = []


def publish(text):
    log.append(({made}, text))
"""
SEARCHED = """
last = request.headers.get("last-event-id")

async def body():
    found = last is None or not any(key == last for key, _ in log)
    for key, text in log:
        if found:
            yield {"id": key, "data": text}
        elif key == last:
            found = True

return EventSourceResponse(body())
"""


@pytest.mark.parametrize(
    ("made", "kind", "scope"),
    [
        ('hashlib.sha256(f"{time.time()}{text}".encode()).hexdigest()[:16]', IdKind.RANDOM, Scope.UNIQUE_LOCAL),
        ('f"{time.time()}"', IdKind.CLOCK, Scope.ORDERED_LOCAL),
        ("hashlib.md5(str(next(counted)).encode()).hexdigest()", IdKind.COUNTER, Scope.OVERLAPPING),
    ],
)
def test_what_a_hash_is_made_of(made: str, kind: IdKind, scope: Scope) -> None:
    """A hashed time compares with nothing. Look-alikes: the time itself, and a number that every process hashes."""
    stream = stream_of(answered(SEARCHED, STORE.format(made=made)))
    assert (stream.ids.kind, stream.ids.scope) == (kind, scope)
    assert stream.on_foreign.outcome is Outcome.REPLAY_ALL
