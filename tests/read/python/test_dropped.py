"""A cursor that is held against a number of what was dropped: one that is known here stands behind it or not."""

from __future__ import annotations

import pytest

from sselint.facts import Outcome
from tests.read.python.programs import answered, stream_of

STORE = """
log = []
made = 0
gone = 0


def publish(text):
    global made, gone
    made += 1
    log.append((made, text))
    if len(log) > 80:
        {drop}
"""
DROPS = [
    "gone += 1\n        del log[0]",
    "gone, _ = log.pop(0)",
    "gone = log.pop(0)[0]",
    "gone += len(log) - 80\n        del log[:-80]",
]
HANDLER = """
last = request.headers.get("last-event-id")
after = int(last) if last else 0
if last and not ({test}):
    return Response(status_code=410)

async def body():
    for number, text in list(log):
        if number > after:
            yield {{"id": str(number), "data": text}}

return EventSourceResponse(body())
"""


def _outcomes(test: str, drop: str) -> tuple[Outcome, Outcome | None]:
    stream = stream_of(answered(HANDLER.format(test=test), STORE.format(drop=drop)))
    return stream.on_foreign.outcome, stream.on_overlap.outcome if stream.on_overlap is not None else None


@pytest.mark.parametrize("test", ["gone <= after <= made", "after >= gone and after <= made", "not after < gone"])
@pytest.mark.parametrize("drop", DROPS)
def test_a_known_cursor_passes_a_test_for_what_was_dropped(drop: str, test: str) -> None:
    beyond_is_refused = "made" in test
    expected = Outcome.FAIL_CLOSED if beyond_is_refused else Outcome.COMPARED
    assert _outcomes(test, drop) == (expected, Outcome.COMPARED)


@pytest.mark.parametrize("drop", DROPS)
def test_the_number_of_the_newest_is_the_end(drop: str) -> None:
    """Look-alike: no cursor that is known here is beyond what was counted last."""
    assert _outcomes("after <= made", drop) == (Outcome.FAIL_CLOSED, Outcome.COMPARED)
    assert _outcomes("after > made", drop)[1] is Outcome.FAIL_CLOSED
