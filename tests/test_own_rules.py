"""Rules of the user's own: a library that nobody else knows streams, and the settings name the file that says so."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli_runner import CommandLine

SERVER = """\
import itertools

from starlette.applications import Starlette
from starlette.routing import Route

from ourpush import Channel

tick = itertools.count(1)
kept: list[tuple[int, str]] = []


def publish(text):
    kept.append((next(tick), text))


async def feed(request):
    after = int(request.headers.get("x-after") or 0)

    async def body():
        for n, text in kept:
            if n > after:
                yield {"id": str(n), "data": text}

    return Channel(body())


app = Starlette(routes=[Route("/feed", feed)])
"""
RULES = """\
library: ourpush
about: The company's own wrapper around event streams.
evidence: [ourpush]
names:
  ourpush.Channel: {is: sse_starlette.EventSourceResponse}
"""


@pytest.fixture
def sselint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> CommandLine:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "app.py").write_text(SERVER, encoding="utf-8")
    (tmp_path / "Procfile").write_text("web: uvicorn app:app --workers 4\n", encoding="utf-8")
    (tmp_path / "rules").mkdir()
    return CommandLine(tmp_path, monkeypatch, capsys)


def with_rules(sselint: CommandLine, text: str) -> None:
    (sselint.root / "rules" / "ourpush.yaml").write_text(text, encoding="utf-8")
    (sselint.root / "sselint.toml").write_text('rules = ["rules"]\n', encoding="utf-8")


def test_without_them_the_library_is_unknown(sselint: CommandLine) -> None:
    assert sselint.run("check").out == "ok  no event stream here\n"


def test_with_them_it_streams(sselint: CommandLine) -> None:
    with_rules(sselint, RULES)
    (deployment,) = json.loads(sselint.run("check", "--format", "json").out)["deployments"]
    assert deployment["streams"][0]["symbol"] == "feed"
    assert deployment["conditions"]["per_process_ids"]["scope"] == "overlapping"


@pytest.mark.parametrize(
    "text, what",
    [
        ("library: [ourpush\n", "not YAML"),
        ("names: {}\n", "expected a mapping with the key `library`"),
        (RULES.replace("is:", "iss:"), "unknown key 'iss'"),
        (RULES.replace("EventSourceResponse", "NoSuchThing"), "names nothing that was described before it"),
    ],
)
def test_a_file_that_cannot_be_used_is_named_with_what_is_wrong(text: str, what: str, sselint: CommandLine) -> None:
    with_rules(sselint, text)
    run = sselint.run("check")
    assert (run.code, run.out) == (2, "")
    assert "ourpush.yaml" in run.err and what in run.err
