"""A platform without proxies is told so; where there should be one, its absence is a failure."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]

PLUGIN = """\
import platform, shutil, sys
sys.modules["envoy"] = None
shutil.which = lambda name: None
platform.machine = lambda: {machine!r}
"""


def run_without_envoy(machine: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """A run of one test that asks Envoy, on a machine without it."""
    (folder / "no_envoy.py").write_text(PLUGIN.format(machine=machine), encoding="utf-8")
    test = "tests/test_sample_configs.py::test_a_mistake_would_be_noticed[envoy]"
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no_envoy", "-p", "no:xdist", "-p", "no:cacheprovider", test],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(folder)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_elsewhere_the_last_line_says_that_premises_were_not_proved(tmp_path: Path) -> None:
    run = run_without_envoy("riscv64", tmp_path)
    assert run.returncode == 0, run.stdout + run.stderr
    assert run.stdout.splitlines()[-1] == "premises were not proved: 1 test had no proxy to ask on this platform"


def test_where_the_extra_brings_it_a_missing_proxy_fails(tmp_path: Path) -> None:
    run = run_without_envoy("x86_64", tmp_path)
    if sys.platform == "linux":
        assert run.returncode == 1 and "envoy is not installed" in run.stdout
    else:
        assert "premises were not proved" in run.stdout.splitlines()[-1]
