"""Histories whose newest element comes first: what was missed stands in front of the one that the client had last."""

from __future__ import annotations

import pytest

from sselint.facts import Outcome
from tests.read.python.programs import answered, stream_of

STORE = """
from collections import deque

log = {made}
count = 0


def publish(text):
    global count
    count += 1
    log.{put}
"""
FRONT = [("[]", "insert(0, (count, text))"), ("deque(maxlen=60)", "appendleft((count, text))")]
BACK = [("[]", "append((count, text))"), ("deque(maxlen=60)", "append((count, text))")]
HANDLER = """
last = int(request.headers.get("last-event-id") or 0)
{missed}

async def body():
    for number, text in missed:
        yield {{"id": str(number), "data": text}}

return EventSourceResponse(body())
"""
UNTIL_IT = """
missed = []
for number, text in log:
    if number == last:
        break
    missed.append((number, text))
missed.reverse()
"""
UNTIL_OLDER = UNTIL_IT.replace("number == last", "number <= last")
IN_FRONT = """
missed = []
for place, entry in enumerate(list(log)):
    if entry[0] == last:
        missed = list(log)[:place]
        break
"""
BEHIND = IN_FRONT.replace("[:place]", "[place + 1:]")


def _overlap(store: tuple[str, str], missed: str) -> Outcome | None:
    made, put = store
    stream = stream_of(answered(HANDLER.format(missed=missed.strip()), STORE.format(made=made, put=put)))
    return stream.on_overlap.outcome if stream.on_overlap is not None else None


@pytest.mark.parametrize("missed", [UNTIL_IT, UNTIL_OLDER, IN_FRONT])
@pytest.mark.parametrize("store", FRONT)
def test_what_stands_in_front_of_the_cursor_was_missed(store: tuple[str, str], missed: str) -> None:
    assert _overlap(store, missed) is Outcome.COMPARED


@pytest.mark.parametrize("store", BACK)
def test_where_the_newest_is_last_what_stands_in_front_was_sent_before(store: tuple[str, str]) -> None:
    """Look-alike: the same loop over a history in the usual order sends what the client has."""
    assert _overlap(store, UNTIL_IT) is Outcome.REPLAY_ALL
    assert _overlap(store, IN_FRONT) is Outcome.REPLAY_ALL
    assert _overlap(store, BEHIND) is Outcome.COMPARED


def test_a_list_that_grows_at_both_ends_is_in_no_such_order() -> None:
    """Look-alike: one that is put back in front leaves the others as they are."""
    both = ("deque()", "append((count, text))\n    if count > 9:\n        log.appendleft(log.popleft())")
    assert _overlap(both, BEHIND) is Outcome.COMPARED
