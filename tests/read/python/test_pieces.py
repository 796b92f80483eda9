"""A cursor that is cut up again at the sign with which its id was put together, and how many pieces it has."""

from __future__ import annotations

import pytest

from sselint.facts import Outcome, Where
from tests.read.python.programs import answered, stream_of

STORE = """
import redis
log = redis.from_url("redis://log")


def publish(room, text):
    number = log.incr("number")
    log.zadd(f"room:{room}", {text: number})
"""

HANDLER = """
room = request.query_params["room"]
last = request.headers.get("last-event-id") or f"{{room}}:0"
{cut}

async def body():
    for text, number in log.zrangebyscore(f"room:{{name}}", f"({{int(after)}}", "+inf", withscores=True):
        yield {{"id": f"{{name}}:{{int(number)}}", "data": text}}

return EventSourceResponse(body())
"""

REFUSES = "return Response(status_code=400)"
CUTS = {
    "from the end, once": f'parts = last.rsplit(":", 1)\nif len(parts) != 2:\n    {REFUSES}\nname, after = parts',
    "by a keyword": f'parts = last.rsplit(":", maxsplit=1)\nif len(parts) < 2:\n    {REFUSES}\nname, after = parts',
    "as often as it goes": f'parts = last.split(":")\nif len(parts) != 2:\n    {REFUSES}\nname, after = parts',
    "the other way round": f'parts = last.split(":")\nif 2 > len(parts):\n    {REFUSES}\nname, after = parts',
    "if there are two": f'parts = last.split(":")\nif len(parts) == 2:\n    name, after = parts\nelse:\n    {REFUSES}',
    "more than one": f'parts = last.split(":")\nif len(parts) > 1:\n    name, after = parts\nelse:\n    {REFUSES}',
}


@pytest.mark.parametrize("name", CUTS)
def test_a_cursor_has_as_many_pieces_as_its_id(name: str) -> None:
    """One that is well formed passes the check that a program makes of its own ids. Look-alike: one that is not."""
    stream = stream_of(answered(HANDLER.format(cut=CUTS[name]), STORE))
    assert stream.on_foreign.outcome is Outcome.COMPARED
    assert stream.replay.where is Where.SHARED
    assert stream.on_malformed is not None
    assert (stream.on_malformed.outcome, stream.on_malformed.status) == (Outcome.FAIL_CLOSED, 400)


def test_another_number_than_it_has() -> None:
    """An id of two pieces is refused by who asks for three."""
    kept = "import itertools\nlog = []\nnumbers = itertools.count()\n\n\ndef publish(text):\n"
    kept += '    log.append((f"feed:{next(numbers)}", text))\n'
    handler = """
    last = request.headers.get("last-event-id") or "feed:1:0"
    parts = last.split(":")
    if len(parts) != {wanted}:
        return Response(status_code=400)

    async def body():
        for key, text in list(log):
            if int(key.split(":")[1]) > int(parts[1]):
                yield {{"id": key, "data": text}}

    return EventSourceResponse(body())
    """
    assert stream_of(answered(handler.format(wanted=2), kept)).on_foreign.outcome is Outcome.COMPARED
    assert stream_of(answered(handler.format(wanted=3), kept)).on_foreign.outcome is Outcome.FAIL_CLOSED


def test_what_was_made_of_the_cursor_may_equal_a_number() -> None:
    """Where a separator stands in the cursor is not known: it is not taken to stand elsewhere, so that who refuses then
    would refuse whatever comes."""
    handler = """
    last = request.headers.get("last-event-id", "")
    if last.find("-") != 8:
        return Response(status_code=409)

    async def body():
        for key, text in list(log):
            yield {"id": key, "data": text}

    return EventSourceResponse(body())
    """
    assert stream_of(answered(handler)).on_foreign.outcome is Outcome.UNKNOWN


CUT = """
last = request.headers.get("last-event-id")
after = 0
match (last or "0").split("-"):
    case PATTERN:
        after = int(NUMBER)
    case _:
        return Response("malformed", status_code=400)

async def body():
    for number, text in log:
        if number > after:
            yield {"id": IDENTITY, "data": text}

return EventSourceResponse(body())
"""
NUMBERS = """
log = []


def publish(text):
    log.append((len(log) + 1, text))
"""


@pytest.mark.parametrize(
    ("pattern", "number", "identity"),
    [
        ("[number] if number.isdigit()", "number", "str(number)"),
        ("['feed', number]", "number", "f'feed-{number}'"),
        ("[_, *rest]", "rest[1]", "f'feed-{number}'"),
    ],
)
def test_what_a_case_takes_of_a_cursor_is_held_against_the_events(pattern: str, number: str, identity: str) -> None:
    """The pieces that a pattern names are the cursor's, and a malformed one has others."""
    handler = CUT.replace("PATTERN", pattern).replace("NUMBER", number).replace("IDENTITY", identity)
    stream = stream_of(answered(handler, NUMBERS))
    assert stream.on_foreign.outcome is Outcome.COMPARED


def test_a_case_of_more_pieces_than_an_id_has_is_passed_over() -> None:
    """Ids of one piece match no pattern of two: whoever comes back is refused."""
    handler = CUT.replace("PATTERN", "[_, number]").replace("NUMBER", "number").replace("IDENTITY", "str(number)")
    stream = stream_of(answered(handler, NUMBERS))
    assert (stream.on_foreign.outcome, stream.on_foreign.status) == (Outcome.FAIL_CLOSED, 400)
