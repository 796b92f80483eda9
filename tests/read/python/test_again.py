"""Streams under the environment of their deployment: those of one application are read together, each as alone."""

from __future__ import annotations

import pytest

from sselint.facts import FileOutcome, IdKind, Stream
from sselint.read.python import Program
from sselint.read.python import program as program_module
from sselint.read.python.server import build
from sselint.read.python.server.world import World
from sselint.read.python.source.modules import ModuleTable
from sselint.source import Source, Tree
from tests.read.python.programs import HEAD, settings

SERVER = """
import os
import time
import uuid

BY_CLOCK = os.environ.get("BY_CLOCK")
SHORT = os.environ.get("SHORT_NAMES")


async def timed(request):
    async def body():
        yield {"id": str(time.time()) if BY_CLOCK else str(uuid.uuid4()), "data": "now"}

    return EventSourceResponse(body())


async def named(request):
    async def body():
        yield {"id": "one" if SHORT else str(uuid.uuid4()), "data": "now"}

    return EventSourceResponse(body())


async def plain(request):
    async def body():
        yield {"id": str(time.time()), "data": "now"}

    return EventSourceResponse(body())


app = Starlette(routes=[Route("/timed", timed), Route("/named", named), Route("/plain", plain)])
"""


def _program(files: dict[str, str]) -> Program:
    sources = [Source(path, text, "python") for path, text in files.items()]
    return Program(sources, Tree(".", tuple(files), lambda path: files[path].encode()))


@pytest.fixture
def built(monkeypatch: pytest.MonkeyPatch) -> list[World]:
    """The worlds that are built from now on."""
    worlds: list[World] = []
    original = build.build

    def noted(world: World, *others: object) -> object:
        worlds.append(world)
        return original(world, *others)  # type: ignore[arg-type]

    monkeypatch.setattr(build, "build", noted)
    return worlds


def _by_name(program: Program) -> dict[str, Stream]:
    return {stream.symbol: stream for stream in program.read().streams}


def test_streams_of_one_application_share_the_world_of_an_environment(built: list[World]) -> None:
    program = _program({"app.py": HEAD + SERVER})
    streams = _by_name(program)
    environment = settings(BY_CLOCK="1", SHORT_NAMES="1")
    under = {name: program.again(stream, environment) for name, stream in streams.items()}
    assert len(built) == 2  # for the reading, and for the environment
    assert {name: s.ids.kind for name, s in streams.items() if s.environment} == {
        "timed": IdKind.UNKNOWN,
        "named": IdKind.UNKNOWN,
    }
    assert {name: s.ids.kind for name, s in under.items()} == {
        "timed": IdKind.CLOCK,
        "named": IdKind.CONSTANT,
        "plain": IdKind.CLOCK,
    }
    assert {name: s.url for name, s in under.items()} == {name: s.url for name, s in streams.items()}


def test_another_environment_is_another_world(built: list[World]) -> None:
    program = _program({"app.py": HEAD + SERVER})
    stream = _by_name(program)["timed"]
    assert program.again(stream, settings(BY_CLOCK="1")).ids.kind is IdKind.CLOCK
    assert program.again(stream, settings(BY_CLOCK="")).ids.kind is IdKind.RANDOM
    assert len(built) == 3


def test_streams_of_other_applications_are_not_read_with_it(built: list[World]) -> None:
    program = _program({"one/app.py": HEAD + SERVER, "two/app.py": HEAD + SERVER})
    streams = [s for s in program.read().streams if s.symbol == "timed"]
    environment = settings(BY_CLOCK="1")
    assert [program.again(s, environment).ids.kind for s in streams] == [IdKind.CLOCK, IdKind.CLOCK]
    assert len(built) == 3


def test_what_is_not_read_again_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(program_module, "AGAIN_SECONDS", -1.0)
    program = _program({"app.py": HEAD + SERVER})
    streams = _by_name(program)
    assert program.left_out() == []
    assert program.again(streams["timed"], settings(BY_CLOCK="1")) == streams["timed"]
    assert program.again(streams["plain"], settings(BY_CLOCK="1")) == streams["plain"]
    (report,) = program.left_out()
    assert (report.path, report.outcome, report.needed) == ("app.py", FileOutcome.TOO_LARGE, True)
    assert "`timed`" in report.why
    assert "plain" not in report.why


@pytest.mark.parametrize("cut", [True, False])
def test_what_is_not_found_again_is_told_where_work_ended_before(monkeypatch: pytest.MonkeyPatch, cut: bool) -> None:
    program = _program({"app.py": HEAD + SERVER})
    stream = _by_name(program)["timed"]

    def nothing(world: World, *_: object) -> list[object]:
        world.cut = cut
        return []

    monkeypatch.setattr(build, "build", nothing)
    assert program.again(stream, settings(BY_CLOCK="1")) is stream
    assert [report.path for report in program.left_out()] == ["app.py"] * cut


def test_what_is_mounted_twice_keeps_its_addresses() -> None:
    twice = SERVER.replace('Route("/timed", timed), ', 'Route("/timed", timed), Route("/again", timed), ')
    program = _program({"app.py": HEAD + twice})
    streams = [s for s in program.read().streams if s.symbol == "timed"]
    under = [program.again(s, settings(BY_CLOCK="1")) for s in streams]
    assert sorted(str(s.url) for s in under) == ["/again", "/timed"]


def test_importers_come_in_the_order_of_what_they_import() -> None:
    names = [f"part_{number}" for number in range(30)]
    files = {f"{name}.py": "" for name in names} | {f"of_{name}.py": f"import {name}\n" for name in names}
    table = ModuleTable([Source(path, text, "python") for path, text in files.items()])
    assert table.importers([f"{name}.py" for name in reversed(names)], 10) == [
        f"of_{name}.py" for name in list(reversed(names))[:10]
    ]
