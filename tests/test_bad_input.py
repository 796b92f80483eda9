"""What cannot be read is named with its place and its reason, and nothing else is lost by it."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from sselint import cli
from tests.cli_runner import CommandLine

SAMPLES = Path(__file__).parent.parent / "sample_configs"


@pytest.fixture
def sselint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> CommandLine:
    monkeypatch.chdir(tmp_path)
    return CommandLine(tmp_path, monkeypatch, capsys)


def sample(sselint: CommandLine, name: str) -> None:
    shutil.copytree(SAMPLES / name, sselint.root, dirs_exist_ok=True)


def check(sselint: CommandLine) -> tuple[dict[str, Any], int]:
    run = sselint.run("check", "--format", "json")
    assert run.err == ""
    return json.loads(run.out), run.code


def troubles(document: dict[str, Any]) -> list[tuple[str, str, int]]:
    return [(f["code"], f["path"], f["line"]) for f in document["findings"] if f["code"].startswith("SSE9")]


def test_a_server_that_does_not_parse(sselint: CommandLine) -> None:
    """It held evidence of a stream, so that the run may not end as if there were none."""
    sample(sselint, "policy-2-pinned-fail-closed")
    file = sselint.root / "agent.py"
    lines = len(file.read_text(encoding="utf-8").splitlines())
    file.write_text(file.read_text(encoding="utf-8") + "def broken(:\n", encoding="utf-8")
    document, code = check(sselint)
    ((found, path, line),) = troubles(document)
    assert (found, path, code) == ("SSE901", "agent.py", 3)
    assert abs(line - lines) <= 1
    assert "agent.py" in sselint.run("check").out


def test_python_that_has_nothing_to_do_with_streams_may_be_broken(sselint: CommandLine) -> None:
    sample(sselint, "policy-2-pinned-fail-closed")
    (sselint.root / "notes.py").write_text("def broken(:\n", encoding="utf-8")
    document, code = check(sselint)
    assert [d["verdict"] for d in document["deployments"]] == ["pinned-fail-closed"]
    assert code == 0


def test_a_configuration_that_ends_too_early_loses_only_what_is_missing(sselint: CommandLine) -> None:
    """1 beats 3: what was read is enough to see the corruption."""
    sample(sselint, "nginx-routes-on-last-event-id")
    file = sselint.root / "nginx.conf"
    file.write_text("\n".join(file.read_text(encoding="utf-8").rstrip().splitlines()[:-2]), encoding="utf-8")
    document, code = check(sselint)
    assert [d["verdict"] for d in document["deployments"]] == ["corrupt"]
    assert [(found, path) for found, path, _ in troubles(document)] == [("SSE902", "nginx.conf")]
    assert code == 1


def include(sselint: CommandLine, name: str) -> str:
    """The report where the configuration includes a file that is not in the tree."""
    sample(sselint, "nginx-routes-on-last-event-id")
    file = sselint.root / "nginx.conf"
    text = file.read_text(encoding="utf-8").replace("http {", f"http {{\n  include {name};")
    file.write_text(text, encoding="utf-8")
    run = sselint.run("check")
    assert run.code == 1
    return run.out


def test_an_include_that_is_missing_is_named(sselint: CommandLine) -> None:
    assert "conf.d/limits.conf" in include(sselint, "conf.d/limits.conf")


def test_an_include_that_comes_with_nginx_is_not_missed(sselint: CommandLine) -> None:
    assert "mime.types" not in include(sselint, "mime.types")


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_a_file_without_permission_is_named(sselint: CommandLine) -> None:
    sample(sselint, "policy-2-pinned-fail-closed")
    (sselint.root / "agent.py").chmod(0)
    document, code = check(sselint)
    assert troubles(document)[0][:2] == ("SSE901", "agent.py")
    assert code == 3


def test_bytes_that_are_no_text_are_left_alone(sselint: CommandLine) -> None:
    sample(sselint, "policy-2-pinned-fail-closed")
    (sselint.root / "haproxy.cfg").write_bytes(b"frontend in\n\0\xff\xfe" * 100)
    document, code = check(sselint)
    assert troubles(document) == []
    assert code == 0


def fails(*_: object, **__: object) -> None:
    raise RecursionError("too deep")


def test_a_fault_of_ours_in_one_room_loses_only_what_that_room_reads(sselint: CommandLine) -> None:
    from sselint.read.python import Program

    sample(sselint, "policy-2-pinned-fail-closed")
    sselint.monkeypatch.setattr(Program, "read", fails)
    document, code = check(sselint)
    assert ("SSE904", "agent.py", 1) in troubles(document)
    assert [route["path"] for route in document["loose_routes"]] == ["envoy.yaml"]
    assert code == 3
    assert "RecursionError: too deep" in " ".join(sselint.run("check").out.split())


def test_a_fault_of_ours_on_one_file_loses_only_that_file(sselint: CommandLine) -> None:
    from sselint.read import envoy

    sample(sselint, "policy-2-pinned-fail-closed")
    sselint.monkeypatch.setattr(envoy, "read", fails)
    document, code = check(sselint)
    assert [(found, path) for found, path, _ in troubles(document)] == [("SSE904", "envoy.yaml")]
    assert {d["streams"][0]["symbol"] for d in document["deployments"]} == {"events"}
    assert code == 3


def test_the_traceback_is_there_for_who_wants_to_report_it(sselint: CommandLine) -> None:
    from sselint.read import envoy

    sample(sselint, "policy-2-pinned-fail-closed")
    sselint.monkeypatch.setattr(envoy, "read", fails)
    sselint.monkeypatch.setenv("SSELINT_TRACEBACK", "1")
    sselint.monkeypatch.setattr("sys.argv", ["sselint", "check"])
    with pytest.raises(RecursionError, match="too deep"):
        cli.main()
