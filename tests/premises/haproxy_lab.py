"""A real HAProxy in front of three replicas in this process, clients that bring keys, and events provoked for real.

A failure is a refused connection. The configuration text is the one that the reader is given, so that what is measured
is what sselint says about it.
"""

from __future__ import annotations

import csv
import http.client
import json
import random
import shutil
import socket
import socketserver
import subprocess
import tempfile
import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tests import proxies

SESSIONS = 30
"""Sessions of a run, ten on each replica under round robin. If clients were balanced at random, all thirty would come
back with probability 3**-30, and all ten of one replica with 3**-10 = 2e-5: so often does a wrong `same` pass."""
SECONDS = 20.0
NAMES = ("r1", "r2", "r3", "r4")
CHECK = "check inter {inter} fall 1 rise 1"
QUICK, NEVER = "50ms", "60s"
"""Intervals between checks: one that notices at once, and one that notices nothing while a test runs."""
RESYNC_SECONDS = 5.5
"""Peers teach a new process only what an old one has that itself is past its first resync, which takes 5 s."""


class Replica:
    """A server that streams events, issues session ids that carry its name, may set a cookie, and can crash.

    `cookie` names a cookie of the application, set where a request lacks it; `sets` is a cookie that every answer sets.
    """

    def __init__(self, name: str, cookie: str = "", sets: str = "") -> None:
        self.name, self.cookie, self.sets = name, cookie, sets
        self.port = proxies.free_port()
        self.health = 200
        self.heartbeat = 0.0
        self.known: set[str] = set()
        self._count = 0
        self._open: set[socket.socket] = set()
        self._server: socketserver.ThreadingTCPServer | None = None

    def start(self) -> None:
        """Begins to listen."""
        replica = self

        class Handler(socketserver.StreamRequestHandler):
            def handle(self) -> None:
                replica._open.add(self.request)
                with suppress(OSError):
                    replica._answer(self)
                replica._open.discard(self.request)

        class Server(socketserver.ThreadingTCPServer):
            allow_reuse_address = True
            daemon_threads = True
            request_queue_size = 128

            def handle_error(self, request: Any, client_address: Any) -> None:
                """A connection that is cut in the middle is no error here."""

        self._server = Server(("127.0.0.1", self.port), Handler)
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def crash(self) -> None:
        """Cuts every connection and refuses new ones, as a killed process does."""
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
            self._server = None
        for connection in list(self._open):
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def _answer(self, handler: socketserver.StreamRequestHandler) -> None:
        request = handler.rfile.readline().decode("latin-1").split()
        headers: dict[str, str] = {}
        while line := handler.rfile.readline().strip():
            name, _, value = line.decode("latin-1").partition(":")
            headers[name.lower()] = value.strip()
        if len(request) < 2:
            return
        lines = [f"X-Replica: {self.name}", "Connection: close"]
        if self.cookie and f"{self.cookie}=" not in headers.get("cookie", ""):
            lines.append(f"Set-Cookie: {self.cookie}={self.name}.{uuid.uuid4().hex}; Path=/")
        if self.sets:
            lines.append(f"Set-Cookie: {self.sets}; Path=/")
        session = headers.get("mcp-session-id", "")
        if urlsplit(request[1]).path == "/health":
            handler.wfile.write(f"HTTP/1.1 {self.health} X\r\nContent-Length: 0\r\n\r\n".encode())
        elif request[0] == "POST":
            if not session:
                session = f"{self.name}.{uuid.uuid4().hex}"
                lines.append(f"Mcp-Session-Id: {session}")
                self.known.add(session)
            handler.wfile.write("\r\n".join(["HTTP/1.1 200 OK", *lines, "Content-Length: 0", "", ""]).encode())
        else:
            self._stream(handler, lines, {"known": session in self.known, "headers": headers})

    def _stream(self, handler: socketserver.StreamRequestHandler, lines: list[str], seen: Mapping[str, Any]) -> None:
        """One event that says what came in with the request, then silence or heartbeats until the peer goes away."""
        self._count += 1
        head = ["HTTP/1.1 200 OK", *lines, "Content-Type: text/event-stream", "Transfer-Encoding: chunked", "", ""]
        handler.wfile.write("\r\n".join(head).encode())
        handler.wfile.write(_chunk(f"id: {self._count}\ndata: {json.dumps(seen)}\n\n"))
        handler.request.settimeout(self.heartbeat or 60)
        while True:
            try:
                if not handler.request.recv(1):
                    return
            except TimeoutError:
                handler.wfile.write(_chunk(f": {time.time()}\n\n"))


