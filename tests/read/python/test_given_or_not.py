"""An argument of a library's object that some path leaves out: that it is there must not be lost for that."""

from __future__ import annotations

from sselint.facts import IdKind
from tests.read.python.programs import reading_of, stream_of

SERVER = """
from mcp.server.lowlevel import Server
from mcp.server.streamable_http import EventStore
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.applications import Starlette
from starlette.routing import Mount


class Journal(EventStore):
    def __init__(self):
        self.number = 0
        self.entries = []

    async def store_event(self, stream_id, message):
        self.number += 1
        self.entries.append((str(self.number), message))
        return str(self.number)

    async def replay_events_after(self, last_event_id, send_callback):
        for number, message in self.entries:
            if number == last_event_id:
                return "stream"
        return None


def served(journal=None):
    manager = StreamableHTTPSessionManager(app=Server("x"), event_store=journal)
    return Starlette(routes=[Mount("/mcp", app=manager.handle_request)])


def main(keep=True):
    return served({journal})


app = main({keep})
"""


def test_a_journal_that_a_switch_may_leave_out_still_names_the_events() -> None:
    stream = stream_of(SERVER.format(journal="Journal() if keep else None", keep="bool(input())"))
    assert stream.ids.kind is IdKind.COUNTER


def test_a_journal_that_is_never_given_names_none() -> None:
    (stream,) = (s for s in reading_of({"app.py": SERVER.format(journal="None", keep="False")}).streams if s.apps)
    assert stream.ids.kind is IdKind.NONE
