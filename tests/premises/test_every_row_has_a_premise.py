"""The gate: a row of rules/affinity/ without a premise test fails here.

A row of a proxy that can run on loopback names the test that proves it, by the row's own id, and that test is part of
`make test`. Rows of platforms that cannot run here say `premise: documented` and name the page of the vendor. Every
file records the version of its last full run (`documented` where there is none) and its date.
"""

from __future__ import annotations

import datetime
import os
import re
import subprocess
import sys
from collections.abc import Collection, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from sselint.catalogue import load_yaml, rules_directory

ROOT = Path(__file__).parents[2]
FILES = sorted((rules_directory() / "affinity").glob("*.yaml"))
DOCUMENTED = "documented"


@cache
def premise_tests() -> frozenset[str]:
    """The node ids of all premise tests that `make test` runs, as pytest collects them."""
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:xdist", "-p", "no:cacheprovider"]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
    run = subprocess.run(
        [*command, "-m", "premises and not slow", "tests/premises"],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert run.returncode == 0, run.stdout[-3000:] + run.stderr[-1000:]
    return frozenset(line for line in run.stdout.splitlines() if "::" in line)


def problems(document: dict[str, Any], tests: Collection[str]) -> Iterator[str]:
    """What is wrong with the premises of one file of rows."""
    measured = document.get("measured") or {}
    version, date = str(measured.get("version", "")), str(measured.get("date", ""))
    runs_here = version != DOCUMENTED
    if runs_here and not re.fullmatch(r"\d+(\.\d+)+", version):
        yield f"measured.version is {version!r}: neither a version nor `documented`"
    if not _is_date(date):
        yield f"measured.date is {date!r}: not a date"
    rows = document.get("rows") or []
    ids = [row.get("id") for row in rows]
    yield from (f"{name}: two rows have this id" for name in sorted({i for i in ids if ids.count(i) > 1}))
    for row in rows:
        if problem := _problem(row, runs_here, tests):
            yield f"{row.get('id')}: {problem}"


def _problem(row: dict[str, Any], runs_here: bool, tests: Collection[str]) -> str:
    premise = row.get("premise", "")
    if not premise:
        return "names no premise"
    if premise == DOCUMENTED:
        if runs_here:
            return "the proxy runs on loopback, so documentation does not do"
        return "" if str(row.get("source", "")).startswith("https://") else "documented, but names no source"
    if premise not in tests:
        return f"{premise} is not a premise test that `make test` runs"
    return "" if premise.endswith(f"[{row.get('id')}]") else f"{premise} is the test of another row"


def _is_date(text: str) -> bool:
    try:
        datetime.date.fromisoformat(text)
    except ValueError:
        return False
    return True


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_row_has_a_premise(path: Path) -> None:
    assert not list(problems(load_yaml(path), premise_tests()))


GOOD = {
    "measured": {"version": "1.2.3", "date": "2026-12-01"},
    "rows": [{"id": "a", "premise": "tests/premises/test_x.py::test_row[a]"}],
}
TESTS = ("tests/premises/test_x.py::test_row[a]", "tests/premises/test_x.py::test_row[b]")


def test_a_row_that_names_its_test_is_fine() -> None:
    assert not list(problems(GOOD, TESTS))


def test_a_documented_row_with_a_source_is_fine_where_nothing_can_run() -> None:
    row = {"id": "a", "premise": "documented", "source": "https://vendor.example/page"}
    assert not list(problems({"measured": {"version": "documented", "date": "2026-12-01"}, "rows": [row]}, TESTS))


@pytest.mark.parametrize(
    ("row", "why"),
    [
        ({"id": "a"}, "names no premise"),
        ({"id": "a", "premise": ""}, "names no premise"),
        ({"id": "a", "premise": "tests/premises/test_x.py::test_row[c]"}, "is not a premise test"),
        ({"id": "a", "premise": "tests/premises/test_x.py::test_row[b]"}, "the test of another row"),
        ({"id": "a", "premise": "documented", "source": "https://vendor.example/page"}, "documentation does not do"),
    ],
)
def test_a_row_without_a_premise_is_named(row: dict[str, str], why: str) -> None:
    [problem] = problems({**GOOD, "rows": [row]}, TESTS)
    assert why in problem and problem.startswith("a: ")


@pytest.mark.parametrize(
    ("document", "why"),
    [
        ({**GOOD, "measured": {"date": "2026-12-01"}}, "measured.version"),
        ({**GOOD, "measured": {"version": "1.2.3", "date": "yesterday"}}, "measured.date"),
        ({**GOOD, "rows": GOOD["rows"] * 2}, "two rows have this id"),
        (
            {
                "measured": {"version": "documented", "date": "2026-12-01"},
                "rows": [{"id": "a", "premise": "documented"}],
            },
            "names no source",
        ),
    ],
)
def test_a_file_without_its_record_is_named(document: dict[str, Any], why: str) -> None:
    [problem] = problems(document, TESTS)
    assert why in problem
