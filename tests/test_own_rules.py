"""Rules of the user's own: a library that nobody else knows streams, and the settings name the file that says so."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from sselint.read.python.rules import ENTRY_KEYS, TOP_KEYS, VERBS
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


def with_rules(sselint: CommandLine, text: str, name: str = "ourpush") -> None:
    """Puts a file in the place of the others; files of one name are read once, so that each has a name of its own."""
    for file in (sselint.root / "rules").iterdir():
        file.unlink()
    (sselint.root / "rules" / f"{name}.yaml").write_text(text, encoding="utf-8")
    (sselint.root / "sselint.toml").write_text('rules = ["rules"]\n', encoding="utf-8")


def test_without_them_the_library_is_unknown(sselint: CommandLine) -> None:
    assert sselint.run("check").out == "ok  no event stream here\n"


def test_with_them_it_streams(sselint: CommandLine) -> None:
    with_rules(sselint, RULES)
    (deployment,) = json.loads(sselint.run("check", "--format", "json").out)["deployments"]
    assert deployment["streams"][0]["symbol"] == "feed"
    assert deployment["conditions"]["per_process_ids"]["scope"] == "overlapping"


PAGE = (Path(__file__).parent.parent / "docs" / "python-rules.md").read_text(encoding="utf-8")


def example(language: str) -> str:
    """The one example of the documentation in a language."""
    (text,) = re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    return text


def test_the_example_of_the_documentation_does_what_it_says(sselint: CommandLine) -> None:
    (sselint.root / "app.py").write_text(example("python"), encoding="utf-8")
    assert sselint.run("check").out == "ok  no event stream here\n"
    with_rules(sselint, example("yaml"))
    (deployment,) = json.loads(sselint.run("check", "--format", "json").out)["deployments"]
    assert deployment["verdict"] == "shared-replay"
    with_rules(sselint, example("yaml").replace("where: shared", "where: process"), "in_memory")
    assert sselint.run("check").code == 1


def test_the_documentation_names_what_the_reader_knows() -> None:
    verbs = re.findall(r"^\| `([a-z]+)` \|.*\|.*\|$", PAGE.partition("## What a call does")[2], re.MULTILINE)
    assert set(verbs) == VERBS
    keys = re.findall(r"^\| `([a-z]+)` \|", PAGE.partition("## A name")[2].partition("## What")[0], re.MULTILINE)
    assert set(keys) <= ENTRY_KEYS
    keys = re.findall(r"^\| `([a-z]+)` \|", PAGE.partition("## The file")[2].partition("## A name")[0], re.MULTILINE)
    assert set(keys) <= TOP_KEYS


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
