"""Large trees: what writes down a stream is looked at first, and what was not reached is told."""

from __future__ import annotations

import pytest

from sselint.facts import FileOutcome, IdKind, Outcome
from sselint.read.python.server import build
from tests.read.python.programs import reading_of

BUSY = """
def busy_{n}(given):
    total = []
    for one in range(9):
        for other in range(9):
            total.append(given[one] if given.get(other) else other)
            total.append([x for x in total if x])
    return total
"""

FACTORY = """
from fastapi import FastAPI
from fastapi.responses import StreamingResponse
{busy}

def make(*, folder: str, web: bool, origins=None):
    app = FastAPI()
    if origins:
        app.title = "with origins"
    if web and folder:
        @app.get("/plain")
        def plain():
            return folder

    @app.post("/run_events")
    async def run(request):
        async def body():
            yield f"data: {{folder}}\\n\\n"

        return StreamingResponse(body(), media_type="{media}")

    return app
"""

ENDPOINTS = """
from fastapi import FastAPI, Request
from fastapi.responses import StreamingResponse

app = FastAPI()
{busy}

@app.get("/feed")
async def feed(request: Request):
    async def body():
        for number in range(3):
            yield f"id: {{number}}\\ndata: x\\n\\n"

    return StreamingResponse(body(), media_type="{media}")
"""


def _busy(count: int, decorator: str = "") -> str:
    return "".join(decorator.format(n=n) + BUSY.format(n=n) for n in range(count))


def _tight(monkeypatch: pytest.MonkeyPatch, **stages: int) -> None:
    """Stages of a size that a large tree would exhaust, so that a small one does."""
    monkeypatch.setattr(build, "_STAGES", dict.fromkeys(build._STAGES, 4_000) | stages)


@pytest.mark.parametrize(("media", "streams"), [("text/event-stream", 1), ("application/json", 0)])
def test_a_factory_that_writes_down_a_stream_comes_before_functions_that_stand_before_it(
    media: str, streams: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The application is made under conditions, in a function that nobody calls. The look-alike sends JSON."""
    _tight(monkeypatch)
    found = reading_of({"service/app.py": FACTORY.format(busy=_busy(40), media=media)}).streams
    assert [s.url for s in found if s.symbol == "run"] == ["/run_events"] * streams


@pytest.mark.parametrize(("media", "streams"), [("text/event-stream", 1), ("application/json", 0)])
def test_an_endpoint_that_streams_is_asked_before_those_that_only_take_long(
    media: str, streams: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Forty handlers before it would take all there is. The look-alike sends JSON."""
    monkeypatch.setattr(build, "PROBE_STEPS", 20_000)
    text = ENDPOINTS.format(busy=_busy(40, '\n@app.get("/stream/{n}")'), media=media)
    found = reading_of({"app.py": text}).streams
    assert len(found) == streams
    if found:
        assert (found[0].url, found[0].ids.kind) == ("/feed", IdKind.INDEX)
        assert found[0].on_foreign.outcome is Outcome.NOT_READ


LATE = "class Late:\n    def answer(self):\n        return {'content-type': 'text/event-stream'}\n"
UNREACHED = {
    "a_app.py": ENDPOINTS.format(busy=_busy(3), media="text/event-stream"),
    "z_late.py": "from fastapi import APIRouter\n\nrouter = APIRouter()\n\n\n" + LATE,
    "z_client.py": LATE,
}


def test_a_file_that_writes_down_a_stream_and_was_not_reached_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing runs of the late file, and work ended because there was no more: it must not pass for read. The
    look-alike makes no router: it may as well be a client."""
    _tight(monkeypatch, core=1)
    monkeypatch.setattr(build, "LOOSE_STEPS", 0)
    partly = [f for f in reading_of(UNREACHED).files if f.outcome is FileOutcome.TOO_LARGE]
    assert [f.path for f in partly] == ["z_late.py"]
    assert "so large" in partly[0].why


def test_a_file_of_which_nothing_had_to_run_is_not_told_where_there_was_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """The look-alike: the same files, and enough for all of them."""
    assert not [f for f in reading_of(UNREACHED).files if f.outcome is FileOutcome.TOO_LARGE]


def test_a_file_of_names_alone_is_read_when_it_is_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    """No function stands in it: that its body ran is all that can be asked."""
    _tight(monkeypatch, core=1)
    monkeypatch.setattr(build, "LOOSE_STEPS", 0)
    files = UNREACHED | {"z_names.py": "class Media:\n    stream = 'text/event-stream'\n"}
    partly = [f for f in reading_of(files).files if f.outcome is FileOutcome.TOO_LARGE]
    assert [f.path for f in partly] == ["z_late.py"]
