"""Streams that work did not come to: they are told, and most of them are come to."""

from __future__ import annotations

import pytest

from sselint.facts import FileOutcome, FileReport, IdKind, Outcome, Truth, Where
from sselint.read.python.answers import streams
from sselint.read.python.server import build
from tests.read.python.programs import reading_of
from tests.read.python.test_order import BUSY

FEED = """
from fastapi import FastAPI
from fastapi.responses import StreamingResponse

app = FastAPI()
{busy}

@app.get("/feed")
async def feed():
    {before}

    async def body():
        yield "id: 1\\ndata: x\\n\\n"

    return StreamingResponse(body(), media_type="text/event-stream")
"""


def _over(files: dict[str, str]) -> list[FileReport]:
    return [f for f in reading_of(files).files if f.outcome is FileOutcome.TOO_LARGE]


def test_a_stream_that_was_seen_and_not_followed_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is known to send events, and nothing is left for the paper runs. A server is not without a stream for that."""
    monkeypatch.setattr(build, "RUN_STEPS", 0)
    monkeypatch.setattr(build, "RUN_EACH", 0)
    (report,) = _over({"app.py": FEED.format(busy="", before="pass")})
    assert (report.path, report.needed) == ("app.py", True)
    assert "`feed`" in report.why


def test_a_stream_that_was_followed_is_not_told() -> None:
    """The look-alike: the same server, and enough for it."""
    assert not _over({"app.py": FEED.format(busy="", before="pass")})


def test_a_handler_that_says_it_streams_and_takes_too_long_to_come_to_it_is_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What it does before is longer than any run may be: no run comes to the response."""
    monkeypatch.setattr(build, "ENTRY_STEPS", 200)
    report, *others = _over({"app.py": FEED.format(busy=BUSY.format(n=0), before="\n    ".join(["busy_0({})"] * 40))})
    assert (report.path, report.needed, others) == ("app.py", True, [])


def test_a_handler_that_never_streams_is_not_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Look-alike: it takes as long, and what it sends is no event stream."""
    monkeypatch.setattr(build, "ENTRY_STEPS", 200)
    text = FEED.format(busy=BUSY.format(n=0), before="\n    ".join(["busy_0({})"] * 40))
    assert not _over({"app.py": text.replace("text/event-stream", "text/plain"), "b.py": "# text/event-stream"})


HANDLER = """
@app.get("/feed/{n}")
async def feed_{n}(request: Request):
    {read}

    async def body():
        for one in range(3):
            if request.query_params.get("even"):
                yield f"data: {{one}}\\n\\n"
            elif request.query_params.get("odd"):
                yield f"data: {{one}}!\\n\\n"

    return StreamingResponse(body(), media_type="text/event-stream")
"""


def test_many_streams_without_ids_leave_enough_for_the_last_that_has_some() -> None:
    """Sixty streams that name no event come before the one that does."""
    head = "from fastapi import FastAPI, Request\nfrom fastapi.responses import StreamingResponse\n\napp = FastAPI()\n"
    plain = "".join(HANDLER.format(n=n, read="pass") for n in range(60))
    last = HANDLER.format(n="last", read='last = request.headers.get("last-event-id")')
    named = last.replace('f"data: {one}!', 'f"id: {one}\\ndata: {one}!')
    streams = reading_of({"app.py": head + plain + named}).streams
    assert len(streams) == 61
    found = next(s for s in streams if s.symbol == "feed_last")
    assert (found.ids.kind, found.on_foreign.outcome) == (IdKind.INDEX, Outcome.IGNORED)
    others = {(s.ids.kind, s.on_foreign.outcome) for s in streams if s is not found}
    assert others == {(IdKind.NONE, Outcome.NOT_READ)}


POOLED = """
from fastapi import FastAPI
from fastapi.responses import StreamingResponse
from psycopg_pool import AsyncConnectionPool

app = FastAPI()
pool = AsyncConnectionPool("postgresql://db", open=False)


@app.get("/feed")
async def feed():
    if {test}:
        raise RuntimeError("it is not open")

    async def body():
        yield "data: x\\n\\n"

    return StreamingResponse(body(), {says})
