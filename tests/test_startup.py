"""Start-up is part of the design: what a run does not need is not imported. libcst alone costs 130 ms."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parent.parent
SLOW = ("libcst", "yaml", "jinja2", "hcl2", "lark")
"""Packages that a run may need and most runs do not."""

PROGRAM = """
import json, sys
from sselint import cli
sys.argv = ["sselint", *sys.argv[1:]]
try:
    cli.main()
except SystemExit as end:
    code = end.code
print("\\0" + json.dumps({"code": code, "modules": sorted(sys.modules)}))
"""


def modules_after(*arguments: str, cwd: Path) -> set[str]:
    """The modules that a run of the command line has imported; it must end well."""
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM, *arguments],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    result = json.loads(run.stdout.rpartition("\0")[2])
    assert result["code"] == 0, run.stderr
    return set(result["modules"])


def slow(modules: set[str]) -> set[str]:
    return modules & set(SLOW)


OF_ITSELF = [["--version"], ["--help"], ["check", "--help"], ["facts", "--help"]]


@pytest.mark.parametrize("arguments", OF_ITSELF, ids=" ".join)
def test_what_only_speaks_of_itself_imports_nothing_slow(arguments: list[str], tmp_path: Path) -> None:
    modules = modules_after(*arguments, cwd=tmp_path)
    assert slow(modules) == set()
    assert not {m for m in modules if m.startswith(("sselint.read", "sselint.report", "sselint.checks"))}


IRRELEVANT = {
    "README.md": "# A shop\n",
    "shop/__init__.py": "",
    "shop/cart.py": "def total(items):\n    return sum(item.price for item in items)\n",
    "shop/static/shop.js": "console.log('text/event-stream')\n",
    "requirements.txt": "flask\n",
    "data/prices.csv": "name,price\napple,1\n",
    "notes.txt": "the proxy is restarted on Mondays\n",
}


def test_a_check_with_nothing_relevant_imports_nothing_slow(tmp_path: Path) -> None:
    for name, text in IRRELEVANT.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    assert slow(modules_after("check", ".", cwd=tmp_path)) == set()


def test_a_check_of_an_empty_folder_imports_nothing_slow(tmp_path: Path) -> None:
    assert slow(modules_after("check", cwd=tmp_path)) == set()


def test_a_balancer_configuration_alone_needs_no_python_parser(tmp_path: Path) -> None:
    (tmp_path / "nginx.conf").write_text(
        "events {}\nhttp { upstream a { server x:1; server y:1; } server { location / { proxy_pass http://a; } } }\n",
        encoding="utf-8",
    )
    assert "libcst" not in modules_after("check", ".", cwd=tmp_path)


def test_the_measure_itself_notices_an_import(tmp_path: Path) -> None:
    """`rules` reads YAML, so that a measure that sees no yaml there sees nothing at all."""
    assert slow(modules_after("rules", cwd=tmp_path)) == {"yaml"}


def test_the_cheap_look_at_python_knows_the_words_of_every_rule_file() -> None:
    """It reads them as text; a list in another form would be missed without a word."""
    from sselint.read.python.rules import load_rules
    from sselint.read.python.source.evidence import words

    assert words() == frozenset(load_rules().evidence)
    assert words()
