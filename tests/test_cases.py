"""Complete little deployments with the verdict and the conditions that each must get."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
FOLDERS = sorted(p.parent for d in ("cases", "executed", "deployments") for p in (HERE / d).glob("*/expected.json"))
WORD = {True: "yes", False: "no"}


def _check(folder, tmp_path):
    shutil.copytree(folder, tmp_path / "app", ignore=shutil.ignore_patterns("expected.json"))
    return subprocess.run(
        [sys.executable, "-m", "sselint", "check", "app", "--format", "json"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda p: f"{p.parent.name}-{p.name}")
def test_verdict_and_conditions(folder, tmp_path):
    expected = json.loads((folder / "expected.json").read_text())
    run = _check(folder, tmp_path)
    assert "Traceback" not in run.stderr
    deployments = json.loads(run.stdout)["deployments"]
    verdicts = {d["verdict"] for d in deployments} - {"none"} or {"none"}
    verdict = "corrupt" if "corrupt" in verdicts else "+".join(sorted(verdicts))
    allowed = {expected["verdict"], *expected.get("accept", [])}
    no_cursor = expected["conditions"]["client_honours_last_event_id"] is False
    if expected["verdict"] == "no-resumption" and no_cursor:
        allowed.add("none")
    assert verdict in allowed, expected["why"]
    assert run.returncode == (1 if verdict == "corrupt" else 0)
    if verdict != "none":
        judged = next(d for d in deployments if d["verdict"] == verdict)
        told = {name: judged["conditions"][name]["value"] for name in expected["conditions"]}
        assert told == {name: WORD.get(value, "unknown") for name, value in expected["conditions"].items()}
