"""Replicas that stream events and can crash, and clients that come back with the key they were given."""

from __future__ import annotations

import http.client
import json
import random
import select
import socket
import socketserver
import threading
import time
import uuid
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from tests import proxies

SECONDS = 10.0
"""How long a client waits for an answer."""


# -- replicas ----------------------------------------------------------------------------------------------------------


def readable(connection: socket.socket, seconds: float) -> bool:
    """Whether something can be read, or the other side has closed, within so many seconds."""
    poll = select.poll()
    poll.register(connection, select.POLLIN)
    return bool(poll.poll(seconds * 1000))


class Replica:
    """A server on a port of its own that streams events, issues session ids that carry its name, and can crash."""

    def __init__(self, name: str, port: int | None = None) -> None:
        self.name = name
        self.port = port or proxies.free_port()
        self.health = 200
        self.heartbeat = 60.0
        """Seconds between the comments on an open stream."""
        self.known: set[str] = set()
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
        path = urlsplit(request[1]).path
        lines = [f"X-Replica: {self.name}", "Connection: close"]
        session = headers.get("mcp-session-id", "")
        status, body, stays = 200, b"", False
        if path == "/health":
            status = self.health
        elif request[0] == "POST":
            if not session:
                session = f"{self.name}.{uuid.uuid4().hex}"
                self.known.add(session)
                lines.append(f"Mcp-Session-Id: {session}")
        else:
            seen = {"known": session in self.known, "cursor": headers.get("last-event-id")}
            body = f"id: {random.randrange(10**6)}\ndata: {json.dumps(seen)}\n\n".encode()
            lines.append("Content-Type: text/event-stream")
            stays = True
        if not stays:
            lines.append(f"Content-Length: {len(body)}")
        handler.wfile.write("\r\n".join([f"HTTP/1.1 {status} X", *lines, "", ""]).encode() + body)
        while stays and not readable(handler.request, self.heartbeat):
            handler.wfile.write(b":\n\n")


# -- clients -----------------------------------------------------------------------------------------------------------


@dataclass
class Answer:
    """What a request got: the replica that answered, or None with the status of the proxy's error."""

    status: int
    replica: str | None
    headers: list[tuple[str, str]]
    event: Mapping[str, Any] = field(default_factory=dict)

    def against(self, expected: str | None) -> str:
        """same, other or error."""
        if self.status != 200 or self.replica is None:
            return "error"
        return "same" if self.replica == expected else "other"


class Client:
    """One client with one stream. `kind` says which key it brings: a browser its cookies, `header` an `X-Client-Id` of
    its own, `query` a parameter, `address` only its source address, `mcp` the id from its initialize (and cookies),
    `echo` whatever came in `X-Session-Host`. One without `has_key` is new to the proxy: it chooses no key of its own.

    `keeps_expired` makes it return cookies that it should have thrown away, which shows whether the proxy looks.
    """

    def __init__(self, number: int, kind: str, *, has_key: bool = True) -> None:
        self.kind = kind
        self.own_key = f"client-{number}-{random.randrange(2**32):x}" if has_key else ""
        self.keeps_expired = False
        self.source = f"127.{random.randrange(1, 250)}.{number + 1}.{random.randrange(2, 250)}"
        self.replica: str | None = None
        self.creator: str | None = None
        self.session_id: str | None = None
        self.echoed: str | None = None
        self.cursor: str | None = None
        self.event: Mapping[str, Any] = {}
        self._jar: dict[str, tuple[str, str, float]] = {}
        self._connection: http.client.HTTPConnection | None = None

    def initialize(self, port: int) -> Answer:
        """The request that creates the session."""
        answer = self._request(port, "POST")
        self.creator = answer.replica
        self.session_id = dict(answer.headers).get("mcp-session-id")
        return answer

    def stream(self, port: int) -> Answer:
        """Opens the stream and leaves it open."""
        answer = self._request(port, "GET")
        self.event = answer.event
        return answer

    def lasts(self, seconds: float) -> float | None:
        """How long the open stream still lives; None if it outlives `seconds`."""
        assert self._connection is not None and self._connection.sock is not None
        began = time.monotonic()
        while (left := began + seconds - time.monotonic()) > 0:
            if not readable(self._connection.sock, left):
                return None
            if not self._connection.sock.recv(4096):
                return time.monotonic() - began
        return None

    def close(self) -> None:
        """Cuts the stream."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _request(self, port: int, method: str) -> Answer:
        self.close()
        path = f"/events?sid={self.own_key}" if self.kind == "query" and self.own_key else "/events"
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=SECONDS, source_address=(self.source, 0))
        connection.request(method, path, body=b"" if method == "POST" else None, headers=self._headers(path))
        response = connection.getresponse()
        received = [(k.lower(), v) for k, v in response.getheaders()]
        self._keep(received)
        event: dict[str, Any] = {}
        if method == "GET" and response.status == 200:
            self.cursor = response.readline().decode().partition(":")[2].strip()
            event = json.loads(response.readline().decode().partition(":")[2])
            self._connection = connection
        else:
            response.read()
            connection.close()
        return Answer(response.status, dict(received).get("x-replica"), received, event)

    def _headers(self, path: str) -> dict[str, str]:
        headers = {"Accept": "text/event-stream"}
        cookies = [
            f"{name}={value}"
            for name, (value, folder, end) in self._jar.items()
            if path.startswith(folder) and (self.keeps_expired or time.monotonic() < end)
        ]
        if cookies:
            headers["Cookie"] = "; ".join(cookies)
        if self.kind == "header" and self.own_key:
            headers["X-Client-Id"] = self.own_key
        if self.kind == "mcp" and self.session_id:
            headers["Mcp-Session-Id"] = self.session_id
        if self.kind == "echo" and self.echoed:
            headers["X-Session-Host"] = self.echoed
        if self.cursor:
            headers["Last-Event-ID"] = self.cursor
        return headers

    def _keep(self, received: list[tuple[str, str]]) -> None:
        for name, value in received:
            if name == "x-session-host":
                self.echoed = value
            if name == "set-cookie":
                pair, *attributes = [part.strip() for part in value.split(";")]
                given = {k.lower(): v for k, _, v in (a.partition("=") for a in attributes)}
                key, _, content = pair.partition("=")
                end = time.monotonic() + float(given.get("max-age", "inf"))
                self._jar[key] = (content.strip('"'), given.get("path", "/"), end)
