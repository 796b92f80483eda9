"""What cannot be read is named with its place and its reason, and nothing else is lost by it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
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


# -- where the report goes ---------------------------------------------------------------------------------------------

SHELL = 'exec "$0" -m sselint check '


@pytest.mark.parametrize(
    ("redirected", "code", "says"),
    [
        (">&-", 1, ""),
        ("2>&-", 1, ""),
        (">&- 2>&-", 1, ""),
        (">/dev/null", 1, ""),
        ("> /dev/full", 2, "standard output"),
        ("no-such-folder >&- 2>&-", 2, ""),
    ],
)
def test_the_exit_code_does_not_depend_on_who_reads(
    sselint: CommandLine, redirected: str, code: int, says: str
) -> None:
    sample(sselint, "nginx-routes-on-last-event-id")
    run = subprocess.run(
        ["/bin/sh", "-c", SHELL + redirected, sys.executable], capture_output=True, text=True, timeout=60, check=False
    )
    assert (run.returncode, says in run.stderr) == (code, True)
    assert "fault" not in run.stderr
    assert "Traceback" not in run.stderr


def test_two_runs_write_the_same_bytes(sselint: CommandLine) -> None:
    sample(sselint, "nginx-routes-on-last-event-id")
    outputs = {
        subprocess.run(
            [sys.executable, "-m", "sselint", "check", "--format", "json"],
            capture_output=True,
            env={**os.environ, "PYTHONHASHSEED": seed},
            timeout=60,
            check=False,
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(outputs) == 1
    assert len(outputs.pop()) > 1000


def test_nothing_of_the_tree_is_imported(sselint: CommandLine) -> None:
    """Modules of names that Python or a library would look for, each of which would end the run, in the folder that
    the run starts in."""
    sample(sselint, "nginx-routes-on-last-event-id")
    trap = "open('imported', 'w').close()\nraise SystemExit(99)\n"
    names = ("sitecustomize", "usercustomize", "conftest", "yaml", "libcst", "click", "jinja2", "pathspec", "json")
    for name in names:
        (sselint.root / f"{name}.py").write_text(trap, encoding="utf-8")
    (sselint.root / "gunicorn.conf.py").write_text("workers = 2\n" + trap, encoding="utf-8")
    before = sorted(p.name for p in sselint.root.rglob("*"))
    # Isolated, as the installed script runs: `python -m` alone would look in the folder itself.
    run = subprocess.run(
        [sys.executable, "-I", "-m", "sselint", "check"], capture_output=True, text=True, timeout=60, check=False
    )
    assert (run.returncode, run.stderr) == (1, "")
    assert "gunicorn.conf.py" in sselint.run("facts", "--format", "json").out
    assert sorted(p.name for p in sselint.root.rglob("*")) == before


def test_a_broken_manifest_in_a_file_loses_no_other(sselint: CommandLine) -> None:
    """The pool that says how many processes there are stands behind a document that does not parse."""
    sample(sselint, "policy-2-pinned-fail-closed")
    manifest = (
        "apiVersion: v1\nkind: ConfigMap\ndata: {a: [\n---\napiVersion: apps/v1\nkind: Deployment\n"
        "metadata: {name: other}\nspec: {replicas: 3, template: {spec: {containers: [{image: other}]}}}\n"
    )
    (sselint.root / "k8s.yaml").write_text(manifest, encoding="utf-8")
    run = sselint.run("facts", "--format", "json")
    pools = [(p["path"], p["line"], p["processes"]["high"]) for p in json.loads(run.out)["pools"]]
    assert ("k8s.yaml", 6, 3) in pools
    assert [(f["path"], f["outcome"]) for f in json.loads(run.out)["files"] if f["why"]] == [("k8s.yaml", "partly")]
    assert run.code == 3
