"""Rows of events that are written down where they are sent: in a function, in a class, in the loop itself."""

from __future__ import annotations

import pytest

from sselint.facts import IdKind, Outcome, Scope, Where
from tests.read.python.programs import HEAD, stream_of

STEPS = """
class Recipe:
    STEPS = ("wash", "peel", "slice", "fry")


def feed(request):
    {before}

    async def body():
        {loop}

    return EventSourceResponse(body())


app = Starlette(routes=[Route("/feed", feed)])
"""
COUNTED = """last = int(request.headers.get("last-event-id", "0"))
    steps = {row}"""
BEHIND = """for number, text in enumerate({row}[last:], start=last + 1):
            yield {{"id": str(number), "data": text}}"""
SOUGHT = """last = request.headers.get("last-event-id")
    steps = ["wash", "peel", "slice", "fry"]
    first = steps.index(last) + 1 if last else 0"""
BY_NAME = """for text in steps[first:]:
            yield {"id": text, "data": text}"""


@pytest.mark.parametrize("row", ['("wash", "peel", "slice")', '["wash", "peel", "slice"]', "Recipe.STEPS"])
@pytest.mark.parametrize("named", ["steps", None])
def test_what_stands_behind_the_place_of_the_client_is_sent(row: str, named: str | None) -> None:
    """The places are the same on every process, wherever the row is written."""
    loop = BEHIND.format(row=named or row)
    stream = stream_of(HEAD + STEPS.format(before=COUNTED.format(row=row), loop=loop))
    assert (stream.ids.kind, stream.ids.scope) == (IdKind.CONSTANT, Scope.SHARED), stream.ids.why
    assert stream.replay.where is Where.SHARED, stream.replay.why
    assert stream.on_foreign.outcome is Outcome.COMPARED, stream.on_foreign.why
    assert stream.on_missing.outcome is Outcome.REPLAY_ALL, stream.on_missing.why


def test_a_row_that_is_searched_for_the_name_of_a_step() -> None:
    stream = stream_of(HEAD + STEPS.format(before=SOUGHT, loop=BY_NAME))
    assert (stream.ids.kind, stream.ids.scope) == (IdKind.CONSTANT, Scope.SHARED), stream.ids.why
    assert stream.on_missing.outcome is Outcome.REPLAY_ALL, stream.on_missing.why


def test_a_row_that_nobody_sends_is_no_replay() -> None:
    """The look-alike: the row is cut at the cursor and thrown away."""
    stream = stream_of(
        HEAD
        + STEPS.format(before=COUNTED.format(row='("wash", "peel")'), loop="len(steps[last:]); yield {'data': 'ready'}")
    )
    assert stream.replay.where is Where.NONE, stream.replay.why
    assert stream.ids.kind is IdKind.NONE
