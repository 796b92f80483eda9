"""Searches that count through a history, place by place, until they stand at the cursor or at the end."""

from __future__ import annotations

import pytest

from sselint.facts import Outcome, Where
from tests.read.python.programs import answered, stream_of

HANDLER = """
last = request.headers.get("last-event-id")
start = 0
if last is not None:
    SEARCH

async def body():
    for key, text in log[start:]:
        yield {"id": key, "data": text}

return EventSourceResponse(body())
"""
BACK = "i = len(log) - 1\nwhile i >= 0 and log[i][0] != last:\n    i -= 1\n"
ON = "i = 0\nwhile i < len(log) and log[i][0] != last:\n    i += 1\n"
TOP = "i = len(log)\nwhile i > 0 and log[i - 1][0] != last:\n    i = i - 1\n"
AHEAD = "i = len(log)\nwhile (i := i - 1) >= 0:\n    if log[i][0] == last:\n        break\n"
PAST = "i, n = 0, len(log)\nwhile n > i:\n    key, _ = log[i]\n    i = i + 1\n    if key == last:\n        break\n"
ROUND = (
    "i = len(log) - 1\nwhile True:\n    if i < 0:\n        END\n    if log[i][0] == last:\n        break\n    i -= 1\n"
)
REFUSED = "    return Response('unknown', status_code=409)\n"


def handler(search: str) -> str:
    return answered(HANDLER.replace("SEARCH", search.strip().replace("\n", "\n    ")))


@pytest.mark.parametrize(
    "search",
    [
        f"{BACK}if i < 0:\n{REFUSED}start = i + 1",
        f"{BACK}if not ~i:\n{REFUSED}start = i + 1",
        f"{ON}if i == len(log):\n{REFUSED}start = i + 1",
        f"{ON}if not i < len(log):\n{REFUSED}start = i + 1",
        f"{TOP}if i == 0:\n{REFUSED}start = i",
        f"{AHEAD}if i == -1:\n{REFUSED}start = i + 1",
        f"{PAST}else:\n{REFUSED}start = i",
        ROUND.replace("END", "return Response('unknown', status_code=409)") + "start = i + 1",
        ROUND.replace("END", "break") + f"if i == -1:\n{REFUSED}start = i + 1",
    ],
)
def test_a_search_that_comes_to_the_end_is_refused(search: str) -> None:
    """The number that a loop without a hit ends at is the one that the handler asks for; what is found goes on."""
    stream = stream_of(handler(search))
    assert (stream.replay.where, stream.on_foreign.outcome) == (Where.MEMORY, Outcome.FAIL_CLOSED)


@pytest.mark.parametrize(
    ("search", "outcome"),
    [
        (f"{BACK}start = i + 1", Outcome.REPLAY_ALL),
        (ROUND.replace("END", "break") + "start = i + 1", Outcome.REPLAY_ALL),
        (f"{TOP}start = i", Outcome.REPLAY_ALL),
        (f"{ON}start = i + 1 if i < len(log) else 0", Outcome.REPLAY_ALL),
        (f"{BACK}start = i + 1 if i >= 0 else len(log)", Outcome.EMPTY),
        (f"{ON}start = i + 1", Outcome.EMPTY),
        (f"{BACK}if i > len(log):\n{REFUSED}start = i + 1", Outcome.REPLAY_ALL),
    ],
)
def test_one_that_comes_to_the_end_and_goes_on_is_not(search: str, outcome: Outcome) -> None:
    """The same loops, whose end is taken for a place: nobody is told that the id is unknown."""
    assert stream_of(handler(search)).on_foreign.outcome is outcome


def test_a_break_behind_a_search_leaves_the_loop_around_it() -> None:
    """What stands in the `else` of a loop is outside of it: the id is refused after the first look."""
    search = f"while True:\n    {BACK.strip().replace(chr(10), chr(10) + '    ')}\n    else:\n        break\n"
    refused = "return Response('unknown', status_code=409)"
    stream = stream_of(handler(f"{search}{refused}"))
    assert (stream.on_foreign.outcome, stream.on_foreign.status) == (Outcome.FAIL_CLOSED, 409)


def test_a_number_of_this_process_too_is_found() -> None:
    """An id that two processes count is found in either, and what stands behind it is sent."""
    counted = """
log = []


def publish(text):
    log.append((str(len(log) + 1), text))
"""
    search = f"{BACK}if i < 0:\n{REFUSED}start = i + 1".replace("\n", "\n    ")
    stream = stream_of(answered(HANDLER.replace("SEARCH", search), counted))
    assert stream.on_overlap is not None
    assert (stream.on_foreign.outcome, stream.on_overlap.outcome) == (Outcome.FAIL_CLOSED, Outcome.COMPARED)


def test_what_a_loop_before_the_answer_comes_to_is_not_guessed() -> None:
    """A search by places counted from the end is not followed: nothing is said of where it ends."""
    search = "i = 1\nwhile i <= len(log) and log[-i][0] != last:\n    i += 1\nstart = len(log) - i + 1"
    assert stream_of(handler(search)).on_foreign.outcome is Outcome.UNKNOWN
