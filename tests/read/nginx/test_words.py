"""Words as a real nginx reads them: each is returned as the body of a location and compared with the tokenizer's."""

from __future__ import annotations

import http.client
import os
from pathlib import Path

import pytest

from sselint.read.nginx.parser import parse
from sselint.source import Source
from tests import proxies

pytestmark = pytest.mark.premises

WORDS = (
    "plain",
    '"a b"',
    "'a b'",
    '"a\'b"',
    r'"a\"b"',
    r"'a\'b'",
    r"a\"b",
    r"a\'b",
    r"a\ b",
    r"a\;b",
    r"a\{b",
    r"a\\b",
    r"'\\\\'",
    r"a\tb",
    r"a\nb",
    r"a\rb",
    r"a\qb",
    r"'\d{2,3}'",
    "a'b",
    'a"b',
    'a"b"c',
    "a#b",
    "'#'",
    "a}b",
    "';{}'",
    "'ü€'",
    "''",
    '"a\nb"',
    "'a  \t b'",
)


def test_words_are_what_nginx_reads(tmp_path: Path) -> None:
    port = proxies.free_port()
    locations = "\n".join(f"location = /{number} {{ return 200 {word}; }}" for number, word in enumerate(WORDS))
    user = "user root;" if os.geteuid() == 0 else ""
    text = f"""{user} daemon off; pid {tmp_path}/pid; events {{}}
http {{ access_log off; server {{ listen 127.0.0.1:{port};
{locations}
}} }}"""
    (tmp_path / "nginx.conf").write_text(text, encoding="utf-8")
    command = [proxies.nginx(), "-p", tmp_path, "-c", tmp_path / "nginx.conf", "-e", tmp_path / "error.log"]
    with proxies.running(command, port, tmp_path / "log"):
        served = [_body(port, number) for number in range(len(WORDS))]
    assert _read(text) == served


def _body(port: int, number: int) -> str:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    try:
        connection.request("GET", f"/{number}")
        return connection.getresponse().read().decode()
    finally:
        connection.close()


def _read(text: str) -> list[str]:
    [http_block] = [d for d in parse(Source("nginx.conf", text, "nginx")).directives if d.name == "http"]
    [server] = [d for d in http_block.block or () if d.name == "server"]
    return [d.block[0].args[1] for d in server.block or () if d.name == "location" and d.block]
