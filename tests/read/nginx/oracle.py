"""A real nginx as judge of test configurations: whether it accepts a text."""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

from tests import proxies

_HOST = re.compile(r"(?<![\w.$/-])(?:r|feed|spare|app)(\d?)(?=[:;]\s*|\s*;|:\d)")
_LISTEN = re.compile(r"\blisten\s+(?:[\w.*]+:)?\d+")


def refusal(files: Mapping[str, str] | str) -> str:
    """What `nginx -t` says against a configuration (`nginx.conf` is the main file), "" if it accepts it.

    Made-up hosts (r1, feed) become loopback addresses and `listen` one free port, as the test machine resolves no name
    and may not let everybody bind port 80.
    """
    files = {"nginx.conf": files} if isinstance(files, str) else files
    listen = f"listen 127.0.0.1:{proxies.free_port()}"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for path, text in files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(_LISTEN.sub(listen, _HOST.sub(r"127.0.0.1\1", text)))
        command = [proxies.nginx(), "-t", "-q", "-p", folder, "-c", folder / "nginx.conf", "-e", "stderr"]
        run = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=30)
    return "" if run.returncode == 0 else run.stderr.strip()