def _chunk(text: str) -> bytes:
    return f"{len(text.encode()):x}\r\n{text}\r\n".encode()


@dataclass
class Answer:
    """What a request got: the replica that answered, or None with the status of the proxy's error."""

    status: int
    replica: str | None
    headers: Sequence[tuple[str, str]]
    event: Mapping[str, Any] = field(default_factory=dict)
    seconds: float = 0.0

    def against(self, expected: str | None) -> str:
        """same, other or error."""
        if self.status != 200 or self.replica is None:
            return "error"
        return "same" if self.replica == expected else "other"


class Client:
    """One client with one stream. `kind` says which key it brings: a `browser` or an `mcp` client (with the id from its
    initialize) its cookies, `jarless` none, `header` an `X-Client-Id` of its own, `query` a parameter, all of them an
    address of their own."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.replica: str | None = None
        self.creator: str | None = None
        self.event: Mapping[str, Any] = {}
        self._connection: http.client.HTTPConnection | None = None
        self.forget()

    def forget(self) -> None:
        """Loses its key: no cookies, no headers, another address."""
        self.key = f"client-{random.randrange(2**40):x}"
        self.source = f"127.{random.randrange(1, 250)}.{random.randrange(1, 250)}.{random.randrange(2, 250)}"
        self.session: str | None = None
        self.cursor: str | None = None
        self.jar: dict[str, str] = {}

    def initialize(self, port: int) -> Answer:
        """The POST that creates a session."""
        answer = self._request(port, "POST", "/mcp")
        self.creator = answer.replica
        if self.kind == "mcp":
            self.session = dict(answer.headers).get("mcp-session-id")
        return answer

    def stream(self, port: int) -> Answer:
        """Opens the stream and leaves it open."""
        answer = self._request(port, "GET", f"/events?sid={self.key}" if self.kind == "query" else "/events")
        self.event = answer.event
        return answer

    def close(self) -> None:
        """Cuts the stream."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def rest(self) -> bytes:
        """What the open stream still brings, until the other side ends it."""
        with suppress(OSError, http.client.HTTPException):
            return self._response.read()
        return b""

    def next_line(self) -> bytes:
        """The next line of the open stream."""
        return self._response.readline()

    def _request(self, port: int, method: str, path: str) -> Answer:
        self.close()
        source = (self.source, 0)
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=SECONDS, source_address=source)
        begun = time.monotonic()
        connection.request(method, path, body=b"" if method == "POST" else None, headers=self._headers())
        response = connection.getresponse()
        took = time.monotonic() - begun
        received = [(k.lower(), v) for k, v in response.getheaders()]
        self._keep(received)
        event: dict[str, Any] = {}
        if method == "GET" and response.status == 200:
            self.cursor = response.readline().decode().partition(":")[2].strip()
            event = json.loads(response.readline().decode().partition(":")[2])
            response.readline()
            self._connection, self._response = connection, response
        else:
            response.read()
            connection.close()
        return Answer(response.status, dict(received).get("x-replica"), received, event, took)

    def _headers(self) -> dict[str, str]:
        headers = {"Accept": "text/event-stream"}
        if self.jar and self.kind != "jarless":
            headers["Cookie"] = "; ".join(f"{name}={value}" for name, value in self.jar.items())
        if self.kind == "header":
            headers["X-Client-Id"] = self.key
        if self.session:
            headers["Mcp-Session-Id"] = self.session
        if self.cursor:
            headers["Last-Event-ID"] = self.cursor
        return headers

    def _keep(self, received: Sequence[tuple[str, str]]) -> None:
        for name, value in received:
            if name == "set-cookie":
                key, _, content = value.split(";")[0].partition("=")
                self.jar[key] = content


