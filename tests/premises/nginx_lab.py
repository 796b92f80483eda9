"""A real nginx on loopback, three replicas behind it, and sessions that are at home on one of them.

Each scenario has an nginx of its own in a folder of its own. A `Setup` writes its configuration, so that every event
that changes the configuration (a server taken down, drained, removed, moved, added) is a reload with another text.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests import proxies
from tests.premises.nginx_clients import TIMEOUT_SECONDS, Replica, Session
from tests.premises.nginx_names import NameServer

SESSIONS = 36
"""So many that chance does not pass a test. A balancer without memory brings all of them back to their own of three
replicas with probability 3 ** -36; the fullest replica has at least twelve sessions, which all return by luck with
3 ** -12 = 2e-6, or 2 ** -12 = 2e-4 where two replicas are left. That a claim `other` fails by luck takes as much luck,
but for a ring that gives a quarter of its keys to a new replica: it moves none of 36 with 0.75 ** 36 = 3e-5."""

FEWEST_VICTIMS = 12
"""Sessions of the fullest of three replicas, whatever the balancer does."""

MEMBERS = ("r1", "r2", "r3")


@dataclass(frozen=True)
class Setup:
    """A configuration to measure. `upstream` are the lines of upstream `be` before its servers; `parameters` what
    follows each address (`{name}` is the replica's); `server_of` overrides that for one. With `singles` there is one
    upstream `be_NAME` for each replica as well, with these lines in it (`@OTHER@` is another replica's address). In
    `http`, `@NAMES@` becomes the entries that `names` makes for each configured replica, `@SHARES@` equal shares for
    split_clients. In `location` and `target`, `@RESOLVER@` is a name server that gives the replicas' addresses for
    any name, `@PORT@` their port."""

    upstream: str = ""
    parameters: str = ""
    server_of: Mapping[str, str] = field(default_factory=dict)
    http: str = ""
    names: str = ""
    singles: str | None = None
    server: str = ""
    location: str = ""
    target: str = "be"
    sessions: str = "browser"
    app: bool = False
    stream: bool = False

    def text(
        self, folder: Path, port: int, members: Mapping[str, str], flags: Mapping[str, str], resolver: int = 53
    ) -> str:
        """The configuration with these members (name -> address) and flags ("down", "drain") of some of them."""
        lines = [
            f"    server {address} {self.server_of.get(name, self.parameters).format(name=name)} {flags.get(name, '')};"
            for name, address in members.items()
        ]
        upstreams = ["  upstream be {", f"    {self.upstream}", *lines, "  }"]
        for name, address in members.items() if self.singles is not None else ():
            backup = next(a for other, a in members.items() if other != name)
            more = (self.singles or "").replace("@OTHER@", backup)
            upstreams.append(f"  upstream be_{name} {{ server {address} {flags.get(name, '')}; {more} }}")
        place = {"user": _user(), "folder": folder, "port": port, "upstreams": "\n".join(upstreams)}
        if self.stream:
            return _STREAM.format(**place)
        entries = " ".join(self.names.format(name=name) for name in members)
        http = self.http.replace("@NAMES@", entries).replace("@SHARES@", _shares(list(members)))
        location = self.location.replace("@RESOLVER@", f"127.0.0.1:{resolver}")
        target = self.target.replace("@PORT@", next(iter(members.values())).split(":")[1])
        version = "" if "proxy_http_version" in location else "proxy_http_version 1.1;"
        return _HTTP.format(**place, http=http, server=self.server, location=location, target=target, version=version)


def _user() -> str:
    return "user root;" if os.geteuid() == 0 else ""


def _shares(names: list[str]) -> str:
    """Entries of split_clients: equal shares, the last one gets the rest."""
    share = 100 // len(names)
    return " ".join(f"{share}% be_{name};" for name in names[:-1]) + f" * be_{names[-1]};"


_HEAD = """{user}
daemon off;
worker_processes 1;
pid {folder}/pid;
error_log {folder}/error.log warn;
events {{ worker_connections 512; }}
"""

_HTTP = (
    _HEAD
    + """http {{
  access_log off;
  client_body_temp_path {folder}/body;
  proxy_temp_path {folder}/proxy;
{http}
{upstreams}
  server {{
    listen 127.0.0.1:{port};
    {server}
    location / {{
      {location}
      proxy_pass http://{target};
      {version}
      proxy_connect_timeout 2s;
    }}
  }}
}}
"""
)

_STREAM = (
    _HEAD
    + """stream {{
{upstreams}
  server {{
    listen 127.0.0.1:{port};
    proxy_pass be;
    proxy_connect_timeout 2s;
  }}
}}
"""
)


class Nginx:
    """One nginx process with its folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port = proxies.free_port()
        self.process: subprocess.Popen[bytes] | None = None

    def start(self, text: str) -> None:
        """Starts with a configuration; returns when it listens."""
        self._write(text)
        log = self.folder / "output.log"
        self.process = proxies.start(
            [proxies.nginx(), "-p", self.folder, "-c", self.folder / "nginx.conf", "-e", self.folder / "early.log"], log
        )
        proxies.wait_until_listening(self.process, self.port, log)

    def reload(self, text: str) -> None:
        """A new configuration by SIGHUP. Returns when the workers of the old one are gone: for a moment both accept."""
        assert self.process is not None
        old = self._workers()
        self._write(text)
        self.process.send_signal(signal.SIGHUP)
        deadline = time.monotonic() + TIMEOUT_SECONDS
        while not (now := self._workers()) or now & old:
            assert time.monotonic() < deadline, (self.folder / "error.log").read_text()
            time.sleep(0.01)

    def stop(self) -> None:
        if self.process is not None:
            proxies.stop(self.process, signal.SIGTERM)
            self.process = None

    def _workers(self) -> set[str]:
        assert self.process is not None
        pid = self.process.pid
        return set(Path(f"/proc/{pid}/task/{pid}/children").read_text().split())

    def _write(self, text: str) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / "nginx.conf").write_text(text)


class Lab:
    """Three replicas and a spare one, an nginx in front (a second one at need), and sessions that have a home."""

    def __init__(self, setup: Setup, folder: Path) -> None:
        self.setup = setup
        self.random = random.Random(f"{setup}")
        port = proxies.free_port()
        self.replicas = {f"r{n}": Replica(f"r{n}", f"127.0.1.{n}", port) for n in (1, 2, 3, 4)}
        self.names = NameServer()
        self.first = Nginx(folder / "first")
        self.second = Nginx(folder / "second")
        self.sessions: list[Session] = []

    def start(self) -> None:
        for replica in self.replicas.values():
            replica.start()
        self.names.start()
        self.first.start(self.text(self.first))

    def stop(self) -> None:
        self.first.stop()
        self.second.stop()
        self.names.stop()
        for replica in self.replicas.values():
            replica.stop()

    def text(self, nginx: Nginx, *names: str, **flags: str) -> str:
        """The configuration with these replicas (the first three by default) and flags (`r1="down"`). The name server
        gives the addresses of those that have no flag."""
        members = {name: self.replicas[name].address for name in names or MEMBERS}
        self.names.addresses = [self.replicas[name].host for name in members if name not in flags]
        return self.setup.text(nginx.folder, nginx.port, members, flags, self.names.port)

    def reload(self, *names: str, **flags: str) -> None:
        """The first nginx goes over to these replicas and flags."""
        self.first.reload(self.text(self.first, *names, **flags))

    def connect(self, query: str = "") -> None:
        """Every session initializes if its kind does, opens a stream, and is at home where the stream came from."""
        for number in range(SESSIONS):
            session = Session(number, self.setup.sessions, self.source(), self.setup.app)
            session.initialize(self.first.port)
            session.home = session.stream(self.first.port, query).replica
            assert session.home in self.replicas
            self.sessions.append(session)

    def source(self) -> str:
        """An address of a client; the first three octets differ, since ip_hash looks at no more."""
        draw = self.random.randrange
        return f"127.{draw(2, 250)}.{draw(2, 250)}.{draw(2, 250)}"

    def come_back(self, sessions: list[Session], port: int | None = None) -> Counter[str]:
        """All reconnect in random order, so that round robin in lock-step is not taken for affinity."""
        order = list(sessions)
        self.random.shuffle(order)
        met: Counter[str] = Counter()
        for session in order:
            answer = session.stream(port or self.first.port)
            if answer.status == 200:
                met["same" if answer.replica == session.home else "other"] += 1
            else:
                met["error"] += 1
        return met

    @contextmanager
    def holding(self, session: Session, number: int) -> Iterator[None]:
        """So many open streams of one client, from when all have begun until the end of the block."""
        with ThreadPoolExecutor(number) as pool:
            before = sum(len(replica.seen) for replica in self.replicas.values())
            streams = [pool.submit(session.stream, self.first.port, "hold=3") for _ in range(number)]
            deadline = time.monotonic() + TIMEOUT_SECONDS
            while sum(len(replica.seen) for replica in self.replicas.values()) < before + number:
                assert time.monotonic() < deadline
                time.sleep(0.02)
            yield
            for stream in streams:
                stream.result()

    def victim(self) -> tuple[str, list[Session]]:
        """The replica with the most sessions, and these."""
        homes = Counter(s.home for s in self.sessions)
        name = homes.most_common(1)[0][0]
        assert name is not None
        victims = [s for s in self.sessions if s.home == name]
        assert len(victims) >= FEWEST_VICTIMS, homes
        return name, victims


@contextmanager
def running(setup: Setup, folder: Path) -> Iterator[Lab]:
    """A lab from the moment nginx listens until the end of the block."""
    lab = Lab(setup, folder)
    try:
        lab.start()
        yield lab
    finally:
        lab.stop()
