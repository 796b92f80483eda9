"""Coroutines that are handed to what no rule describes, and pages that are no event streams."""

from __future__ import annotations

import pytest

from sselint.facts import IdKind
from tests.read.python.programs import reading_of, stream_of

HANDLER = """
import itertools
import sideways
from tornado import web

numbers = itertools.count()


class Feed(web.RequestHandler):
    def initialize(self):
        self.pool = sideways.Pool()
        self.set_header("Content-Type", "text/event-stream")

    async def say(self, text):
        self.write(f"id: {next(numbers)}\\ndata: {text}\\n\\n")
        await self.flush()

    async def get(self):
        for text in ("a", "b"):
            SAID


app = web.Application([("/feed", Feed)])
"""


@pytest.mark.parametrize(
    "said",
    [
        "await sideways.wrapped(self.say(text))",
        "await self.pool.run(self.say(text))",
        "sideways.run(say=self.say(text))",
    ],
)
def test_a_coroutine_that_is_handed_on_is_run(said: str) -> None:
    assert stream_of(HANDLER.replace("SAID", said)).ids.kind is IdKind.COUNTER


def test_a_function_that_is_handed_on_may_never_be_called() -> None:
    """Look-alike: it is not called yet, and with what nobody can say."""
    assert stream_of(HANDLER.replace("SAID", "sideways.keep(self.say)")).ids.kind is not IdKind.COUNTER


PAGE = """
from tornado import web

page = '''
<p>Events:</p>

<script>
    source.addEventListener("said", function(event) {
        show(event.data);
    });
</script>

'''


class Page(web.RequestHandler):
    def get(self):
        self.write(TEXT)


app = web.Application([("/", Page)])
"""


def test_a_page_with_empty_lines_is_no_event_stream() -> None:
    assert reading_of({"app.py": PAGE.replace("TEXT", "page")}).streams == ()


def test_text_with_the_fields_of_an_event_is_one() -> None:
    """Look-alike: nothing says its media type, and it is framed all the same."""
    (stream,) = reading_of({"app.py": PAGE.replace("TEXT", "'id: 1\\ndata: said\\n\\n'")}).streams
    assert stream.url == "/"