"""
MEDIA = 'media_type="text/event-stream"'


def test_a_member_of_a_library_object_that_no_rule_describes_may_be_a_value() -> None:
    """A pool is not closed for ever because nobody knows what `closed` is."""
    reading = reading_of({"app.py": POOLED.format(test="pool.closed", says=MEDIA)})
    assert [s.symbol for s in reading.streams] == ["feed"]
    assert not reading.files


def test_a_handler_that_says_it_streams_and_is_refused_on_every_path_is_told() -> None:
    """Whatever is wrong with the way to it: the stream must not be missing without a word."""
    reading = reading_of({"app.py": POOLED.format(test="pool.close", says=MEDIA)})
    (report,) = reading.files
    assert (report.outcome, report.needed) == (FileOutcome.PARTLY, True)
    assert "`feed` says that an event stream is sent" in report.why


def test_a_handler_that_asks_for_a_stream_and_answers_otherwise_is_not_told() -> None:
    """Look-alike: the media type stands in what it asks another server for."""
    text = POOLED.format(test="pool.close", says='headers={"accept": "text/event-stream"}')
    assert not reading_of({"app.py": text}).files


KIT = """
from fastapi import FastAPI
from fastapi.responses import StreamingResponse


async def feed():
    async def body():
        yield "id: 1\\ndata: x\\n\\n"

    return StreamingResponse(body(), media_type="text/event-stream")


class Kit:
    def application(self):
        made = FastAPI()
        made.get("/feed")(feed)
        return made
"""


@pytest.mark.parametrize(("user", "told"), [("examples/shop.py", 0), ("shop.py", 1)])
def test_a_library_whose_streams_only_its_examples_mount_is_not_missed(
    monkeypatch: pytest.MonkeyPatch, user: str, told: int
) -> None:
    """Look-alike: the application is made by a module that a command line can name."""
    monkeypatch.setattr(build, "RUN_STEPS", 0)
    monkeypatch.setattr(build, "RUN_EACH", 0)
    files = {"kit/__init__.py": KIT, user: "from kit import Kit\n\napp = Kit().application()\n"}
    assert len(_over(files)) == told


CROWDED = """
from fastapi import FastAPI, Request
from fastapi.responses import StreamingResponse

app = FastAPI()


@app.get("/feed")
async def feed(request: Request):
    async def body():
        last = request.headers.get("{header}")
        said = ""
{parts}
        yield f"id: 1\\ndata: {{said}}{{last}}\\n\\n"

    return StreamingResponse(body(), media_type="text/event-stream")
"""


@pytest.mark.parametrize(("header", "place"), [("x-trace", Where.NONE), ("last-event-id", Where.UNKNOWN)])
def test_what_is_left_of_a_crowded_stream_may_replay_only_where_a_cursor_is_read(
    monkeypatch: pytest.MonkeyPatch, header: str, place: Where
) -> None:
    """More ways branch off than are followed, and nothing was replayed on those that were. Where nothing in the tree
    reads a cursor nobody can ask for what was missed, whatever the other ways do."""
    ask = '        if request.query_params.get("q{0}"):\n            said += request.query_params["q{0}"]'
    monkeypatch.setattr(streams, "PATHS", 16)
    text = CROWDED.format(header=header, parts="\n".join(ask.format(n) for n in range(20)))
    (stream,) = reading_of({"app.py": text}).streams
    assert stream.replay.where is place


ELSEWHERE = """
from flask import Flask, Response, request

app = Flask(__name__)


@app.get("/feed")
def feed():
    last = {cursor}

    def body():
        said = ""
{parts}
        yield f"id: 1\\ndata: {{said}}\\n\\n"
        if last:
            yield f"data: {{last}}\\n\\n"

    return Response(body(), mimetype="text/event-stream")
"""


LATER = """request.args.get("seen")
    if last is None:
        last = request.headers.get("{header}")
"""
LATER_STILL = """None
    seen = request.args.get("seen")
    if seen:
        last = seen
    else:
        last = request.headers.get("{header}")
"""


@pytest.mark.parametrize(
    ("cursor", "read"),
    [
        ('request.args.get("seen") or request.headers.get("Last-Event-ID")', Truth.YES),
        ('request.args["seen"] if request.args.get("seen") else request.headers.get("Last-Event-ID")', Truth.YES),
        (LATER.format(header="Last-Event-ID"), Truth.YES),
        (LATER_STILL.format(header="Last-Event-ID"), Truth.YES),
        ('request.args.get("seen") or request.headers.get("X-Seen")', Truth.NO),
        (LATER.format(header="X-Seen"), Truth.NO),
    ],
)
def test_what_stands_in_the_place_of_the_cursor_is_left_out_first(
    monkeypatch: pytest.MonkeyPatch, cursor: str, read: Truth
) -> None:
    """More ways branch off than are followed: those on which the client has none of its own begin. The look-alike reads
    another header, and no cursor."""
    monkeypatch.setattr(streams, "PATHS", 4)
    monkeypatch.setattr(streams, "SHAPE_PATHS", 4)
    ask = '        if request.args.get("q{0}"):\n            said += request.args["q{0}"]'
    text = ELSEWHERE.format(cursor=cursor, parts="\n".join(ask.format(n) for n in range(20)))
    (stream,) = reading_of({"app.py": text}).streams
    assert stream.cursor.read is read
