"""What is behind the cursor, collected into a dict of the request's own before it is sent."""

from __future__ import annotations

import pytest

from sselint.facts import IdKind, Outcome
from tests.read.python.programs import answered, stream_of

STORE = """
events = {}


def publish(text):
    events[max(events, default=0) + 1] = text
"""
SENT = """
last = int(request.headers.get("last-event-id", "0"))
COLLECTED

async def body():
    SENDS

return EventSourceResponse(body())
"""
IN_A_LOOP = """
missed = {}
for number, text in events.items():
    if number > last:
        missed[number] = text
"""
PAIRS = 'for number, text in missed.items():\n        yield {"id": str(number), "data": text}'
KEYS = 'for number in missed:\n        yield {"id": str(number), "data": missed[number]}'


@pytest.mark.parametrize("sends", [PAIRS, KEYS])
@pytest.mark.parametrize(
    "collected", ["missed = {n: text for n, text in sorted(events.items()) if n > last}", IN_A_LOOP]
)
def test_what_a_dict_holds_of_what_is_behind_the_cursor_is_compared(collected: str, sends: str) -> None:
    stream = stream_of(answered(SENT.replace("COLLECTED", collected).replace("SENDS", sends), STORE))
    assert stream.ids.kind is IdKind.COUNTER
    assert stream.on_foreign.outcome is Outcome.COMPARED


def test_what_is_collected_without_asking_is_all() -> None:
    collected = "missed = {n: text for n, text in events.items() if text or last is None}"
    stream = stream_of(answered(SENT.replace("COLLECTED", collected).replace("SENDS", PAIRS), STORE))
    assert stream.on_foreign.outcome is Outcome.IGNORED
