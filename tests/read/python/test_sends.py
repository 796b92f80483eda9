"""What is an event stream, by what is sent."""

from __future__ import annotations

import pytest

from tests.read.python.programs import reading_of

SERVER = """
import os
import tornado.web
from other import render


class Answer(tornado.web.RequestHandler):
    def get(self):
        {head}
        {sent}


app = tornado.web.Application([("/answer", Answer)])
"""

EVENTS = 'self.set_header("Content-Type", "text/event-stream")'


@pytest.mark.parametrize(
    ("head", "sent", "streams"),
    [
        ("pass", 'self.finish(render("page"))', False),
        ("pass", 'self.write(render("page"))\n        self.flush()', False),
        (EVENTS, "self.write(render(1))\n        self.flush()", True),
        ("pass", 'self.write("data: %s\\n\\n" % render(1))\n        self.flush()', True),
    ],
)
def test_text_that_nobody_knows_is_no_event(head: str, sent: str, streams: bool) -> None:
    """A page is no event stream although what makes it is out of sight. Look-alikes: a head or a framing that says
    that it is one."""
    assert bool(reading_of({"app.py": SERVER.format(head=head, sent=sent)}).streams) is streams
