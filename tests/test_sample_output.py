"""What people see for each sample: whole outputs in snapshots/, which `UPDATE_SNAPSHOTS=1` writes anew."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from sselint.catalogue import rules_directory

REPOSITORY = Path(__file__).parent.parent
SAMPLES = sorted(path.parent for path in (REPOSITORY / "sample_configs").glob("*/agent.py"))
SNAPSHOTS = Path(__file__).parent / "snapshots"
PARTS = ("All five conditions hold", "How it happens", "advertises", "implements", "assumes", "Three ways out")


def output(sample: Path, folder: Path, columns: int, *arguments: str) -> tuple[int, str]:
    """The exit code and the text for a sample that stands alone in `folder`."""
    shutil.copytree(sample, folder, dirs_exist_ok=True)
    run = subprocess.run(
        [sys.executable, "-m", "sselint", *(arguments or ("check",))],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY), "COLUMNS": str(columns), "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert run.stderr == ""
    return run.returncode, run.stdout


def valid(schema: str, text: str) -> dict[str, Any]:
    """The document, which the published schema must allow."""
    document: dict[str, Any] = json.loads(text)
    rules = json.loads((rules_directory() / "schema" / f"{schema}.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator(rules).validate(document)
    return document


def verdict_in_readme(sample: Path) -> str:
    """The verdict that `sample_configs/README.md` promises."""
    readme = (REPOSITORY / "sample_configs" / "README.md").read_text(encoding="utf-8")
    match = re.search(rf"^\| `{sample.name}/` \| (\S+)", readme, re.MULTILINE)
    assert match, f"{sample.name} is missing in the README"
    return match[1]


@pytest.mark.parametrize("columns", [80, 120])
@pytest.mark.parametrize("sample", SAMPLES, ids=lambda path: path.name)
def test_the_whole_output(sample: Path, columns: int, tmp_path: Path) -> None:
    report = tmp_path.parent / f"{sample.name}-{columns}.json"
    code, text = output(sample, tmp_path, columns, "check", "--format", "text", "--format", f"json={report}")
    valid("check", report.read_text(encoding="utf-8"))
    snapshot = SNAPSHOTS / f"{sample.name}-{columns}.txt"
    if os.environ.get("UPDATE_SNAPSHOTS"):
        snapshot.parent.mkdir(exist_ok=True)
        snapshot.write_text(text, encoding="utf-8")
    assert text == snapshot.read_text(encoding="utf-8")
    if text.count("\n") > 1:  # the one line of a tree without a resumable stream is never broken
        assert max(map(len, text.splitlines())) <= columns
    dangerous = verdict_in_readme(sample) == "corrupt"
    assert code == (1 if dangerous else 0)
    if dangerous:
        assert text.startswith("error[SSE001] ")
        for part in PARTS:
            assert part in text
    else:
        assert f"({verdict_in_readme(sample)})" in text


def test_the_facts_of_a_sample_are_a_valid_document(tmp_path: Path) -> None:
    code, text = output(SAMPLES[0], tmp_path, 80, "facts", "--format", "json")
    document = valid("facts", text)
    assert code == 0
    assert [stream["symbol"] for stream in document["streams"]] == ["events"]
    assert {link["stream"] for link in document["links"]} == {"agent.py:events"}
    assert all(document[name] for name in ("routes", "pools", "files"))


def test_every_sample_is_told_in_the_readme() -> None:
    folders = {path.name for path in (REPOSITORY / "sample_configs").iterdir() if path.is_dir()}
    assert folders == {sample.name for sample in SAMPLES}
    assert all(verdict_in_readme(sample) for sample in SAMPLES)
