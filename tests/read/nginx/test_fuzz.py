"""Whole files that somebody broke: the reader reports, and never fails."""

from __future__ import annotations

import random

import pytest

from sselint import unwrap
from sselint.facts import FileOutcome
from sselint.read import nginx
from sselint.source import Source, Tree
from tests.read.nginx.helpers import http
from tests.read.nginx.test_choices import ROWS as CHOICES
from tests.read.nginx.test_includes import DUMP
from tests.read.nginx.test_streaming import STRIPPED
from tests.read.nginx.test_upstreams import METHODS

SEEDS = [
    *(text for text, _ in CHOICES.values()),
    *(http(upstream, location) for upstream, location, _ in METHODS.values()),
    *(http("server r1:80;", location) for location in STRIPPED.values()),
    DUMP,
]

_PIECES = r"""
{|}|;|"|'|#|$|${|@|=|~|*|:|/|''|include x;|include *;|include nginx.conf;|include /;|map $a $b {|geo $x {|map;|default;
split_clients a $b {|set $x $x;|set;|if ($x) {|server {|location {|location = {|upstream {|http {|stream {|max_fails=
proxy_pass;|proxy_pass http://;|proxy_pass $;|proxy_pass http://[::1;|proxy_pass unix:;|proxy_pass '';|server unix:;
server :80;|hash;|hash $;|sticky;|sticky cookie;|sticky route;|sticky learn;|error_page;|error_page 502;|rewrite;
proxy_set_header;|proxy_set_header Last-Event-ID;|gzip;|gzip_types;|proxy_read_timeout;|proxy_next_upstream;|try_files;
proxy_next_upstream_tries;|server_name;|listen;|add_header Set-Cookie;|error_page 502 = $a;|content_by_lua_block {|[[
--[[|{{ x }}|{% if x %}|{% endif %}|{% for a in b %}|{{|}}|${X}|# configuration file /x:
"""

PIECES = ["\n", "\r\n", "\0", "\ufeff", "\uffff", "\\", *_PIECES.strip().replace("\n", "|").split("|")]


@pytest.mark.parametrize("seed", range(8))
def test_broken_files_are_reported_and_nothing_fails(seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(60):
        text = chance.choice(SEEDS)
        for _ in range(chance.randint(1, 8)):
            at = chance.randint(0, len(text))
            text = text[:at] + chance.choice(PIECES) + text[at + chance.choice([0, 0, 1, 5, 40]) :]
        nginx.looks_like("nginx.conf", text)
        files = {"nginx.conf": text, "x": chance.choice(SEEDS)}
        tree = Tree("/root", tuple(files), lambda path, files=files: files[path].encode())  # type: ignore[misc]
        given = [Source("nginx.conf", text, "nginx"), *unwrap.sources("nginx.conf", text, ".", lambda *_: "nginx")]
        failed = [f for f in nginx.read(given, tree).files if f.outcome is FileOutcome.INTERNAL_ERROR]
        assert not failed, (failed, text)


@pytest.mark.parametrize("piece", PIECES)
def test_a_piece_alone_fails_nothing(piece: str) -> None:
    for text in (
        piece,
        f"http {{ {piece} }}",
        f"upstream a {{ {piece} }} location / {{ proxy_pass http://a; {piece} }}",
    ):
        reports = nginx.read([Source("n", text, "nginx")], Tree("/root", ("n",), lambda _: b"")).files
        assert not [f for f in reports if f.outcome is FileOutcome.INTERNAL_ERROR], text