@dataclass(frozen=True)
class Setup:
    """A configuration. `backend` are the lines of the backend, `server` the parameters of its server lines ({n} is the
    server's name), `special` those of single servers instead. `frontend` are lines in the frontend that choose among
    one-server backends `b_rN`, written once for each replica where they name {n}. `cookie` and `sets` are the
    application's cookies. `lapsing` says what to replace in `backend` for a short lifetime, and after how many seconds
    of an open stream with heartbeats it is over. `environment` are variables that HAProxy is started with."""

    backend: str = ""
    server: str = CHECK
    client: str = "browser"
    special: Mapping[str, str] = field(default_factory=dict)
    frontend: str = ""
    cookie: str = ""
    sets: str = ""
    peers: bool = False
    members: tuple[str, ...] = ("r1", "r2", "r3")
    joins: str = "r4"
    """The server that scaling out adds, at the end of the list."""
    lapsing: tuple[str, str, float] | None = None
    environment: Mapping[str, str] = field(default_factory=dict)

    @property
    def checked(self) -> bool:
        """Whether servers are checked."""
        return "check" in self.server


class Lab:
    """Three replicas (a fourth for scale-out) and the HAProxy processes in front of them."""

    def __init__(self, setup: Setup, folder: Path, interval: str = QUICK) -> None:
        self.setup, self.folder, self.interval = setup, folder, interval
        self.replicas = {name: Replica(name, setup.cookie, setup.sets) for name in NAMES}
        self.members = list(setup.members)
        self.port = proxies.free_port()
        self.clients: list[Client] = []
        self._peer_ports = {name: proxies.free_port() for name in ("A", "B")}
        self._sockets = Path(tempfile.mkdtemp(prefix="hap"))  # a socket's path must be short
        self._processes: list[subprocess.Popen[bytes]] = []
        self._begun = 0.0

    # -- life --

    def __enter__(self) -> Lab:
        for replica in self.replicas.values():
            replica.start()
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        for client in self.clients:
            client.close()
        for process in self._processes:
            proxies.stop(process)
        for replica in self.replicas.values():
            replica.crash()
        shutil.rmtree(self._sockets, ignore_errors=True)

    def start(self, port: int = 0, peer: str = "A", replacing: Sequence[str] = ()) -> int:
        """Starts a process with the configuration of this moment; the number of its socket."""
        port = port or self.port
        number = len(self._processes)
        path, log = self.folder / f"haproxy-{number}.cfg", self.folder / f"haproxy-{number}.log"
        path.write_text(self.text(port, self._socket(number)))
        command = [proxies.haproxy(), "-db", "-f", path, *(["-L", peer] if self.setup.peers else []), *replacing]
        process = proxies.start(command, log, environment=self.setup.environment)
        self._processes.append(process)
        proxies.wait_until_listening(process, port, log)
        self.wait(lambda: self._listens(number))
        assert process.poll() is None, log.read_text()
        self._begun = time.monotonic()
        return number

    def restart(self) -> None:
        """The proxy ends and starts again."""
        proxies.stop(self._processes[-1])
        self.start()

    def reload(self) -> None:
        """A new process takes the sockets over, as on `systemctl reload`; the old one serves its open streams."""
        if self.setup.peers:
            time.sleep(max(0.0, self._begun + RESYNC_SECONDS - time.monotonic()))
        before = self._entries()
        old = len(self._processes) - 1
        self.start(replacing=("-sf", str(self._processes[-1].pid)))
        self.wait(lambda: not self._listens(old))
        if self.setup.peers:
            self.wait(lambda: self._entries() >= before)

    def second(self) -> int:
        """Another process with the same configuration; its port."""
        port, before = proxies.free_port(), self._entries()
        self.start(port, "B")
        if self.setup.peers:
            self.wait(lambda: self._entries() >= before)
        Client("jarless").initialize(port)  # so that two round robins in step do not look like affinity
        return port

    # -- configuration --

    def text(self, port: int, control: Path) -> str:
        """The configuration."""
        lines = [
            "global", f"    stats socket {control} mode 600 level admin", "    maxconn 500", "    nbthread 1",
            "defaults", "    mode http", "    option http-no-delay", "    timeout connect 200ms",
            "    timeout client 60s", "    timeout server 60s", "    timeout queue 1s", "    timeout check 3s",
        ]  # fmt: skip
        if self.setup.peers:
            lines += ["peers lab", *(f"    peer {n} 127.0.0.1:{p}" for n, p in self._peer_ports.items())]
        lines += ["frontend fe", f"    bind 127.0.0.1:{port}", *self._each(self.setup.frontend)]
        lines += ["    default_backend be", "backend be", "    option httpchk GET /health"]
        lines += [*self._each(self.setup.backend), *(self._server(name) for name in self.members)]
        for name in self.members if self.setup.frontend else ():
            lines += [f"backend b_{name}", "    option httpchk GET /health", self._server(name)]
        return "\n".join([*lines, ""])

    def _each(self, text: str) -> Iterator[str]:
        for line in text.splitlines():
            for name in self.members if "{n}" in line else [""]:
                yield "    " + line.strip().replace("{n}", name)

    def _server(self, name: str) -> str:
        parameters = self.setup.special.get(name, self.setup.server)
        parameters = parameters.replace("{n}", name).replace("{inter}", self.interval)
        return f"    server {name} 127.0.0.1:{self.replicas[name].port} {parameters}".rstrip()

    # -- the runtime socket --

    def _socket(self, number: int) -> Path:
        return self._sockets / str(number)

    def _listens(self, number: int) -> bool:
        with socket.socket(socket.AF_UNIX) as connection:
            return connection.connect_ex(str(self._socket(number))) == 0

    def command(self, text: str, number: int = -1) -> str:
        """What the runtime socket of the newest process (or of that number) answers."""
        number = number if number >= 0 else len(self._processes) - 1
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(SECONDS)
            connection.connect(str(self._socket(number)))
            connection.sendall(text.encode() + b"\n")
            answer = b""
            while received := connection.recv(65536):
                answer += received
        return answer.decode()

    def status(self, name: str) -> str:
        """What HAProxy thinks of a server: UP, DOWN, NOLB, DRAIN, MAINT, no check."""
        rows = csv.DictReader(self.command("show stat").lstrip("# ").splitlines())
        return next(row["status"] for row in rows if row["svname"] == name and row["pxname"] == self._pool(name))

    def _pool(self, name: str) -> str:
        return f"b_{name}" if self.setup.frontend else "be"

    def set_state(self, name: str, state: str) -> None:
        """`set server ... state`, as an operator does."""
        answer = self.command(f"set server {self._pool(name)}/{name} state {state}")
        assert not answer.strip(), answer
        word = {"drain": "DRAIN", "maint": "MAINT"}[state]
        self.wait(lambda: self.status(name).startswith(word))

    def wait_down(self, name: str) -> None:
        """Waits until the check has noticed; where nothing checks, until it would have."""
        if self.setup.checked:
            self.wait(lambda: self.status(name).split()[0] == "DOWN")
        else:
            time.sleep(0.3)

    def _entries(self) -> int:
        table = self.command("show table be") if self.setup.peers else ""
        return table.count("key=")

    def wait(self, reached: Callable[[], bool]) -> None:
        """Returns when it holds."""
        deadline = time.monotonic() + SECONDS
        while not reached():
            assert time.monotonic() < deadline, "HAProxy did not get there in time"
            time.sleep(0.02)

    # -- clients --

    def establish(self, number: int = SESSIONS, *, post: bool = False) -> None:
        """New clients, each with an open stream; MCP clients (all with `post`) begin with a POST."""
        self.clients = [Client(self.setup.client) for _ in range(number)]
        for client in self.clients:
            if client.kind == "mcp" or post:
                assert client.initialize(self.port).status == 200
            answer = client.stream(self.port)
            assert answer.status == 200, answer
            client.replica = answer.replica

    def reconnect(self, clients: Sequence[Client], port: int = 0) -> Counter[str]:
        """Cuts the streams and opens them again in another order, so that round robin does not look like affinity."""
        for client in clients:
            client.close()
        order = random.sample(clients, len(clients))
        with ThreadPoolExecutor(6) as pool:
            answers = pool.map(lambda client: client.stream(port or self.port), order)
            return Counter(answer.against(client.replica) for client, answer in zip(order, answers, strict=True))

    def victim(self) -> tuple[str, list[Client]]:
        """The replica with the most clients, and these."""
        counts = Counter(client.replica for client in self.clients)
        name = max(self.members, key=lambda member: counts[member])
        return name, [client for client in self.clients if client.replica == name]


@contextmanager
def lab(setup: Setup, folder: Path, interval: str = QUICK) -> Iterator[Lab]:
    """A running lab."""
    with Lab(setup, folder, interval) as running:
        yield running
