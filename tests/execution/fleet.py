"""Servers of a case as real processes on loopback, and the real proxy before them with the case's own configuration."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from subprocess import Popen

from tests import proxies

REDIS = (
    "import sys; from fakeredis import TcpFakeServer; "
    "TcpFakeServer(('127.0.0.1', int(sys.argv[1])), server_type='redis').serve_forever()"
)
"""A Redis of its own for a case: the protocol over a socket, so that the case's own client code runs unchanged."""

UVICORN = "-m uvicorn --host 127.0.0.1 --port PORT --no-access-log"
GUNICORN = "-m gunicorn --bind 127.0.0.1:PORT --workers 1 -k gthread --threads 20"
SANIC = "-m sanic --host 127.0.0.1 --port PORT --single-process --no-access-logs"


@contextmanager
def redis(folder: Path) -> Iterator[str]:
    """The address of a fresh Redis."""
    port = proxies.free_port()
    with proxies.running([sys.executable, "-c", REDIS, str(port)], port, folder / "redis.log"):
        yield f"redis://127.0.0.1:{port}/0"


@dataclass
class Replica:
    """One process of a case: `command` are Python's arguments, with PORT where its port goes."""

    case: Path
    command: str
    folder: Path
    environment: Mapping[str, str] = field(default_factory=dict)
    port: int = field(default_factory=proxies.free_port)
    process: Popen[bytes] | None = None

    def start(self) -> None:
        """Starts it, and waits until it listens. It may be started again after a stop, on the same port."""
        self.launch()
        self.wait()

    def launch(self) -> None:
        """Starts it."""
        words = self.command.replace("PORT", str(self.port)).split()
        environment = {"PYTHONDONTWRITEBYTECODE": "1", "PORT": str(self.port), **self.environment}
        self.process = proxies.start([sys.executable, *words], self._log, cwd=self.case, environment=environment)

    def wait(self) -> None:
        """Waits until it listens."""
        assert self.process is not None
        proxies.wait_until_listening(self.process, self.port, self._log)

    @property
    def _log(self) -> Path:
        return self.folder / f"{self.port}.log"

    def stop(self) -> None:
        """Kills it."""
        if self.process is not None:
            proxies.stop(self.process)
            self.process = None


@contextmanager
def replicas(
    case: Path, command: str, folder: Path, number: int, environment: Mapping[str, str] | None = None
) -> Iterator[list[Replica]]:
    """So many processes of one case."""
    made = [Replica(case, command, folder, environment or {}) for _ in range(number)]
    try:
        for replica in made:
            replica.launch()
        for replica in made:
            replica.wait()
        yield made
    finally:
        for replica in made:
            replica.stop()


@contextmanager
def edge(config: Path, names: Mapping[str, int], folder: Path) -> Iterator[int]:
    """The real proxy with a case's configuration, of which only addresses are rewritten: the port it listens on, and
    the replicas (`names` maps a host name of the configuration to a port here). Gives its port."""
    port = proxies.free_port()
    text = config.read_text()
    for name, target in names.items():
        text = re.sub(rf"\b{re.escape(name)}:\d+", f"127.0.0.1:{target}", text)
        envoy = rf"socket_address: \{{address: {re.escape(name)}, port_value: \d+\}}"
        text = re.sub(envoy, f"socket_address: {{address: 127.0.0.1, port_value: {target}}}", text)
    kind = {".cfg": _haproxy, ".conf": _nginx, ".yaml": _envoy}[config.suffix]
    command = kind(text, port, folder)
    with proxies.running(command, port, folder / "edge.log"):
        yield port


def _haproxy(text: str, port: int, folder: Path) -> list[str | Path]:
    written = folder / "haproxy.cfg"
    written.write_text(re.sub(r"\bbind :\d+", f"bind 127.0.0.1:{port}", text))
    return [proxies.haproxy(), "-db", "-f", written]


def _nginx(text: str, port: int, folder: Path) -> list[str | Path]:
    places = "daemon off;\nmaster_process off;\npid nginx.pid;\nerror_log stderr;\n"
    temporary = "".join(f"  {n}_temp_path {n};\n" for n in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    text = re.sub(r"\blisten \d+;", f"listen 127.0.0.1:{port};", text)
    text = text.replace("http {", f"http {{\n  access_log off;\n{temporary}", 1)
    written = folder / "nginx.conf"
    written.write_text(places + text)
    return [proxies.nginx(), "-p", folder, "-c", written]


def _envoy(text: str, port: int, folder: Path) -> list[str | Path]:
    text = re.sub(
        r"address: \{socket_address: \{address: 0\.0\.0\.0, port_value: \d+\}\}",
        f"address: {{socket_address: {{address: 127.0.0.1, port_value: {port}}}}}",
        text,
    )
    written = folder / "envoy.yaml"
    written.write_text(text)
    return [proxies.envoy(), "-c", written, "--concurrency", "1", "--use-dynamic-base-id", "-l", "error"]
