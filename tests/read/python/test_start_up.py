"""Bodies of modules that the reader does not come through: what stands below is defined nonetheless."""

from __future__ import annotations

import pytest

from sselint.facts import IdKind, Where
from tests.read.python.programs import stream_of

SERVER = """
from fastapi import FastAPI, Request
from fastapi.responses import StreamingResponse
from home import log, publish

app = FastAPI()


@app.post("/say")
async def say(text: str):
    publish(text)


@app.get("/feed")
async def feed(request: Request):
    last = int(request.headers.get("last-event-id", "0"))

    async def body():
        for number, text in list(log):
            if number > last:
                yield f"id: {number}\\ndata: {text}\\n\\n"

    return StreamingResponse(body(), media_type="text/event-stream")
"""
HOME = """
from disks import places


def writable(place):
    return False


def settle():
    for place in places():
        if writable(place):
            return place
    raise RuntimeError("there is no place to write to")


PLACE = {place}
log = []


def publish(text):
    log.append((len(log) + 1, text))
"""
LONG = """
def busy(depth):
    total = []
    for one in range(9):
        for other in range(9):
            total.append([one, other, depth])
            total.append(busy_too(other))
    return total


def busy_too(given):
    return [x for x in range(given) if x]


PLACE = [busy(n) for n in range(9)] + [busy(n) for n in range(9)]
PLACE += [busy(n) for n in range(9)] + [busy(n) for n in range(9)]
"""


@pytest.mark.parametrize("place", ["settle()", '"/srv"'], ids=["fails on every path", "is written down"])
def test_a_statement_of_a_module_that_raises_on_every_path_costs_itself_alone(place: str) -> None:
    """A server that runs has started, whatever is thought of its start."""
    stream = stream_of({"app.py": SERVER, "home.py": HOME.format(place=place)})
    assert (stream.ids.kind, stream.replay.where) == (IdKind.INDEX, Where.MEMORY)


def test_a_statement_of_a_module_that_takes_too_long_costs_itself_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    from sselint.read.python.server import world

    monkeypatch.setattr(world, "MODULE_STEPS", 400)
    home = HOME.format(place='"/srv"').replace('PLACE = "/srv"', LONG)
    stream = stream_of({"app.py": SERVER, "home.py": home})
    assert (stream.ids.kind, stream.replay.where) == (IdKind.INDEX, Where.MEMORY)
