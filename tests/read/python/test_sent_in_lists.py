"""What the cursor had a say in, sent inside of lists and dicts: not understood there any more than by itself."""

from __future__ import annotations

import pytest

from sselint.facts import Outcome, Where
from tests.read.python.programs import HEAD, stream_of

POST = """
import json
import mailbag


def feed(request):
    last = request.headers.get("last-event-id")

    async def body():
        letters = mailbag.{asked}
        yield {{"data": json.dumps({sent})}}

    return EventSourceResponse(body())


app = Starlette(routes=[Route("/feed", feed)])
"""
SENT = [
    "letters",
    "[letters]",
    '{"new": letters}',
    "[x.text for x in letters]",
    '{"new": [dict(text=x) for x in letters]}',
]


@pytest.mark.parametrize("sent", SENT)
def test_what_was_asked_for_with_the_cursor_is_not_ignored(sent: str) -> None:
    stream = stream_of(HEAD + POST.format(asked="since(last)", sent=sent))
    assert stream.on_foreign.outcome is Outcome.UNKNOWN
    assert stream.replay.where is Where.UNKNOWN
    assert "mailbag.since" in stream.on_foreign.why


@pytest.mark.parametrize("sent", SENT)
def test_what_was_asked_for_without_it_turns_on_nothing(sent: str) -> None:
    stream = stream_of(HEAD + POST.format(asked="all()", sent=sent))
    assert stream.on_foreign.outcome is Outcome.IGNORED
