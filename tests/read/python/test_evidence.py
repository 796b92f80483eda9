"""The cheap look: which Python files have to do with event streams, at what cost."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
import time
from pathlib import Path

import pytest

from sselint.read.python.source.evidence import mentions_stream, words

MENTIONS = [
    'media_type="text/event-stream"',
    'request.headers.get("Last-Event-ID")',
    'request.META["HTTP_LAST_EVENT_ID"]',
    "last_event_id: str | None = Header(None)",
    "def resume(lastEventId): ...",
    "from sse_starlette.sse import EventSourceResponse",
    "from flask_sse import sse",
    "class SSEHub:",
    "class FlaskSSE:",
    "SSE_URL = '/live'",
    "app.include_router(api.sse)",
    'url = "/v1/sse"',
    "from litestar.response import ServerSentEvent",
    "event_source = make()",
    "from mcp.server.streamable_http import EventStore",
    "manager = StreamableHTTPSessionManager(app)",
    "from fastmcp import FastMCP",
    "from starlette.responses import StreamingResponse",
    "return Response(stream_with_context(lines()))",
    "import tornado.web",
]
SILENT = [
    "assert process.assets == classes",
    "ASSERT_TRUE = True",
    "raise CSSError",
    "class ClosSet: ...",
    "passed, missed = session.messages()",
    "stream = open(path)",
    "event = queue.get()",
    "last_event = events[-1]",
    "INSSERT = 'misspelt'",
]


@pytest.mark.parametrize("text", MENTIONS)
def test_what_mentions_streams_is_found(text: str) -> None:
    assert mentions_stream(f"import os\n\n{text}\n")


@pytest.mark.parametrize("text", SILENT)
def test_what_only_looks_alike_is_not(text: str) -> None:
    assert not mentions_stream(f"import os\n\n{text}\n")


def test_words_of_the_users_own_rules_are_found_in_any_case() -> None:
    assert not mentions_stream("from OurPush import Channel")
    assert mentions_stream("from OurPush import Channel", frozenset({"ourpush"}))


def test_every_library_that_says_so_is_evidence() -> None:
    assert {"StreamingResponse", "fastmcp", "sse_starlette"} <= words()
    assert all(mentions_stream(f"import {word}") for word in words())


def test_a_million_lines_take_less_than_a_second() -> None:
    """The design wants 0.2 s for 1.2M lines; five times that is a look that has become something else."""
    files = [p for p in Path(sysconfig.get_path("stdlib")).rglob("*.py") if "site-packages" not in p.parts][::4]
    texts = [p.read_text(encoding="utf-8", errors="replace") for p in files]
    lines = sum(text.count("\n") for text in texts)
    mentions_stream("")
    begin = time.process_time()
    found = sum(mentions_stream(text) for text in texts)
    assert (time.process_time() - begin) * 1.2e6 / lines < 1
    assert found < len(texts) / 20, "and it finds next to nothing where there is next to nothing"


def test_the_look_imports_no_parser() -> None:
    code = (
        "import sys; from sselint.read.python.source.evidence import mentions_stream; mentions_stream('x = 1'); "
        "print([m for m in ('libcst', 'yaml', 'jinja2') if m in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
