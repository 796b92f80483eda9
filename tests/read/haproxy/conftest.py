"""HAProxy is asked whether it takes the configurations that the tests here are about: a test on text that it refuses
proves nothing."""

from __future__ import annotations

import platform
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import proxies
from tests.read.haproxy import configs

_taken: set[str] = set()


@pytest.fixture(autouse=True)
def haproxy_takes_what_a_test_writes(tmp_path: Path) -> Iterator[None]:
    """After each test, `haproxy -c` on the complete configurations that it had made."""
    configs.WRITTEN.clear()
    yield
    if (sys.platform, platform.machine()) != ("linux", "x86_64"):
        return
    for number, text in enumerate(t for t in configs.WRITTEN if t not in _taken):
        path = tmp_path / f"{number}.cfg"
        path.write_text(text)
        done = subprocess.run(
            [proxies.haproxy(), "-c", "-q", "-f", path], capture_output=True, text=True, timeout=20, check=False
        )
        # 2: nothing is wrong, but there is nothing to listen on
        assert done.returncode in (0, 2), f"HAProxy refuses it:\n{text}\n{done.stderr}"
        _taken.add(text)
