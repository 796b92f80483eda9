"""What nginx does to a stream that passes through it: when it ends a silent one, what makes events late, and when the
cursor gets through.

The reader's observations SSE602 and SSE604 and its treatment of `Last-Event-ID` rest on this.
"""

from __future__ import annotations

import socket
import time
from pathlib import Path

import pytest

from sselint.read.nginx.streaming import READ_TIMEOUT_SECONDS
from tests.premises.nginx_clients import Session
from tests.premises.nginx_lab import Lab, Setup, running

pytestmark = pytest.mark.premises

GZIP = "gzip on; gzip_types text/event-stream;"


def arrivals(lab: Lab, query: str, timeout: float = 20.0) -> list[float]:
    """When bytes of a stream arrived at a client, in seconds since its request; the last number is its end."""
    began = time.monotonic()
    with socket.create_connection(("127.0.0.1", lab.first.port), timeout) as connection:
        request = f"GET /events?{query} HTTP/1.1\r\nHost: feed\r\nAccept-Encoding: gzip\r\nConnection: close\r\n\r\n"
        connection.sendall(request.encode())
        times = []
        while connection.recv(65536):
            times.append(time.monotonic() - began)
    return [*times, time.monotonic() - began]


# -- silence


def test_a_silent_stream_ends_at_the_read_timeout(tmp_path: Path) -> None:
    with running(Setup(location="proxy_read_timeout 1s;"), tmp_path) as lab:
        assert 0.9 < arrivals(lab, "chunked=1&hold=5")[-1] < 3


def test_heartbeats_keep_it(tmp_path: Path) -> None:
    with running(Setup(location="proxy_read_timeout 1s;"), tmp_path) as lab:
        assert arrivals(lab, "chunked=1&beat=0.3&for=2.5")[-1] >= 2.5


def test_send_timeout_does_not_end_a_silent_stream(tmp_path: Path) -> None:
    """It looks at the time between two writes that a client does not take, not at silence."""
    with running(Setup(location="send_timeout 1s; proxy_send_timeout 1s;"), tmp_path) as lab:
        assert arrivals(lab, "chunked=1&hold=2.5")[-1] >= 2.5


@pytest.mark.slow
def test_the_read_timeout_is_a_minute_by_default(tmp_path: Path) -> None:
    with running(Setup(), tmp_path) as lab:
        ended = arrivals(lab, "chunked=1&hold=70", timeout=80)[-1]
        assert READ_TIMEOUT_SECONDS - 0.5 < ended < READ_TIMEOUT_SECONDS + 4


# -- late events: the server sends one at once and four more within 1.2 s


BEATS = "beat=0.3&for=1"


def is_prompt(times: list[float]) -> bool:
    """Whether the first event was there long before the stream's end."""
    return times[0] < 0.25 and times[-1] > 1


def is_held(times: list[float]) -> bool:
    """Whether not a byte came before the stream's end."""
    return times[0] > 1


@pytest.mark.parametrize("http", ["1.0", "1.1"])
def test_gzip_holds_events_while_the_response_is_buffered(http: str, tmp_path: Path) -> None:
    with running(Setup(location=f"{GZIP} proxy_http_version {http};"), tmp_path) as lab:
        assert is_held(arrivals(lab, f"chunked=1&{BEATS}"))


@pytest.mark.parametrize(
    ("location", "query"),
    [
        ("", "chunked=1"),  # buffered, no gzip
        (f"{GZIP} proxy_buffering off;", "chunked=1"),
        (GZIP, "chunked=1&accel=no"),  # X-Accel-Buffering: no, sent by the application
        ("gzip on; gzip_types text/plain;", "chunked=1"),
    ],
)
def test_events_flow_otherwise(location: str, query: str, tmp_path: Path) -> None:
    with running(Setup(location=location), tmp_path) as lab:
        assert is_prompt(arrivals(lab, f"{query}&{BEATS}"))


def test_buffering_alone_holds_a_response_without_chunks(tmp_path: Path) -> None:
    """A response that only the end of the connection ends waits until a buffer (4 or 8 KiB) is full. Servers answer so
    to HTTP/1.0, which nginx spoke to upstreams by default before 1.29.7."""
    with running(Setup(), tmp_path) as lab:
        assert is_held(arrivals(lab, BEATS))
    with running(Setup(location="proxy_buffering off;"), tmp_path / "look-alike") as lab:
        assert is_prompt(arrivals(lab, BEATS))


# -- the cursor


@pytest.mark.parametrize(
    ("server", "location", "cursor"),
    [
        ("", "", "r1-7"),
        ("", 'proxy_set_header Last-Event-ID "";', None),
        ("", 'proxy_set_header last-event-id "";', None),
        ("", "proxy_set_header Last-Event-ID fixed;", "fixed"),
        ("", "proxy_set_header Last-Event-ID $http_last_event_id;", "r1-7"),
        ("", "proxy_pass_request_headers off;", None),
        ('proxy_set_header Last-Event-ID "";', "", None),
        ('proxy_set_header Last-Event-ID "";', "proxy_set_header Host $host;", "r1-7"),
        ("", 'add_header Last-Event-ID "";', "r1-7"),
    ],
)
def test_what_becomes_of_the_cursor(server: str, location: str, cursor: str | None, tmp_path: Path) -> None:
    with running(Setup(server=server, location=location), tmp_path) as lab:
        session = Session(0, "browser", lab.source())
        session.cursor = "r1-7"
        session.stream(lab.first.port)
        [seen] = [headers for replica in lab.replicas.values() for headers in replica.seen]
        assert seen.get("last-event-id") == cursor
