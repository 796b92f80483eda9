"""A balancer's repository without a server: the server is assumed, stated in the settings, or read elsewhere."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from sselint.deployment import Audit
from sselint.facts import Outcome, Run
from sselint.report.facts_json import render_facts_json
from tests.cli_runner import CommandLine
from tests.report import builders

NGINX = """\
events {}
http {
  upstream feed { server feed-1:8000; server feed-2:8000; server feed-3:8000; }
  server { listen 80; location / { proxy_pass http://feed; proxy_read_timeout 1h; } }
}
"""


@pytest.fixture
def sselint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> CommandLine:
    """The command line in a folder that holds an nginx configuration and nothing else."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "nginx.conf").write_text(NGINX, encoding="utf-8")
    return CommandLine(tmp_path, monkeypatch, capsys)


def verdict(sselint: CommandLine, *arguments: str) -> tuple[str, int]:
    """The verdict of the one deployment, and the exit code."""
    run = sselint.run("check", "--format", "json", *arguments)
    assert run.err == ""
    (deployment,) = json.loads(run.out)["deployments"]
    assert [hop["path"] for hop in deployment["hops"]] == ["nginx.conf"]
    return deployment["verdict"], run.code


def test_without_a_server_nothing_is_raised(sselint: CommandLine) -> None:
    run = sselint.run("check")
    assert (run.code, run.out.count("\n")) == (0, 1)


@pytest.mark.parametrize(
    "assumed, expected",
    [
        ("ids=counter,unknown=tolerant", ("corrupt", 1)),
        ("ids=counter", ("corrupt", 1)),
        ("ids=random,unknown=refused", ("loud", 0)),
        ("ids=counter,unknown=refused", ("corrupt", 1)),
        ("ids=store,replay=shared", ("shared-replay", 0)),
    ],
)
def test_an_assumed_server(assumed: str, expected: tuple[str, int], sselint: CommandLine) -> None:
    """A counter that is refused still corrupts: the id is not unknown, it is somebody else's."""
    assert verdict(sselint, "--assume", assumed) == expected


def test_a_server_that_the_settings_state(sselint: CommandLine) -> None:
    settings = '[[streams]]\nname = "events"\nids = "random"\nunknown = "refused"\n'
    (sselint.root / "sselint.toml").write_text(settings, encoding="utf-8")
    assert verdict(sselint) == ("loud", 0)
    text = sselint.run("check").out
    assert "sselint.toml:1" in text
    assert "sselint.toml:1 says unknown = refused" in " ".join(text.split())


def test_a_server_that_was_read_in_its_own_repository(sselint: CommandLine) -> None:
    """What `facts --format json` wrote there is judged here, with the places of there."""
    facts = sselint.root / "app.json"
    facts.write_text(render_facts_json(Audit(root="app", streams=(builders.stream(),))), encoding="utf-8")
    assert verdict(sselint, "--facts", "app.json") == ("corrupt", 1)
    text = sselint.run("check", "--facts", "app.json").out
    assert "app.py:8:8" in text

    refusing = replace(
        builders.stream(),
        ids=replace(builders.stream().ids, scope=builders.Scope.UNIQUE_LOCAL, kind=builders.IdKind.RANDOM),
        on_foreign=Run(Outcome.FAIL_CLOSED, "409", status=409),
        on_overlap=None,
    )
    facts.write_text(render_facts_json(Audit(root="app", streams=(refusing,))), encoding="utf-8")
    assert verdict(sselint, "--facts", "app.json") == ("loud", 0)


def test_a_declared_policy_is_held_against_the_deployment(sselint: CommandLine) -> None:
    loud = ("--assume", "ids=random,unknown=refused")
    assert verdict(sselint, *loud, "--policy", "pinned-fail-closed") == ("loud", 1)
    assert "declared policy 2 (pinned-fail-closed)" in sselint.run("check", *loud, "--policy", "pinned-fail-closed").out
    assert verdict(sselint, *loud, "--fail-on", "warning") == ("loud", 1)


APP = "from fastapi import FastAPI\n\napp = FastAPI()\n"
"""A server without a stream."""


def test_a_table_for_a_stream_that_is_not_in_the_tree_is_refused(sselint: CommandLine) -> None:
    sselint.root.joinpath("sselint.toml").write_text(
        '[[streams]]\nname = "events"\nids = "counter"\n\n[[deployments]]\nstream = ":event"\nreplicas = 3\n'
    )
    run = sselint.run("check")
    assert (run.code, run.out) == (2, "")
    assert "no stream `:event` in the tree" in run.err and "sselint.toml:6" in run.err
    assert "sselint.toml:events" in run.err


def test_a_table_for_a_stream_that_may_be_where_nobody_could_look_is_kept(sselint: CommandLine) -> None:
    """In a file with a syntax error, or outside the folder that is read, the stream may well be."""
    sselint.root.joinpath("sselint.toml").write_text('[[deployments]]\nstream = "app/main.py:events"\nreplicas = 3\n')
    sselint.root.joinpath("deploy").mkdir()
    assert sselint.run("check", "deploy").code == 0
    broken = sselint.root / "app" / "main.py"
    broken.parent.mkdir()
    broken.write_text(APP + "from sse_starlette import EventSourceResponse\n\n\ndef events(:\n")
    assert "SSE901" in sselint.run("check").out
    broken.write_text(APP)
    assert sselint.run("check").code == 2


def test_hops_outside_the_folder_that_is_read_are_not_left_to_the_linker(sselint: CommandLine) -> None:
    """The deployment would be judged as another one: without the balancer in front."""
    sselint.root.joinpath("sselint.toml").write_text(
        '[[deployments]]\nstream = "app/main.py:events"\nroutes = ["nginx.conf:feed"]\n'
    )
    app = sselint.root / "app" / "main.py"
    app.parent.mkdir()
    app.write_text(
        "from fastapi import FastAPI\nfrom sse_starlette import EventSourceResponse\n\napp = FastAPI()\n\n\n"
        '@app.get("/events")\nasync def events():\n    async def body():\n        yield {"data": "x"}\n\n'
        "    return EventSourceResponse(body())\n"
    )
    assert sselint.run("check").code == 0
    run = sselint.run("check", "app")
    assert run.code == 2 and "only app is read; run it on the whole tree" in run.err


@pytest.mark.parametrize("key", ["path", "line", "symbol", "deployable"])
@pytest.mark.parametrize("value", [None, [], {"a": 1}])
def test_facts_with_a_value_of_another_type_are_refused(key: str, value: object, sselint: CommandLine) -> None:
    """Look-alike: the same facts as they were written are taken (above)."""
    audit = Audit(root=".", streams=(builders.stream(),))
    document = json.loads(render_facts_json(audit))
    document["streams"][0][key] = value
    Path("app.json").write_text(json.dumps(document), encoding="utf-8")
    run = sselint.run("check", "--facts", "app.json")
    assert run.code == 2
    assert "not facts of version 1" in run.err
