"""Replicas that stream events, and sessions that come back with the keys they hold.

Replicas are threads of the test process: they answer every request with their name, issue a session id on POST, send
one event with an id on GET, and can hold a stream open. Sessions connect from different addresses of 127.0.0.0/8, so
that hashing addresses has something to hash, and keep cookies for as long as the cookie says, as a browser does.
"""

from __future__ import annotations

import http.client
import re
import socketserver
import threading
import time
import uuid
from contextlib import suppress
from dataclasses import dataclass

TIMEOUT_SECONDS = 10.0


class _Handler(socketserver.StreamRequestHandler):
    server: _Server
    chunked = False

    def handle(self) -> None:
        with suppress(ConnectionError, ValueError):
            self._answer()

    def _answer(self) -> None:
        method, target = self.rfile.readline().decode("latin1").split(" ")[:2]
        headers = {}
        while line := self.rfile.readline().decode("latin1").strip():
            name, _, value = line.partition(":")
            headers[name.strip().lower()] = value.strip()
        replica = self.server.replica
        replica.seen.append(headers)
        extra = [f"X-Replica: {replica.name}"]
        if method == "POST" and "mcp-session-id" not in headers:
            extra.append(f"Mcp-Session-Id: {replica.name}.{uuid.uuid4().hex}")
        if "app=1" in target and "APPSID=" not in headers.get("cookie", ""):
            extra.append(f"Set-Cookie: APPSID={replica.name}.{uuid.uuid4().hex}; Path=/")
        events = method == "GET"
        self.chunked = events and "chunked=1" in target
        content = "text/event-stream" if events else "application/json"
        extra += ["Transfer-Encoding: chunked"] if self.chunked else []
        extra += ["X-Accel-Buffering: no"] if "accel=no" in target else []
        head = ["HTTP/1.1 200 OK", *extra, f"Content-Type: {content}", "Connection: close"]
        self.wfile.write(("\r\n".join(head) + "\r\n\r\n").encode())
        if events:
            number = next(replica.numbers)
            self._send(f"id: {replica.name}-{number}\ndata: {number}\n\n")
            self._go_on(target)
            if self.chunked:
                self.wfile.write(b"0\r\n\r\n")

    def _go_on(self, target: str) -> None:
        """What a query asks for beyond the first event: `hold=S` silence, `beat=S&for=S` an event every S seconds."""
        if match := re.search(r"hold=([\d.]+)", target):
            time.sleep(float(match[1]))
        if match := re.search(r"beat=([\d.]+)&for=([\d.]+)", target):
            end = time.monotonic() + float(match[2])
            while time.monotonic() < end:
                time.sleep(float(match[1]))
                self._send(f"data: {time.time()}\n\n")

    def _send(self, event: str) -> None:
        frame = f"{len(event):x}\r\n{event}\r\n" if self.chunked else event
        self.wfile.write(frame.encode())


class _Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True
    request_queue_size = 64

    def __init__(self, replica: Replica, address: tuple[str, int]) -> None:
        self.replica = replica
        super().__init__(address, _Handler)


class Replica:
    """A process behind the balancer: `stop` refuses connections, `start` listens again, perhaps elsewhere."""

    def __init__(self, name: str, host: str, port: int) -> None:
        self.name, self.host, self.port = name, host, port
        self.numbers = iter(range(1, 1_000_000))
        self.seen: list[dict[str, str]] = []
        self._server: _Server | None = None

    def start(self) -> None:
        self._server = _Server(self, (self.host, self.port))
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    def stop(self) -> None:
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
            self._server = None

    @property
    def address(self) -> str:
        return f"{self.host}:{self.port}"


@dataclass
class Answer:
    status: int
    replica: str | None


class Session:
    """One client. `kind` says which key it presents: browser (cookies), client_header, client_cookie, query, mcp."""

    def __init__(self, number: int, kind: str, source: str, app: bool = False) -> None:
        self.number, self.kind, self.source, self.app = number, kind, source, app
        self.key: str | None = f"client-{number}-{uuid.uuid4().hex[:8]}"
        self.cookies: dict[str, tuple[str, float | None]] = {}
        self.session_id: str | None = None
        self.cursor: str | None = None
        self.created_on: str | None = None
        self.home: str | None = None

    def forget(self, source: str) -> None:
        """Loses every key: no cookies, no ids, another address."""
        self.key = self.session_id = self.cursor = None
        self.cookies, self.source = {}, source

    def initialize(self, port: int) -> None:
        if self.kind == "mcp":
            self.created_on = self.request(port, "POST").replica

    def stream(self, port: int, query: str = "") -> Answer:
        return self.request(port, "GET", query)

    def request(self, port: int, method: str, query: str = "") -> Answer:
        connection = http.client.HTTPConnection(
            "127.0.0.1", port, timeout=TIMEOUT_SECONDS, source_address=(self.source, 0)
        )
        try:
            connection.request(method, self._target(query), headers=self._headers())
            response = connection.getresponse()
            self._take(response)
            body = response.read().decode()
            if ids := re.findall(r"^id: (\S+)$", body, re.M):
                self.cursor = ids[-1]
            return Answer(response.status, response.getheader("X-Replica"))
        finally:
            connection.close()

    def _target(self, query: str) -> str:
        parts = [query] if query else []
        if self.kind == "query" and self.key:
            parts.append(f"sid={self.key}")
        if self.app:
            parts.append("app=1")
        return "/events" + ("?" + "&".join(parts) if parts else "")

    def _headers(self) -> dict[str, str]:
        headers = {"Accept": "text/event-stream"}
        now = time.monotonic()
        jar = {name: value for name, (value, end) in self.cookies.items() if end is None or now < end}
        if self.kind == "client_cookie" and self.key:
            jar["CLIENTID"] = self.key
        if jar:
            headers["Cookie"] = "; ".join(f"{name}={value}" for name, value in jar.items())
        if self.kind == "client_header" and self.key:
            headers["X-Client-Id"] = self.key
        if self.session_id:
            headers["Mcp-Session-Id"] = self.session_id
        if self.cursor:
            headers["Last-Event-ID"] = self.cursor
        return headers

    def _take(self, response: http.client.HTTPResponse) -> None:
        self.session_id = response.getheader("Mcp-Session-Id") or self.session_id
        for header in response.msg.get_all("Set-Cookie") or []:
            pair, *attributes = [part.strip() for part in header.split(";")]
            name, _, value = pair.partition("=")
            ages = [a.partition("=")[2] for a in attributes if a.lower().startswith("max-age=")]
            self.cookies[name] = (value, time.monotonic() + float(ages[0]) if ages else None)
