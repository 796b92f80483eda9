"""Frontends: which backend takes which requests, and replicas that are chosen by a key."""

from __future__ import annotations

import pytest

from sselint.facts import CursorTreatment, Match
from tests.read.haproxy.configs import DEFAULTS, read, routes, servers, whole

POOLS = "".join(f"backend {name}\n{servers('check')}" for name in ("feed", "rest"))


def frontend(lines: str, more: str = POOLS) -> str:
    return whole(f"{DEFAULTS}frontend fe\nbind :8080\n{lines}\n{more}")


@pytest.mark.parametrize(
    ("condition", "paths", "hosts"),
    [
        ("if { path_beg /events }", {("prefix", "/events")}, set()),
        ("if { path -m beg /events /mcp }", {("prefix", "/events"), ("prefix", "/mcp")}, set()),
        ("if { path /events }", {("exact", "/events")}, set()),
        ("if { path -m str /events }", {("exact", "/events")}, set()),
        ("if { path_reg ^/events/.*$ }", {("regex", "^/events/.*$")}, set()),
        ("if { path_end .sse }", {("regex", ".*\\.sse$")}, set()),
        ("if { hdr(host) -i feed.example }", set(), {"feed.example"}),
        ("if { req.hdr(Host) feed.example }", set(), {"feed.example"}),
        ("if { hdr_end(host) .example }", set(), {"*.example"}),
        ("if { hdr(host) feed.example } { path_beg /events }", {("prefix", "/events")}, {"feed.example"}),
        # alternatives: any path once one of them says nothing about paths
        ("if { path_beg /a } or { path_beg /b }", {("prefix", "/a"), ("prefix", "/b")}, set()),
        ("if { path_beg /a } or { hdr(host) b }", set(), set()),
        ("if { path_beg /a } || { path_beg /b }", {("prefix", "/a"), ("prefix", "/b")}, set()),
        # what is negated says where it does not apply
        ("unless { path_beg /rest }", set(), set()),
        ("if !{ path_beg /rest }", set(), set()),
        ("if ! { path_beg /rest }", set(), set()),
        # a map or a file of values is not read
        ("if { path_beg -f /dev/null }", set(), set()),
        ("if { req.hdr(X-Canary) -m found }", set(), set()),
        ("", set(), set()),
    ],
)
def test_inline_conditions(condition: str, paths: set[tuple[str, str]], hosts: set[str]) -> None:
    text = frontend(f"use_backend feed {condition}\ndefault_backend rest")
    match = routes(text)["frontend fe -> backend feed"].match
    assert (set(match.paths), set(match.hosts)) == (paths, hosts)


def test_named_acls_add_up() -> None:
    text = frontend("acl sse path_beg /events\nacl sse path_beg /mcp\nuse_backend feed if sse\ndefault_backend rest")
    match = routes(text)["frontend fe -> backend feed"].match
    assert set(match.paths) == {("prefix", "/events"), ("prefix", "/mcp")}
    # two names are one condition: both must hold
    text = frontend("acl a path_beg /a\nacl b hdr(host) b\nuse_backend feed if a b\ndefault_backend rest")
    match = routes(text)["frontend fe -> backend feed"].match
    assert match == Match((("prefix", "/a"),), ("b",), (), match.priority)


def test_the_first_rule_that_holds_wins_and_the_default_comes_last() -> None:
    text = frontend("default_backend rest\nuse_backend feed if { path_beg /events }")
    found = routes(text)
    first, last = found["frontend fe -> backend feed"].match, found["frontend fe -> backend rest"].match
    assert first.priority < last.priority
    assert (last.paths, last.hosts) == ((), ())


@pytest.mark.parametrize(
    "condition", ["if FALSE", "unless TRUE", "if { always_false }", "if METH_POST", "if { method POST }"]
)
def test_rules_that_no_stream_takes_are_no_routes(condition: str) -> None:
    text = frontend(f"use_backend feed {condition}\ndefault_backend rest")
    assert list(routes(text)) == ["frontend fe -> backend rest"]
    taken = frontend("use_backend feed if METH_GET\ndefault_backend rest")
    assert "frontend fe -> backend feed" in routes(taken)


def test_a_backend_that_nobody_names_is_still_a_route() -> None:
    assert set(routes(frontend("default_backend rest"))) == {"frontend fe -> backend rest", "backend feed"}


def test_two_frontends_reach_one_backend() -> None:
    text = frontend("default_backend feed", POOLS + "frontend other\nbind 127.0.0.1:81\ndefault_backend feed\n")
    assert {"frontend fe -> backend feed", "frontend other -> backend feed"} <= set(routes(text))


@pytest.mark.parametrize(
    ("bind", "addresses"),
    [
        (":8080", set()),
        ("*:8080", set()),
        ("127.0.0.1:8080", {"127.0.0.1:8080"}),
        ("127.0.0.1:8080,127.0.0.2:8080", {"127.0.0.1:8080", "127.0.0.2:8080"}),
        ("[::1]:8080 v6only", {"[::1]:8080"}),
    ],
)
def test_addresses(bind: str, addresses: set[str]) -> None:
    text = whole(f"{DEFAULTS}frontend fe\nbind {bind}\ndefault_backend feed\n{POOLS}")
    assert routes(text)["frontend fe -> backend feed"].addresses == addresses


# -- names that are computed -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "reached"),
    [
        ("%[req.hdr(host),lower,map(/dev/null,rest)]", {"feed", "rest", "other"}),
        ("fe%[req.hdr(X-Half)]", {"feed", "rest"}),
        ("nothing_%[req.hdr(X-Half)]", {"rest"}),
    ],
)
def test_computed_backends(name: str, reached: set[str]) -> None:
    more = f"{POOLS}backend other\n{servers('check')}"
    text = frontend(f"use_backend {name}\ndefault_backend rest", more)
    found = [route for route in read(text).routes if route.name.startswith("frontend")]
    assert {r.pool for r in found} == reached


# -- replicas chosen by a key ------------------------------------------------------------------------------------------

ONE_EACH = "".join(f"backend b_r{n}\nserver r{n} 10.0.0.{n}:8000 check\n" for n in (1, 2, 3))
ALL = ONE_EACH + "backend be\n" + servers("check")
BY_PREFIX = "\n".join(f"use_backend b_r{n} if {{ req.hdr(Mcp-Session-Id) -m beg r{n}. }}" for n in (1, 2, 3))
COMPUTED = "use_backend b_%[req.hdr(Mcp-Session-Id),field(1,.)] if { req.hdr(Mcp-Session-Id) -m found }"


@pytest.mark.parametrize(
    "rules",
    [
        BY_PREFIX,
        COMPUTED,
        COMPUTED.partition(" if ")[0],
        BY_PREFIX.replace("req.hdr(Mcp-Session-Id)", "req.cook(SID)"),
        BY_PREFIX.replace("req.hdr(Mcp-Session-Id)", "url_param(sid)"),
        "http-request set-var(txn.r) req.hdr(Mcp-Session-Id),field(1,.)\nuse_backend b_%[var(txn.r)]",
        # ACLs by name
        "\n".join(
            f"acl is_r{n} req.hdr(Mcp-Session-Id) -m beg r{n}.\nuse_backend b_r{n} if is_r{n}" for n in (1, 2, 3)
        ),
    ],
)
def test_one_backend_a_replica_is_strict(rules: str) -> None:
    (route,) = read(frontend(f"{rules}\ndefault_backend be", ALL)).routes
    assert route.affinity.row == "haproxy/use_backend"
    assert route.affinity.strength.value == "strict"
    assert (route.members.low, route.members.high) == (3, 3)


@pytest.mark.parametrize(
    ("rules", "more", "strength"),
    [
        # the default backend has a server that no rule leads back to
        (BY_PREFIX, ALL + "server r4 10.0.0.4:8000\n", "best_effort"),
        (BY_PREFIX.rpartition("\n")[0], ALL, "best_effort"),
        # a replica with a stand-in
        (BY_PREFIX, ALL.replace("backend b_r2\n", "backend b_r2\nserver x 10.0.0.9:80 backup\n"), "best_effort"),
        # ranges of numbers say nothing about who counted
        (
            "\n".join(f"use_backend b_r{n} if {{ req.hdr(Last-Event-ID) -m int {n}000:{n}999 }}" for n in (1, 2, 3)),
            ALL,
            "none",
        ),
    ],
)
def test_what_undoes_one_backend_a_replica(rules: str, more: str, strength: str) -> None:
    found = read(frontend(f"{rules}\ndefault_backend be", more)).routes
    assert found[0].affinity.strength.value == strength


def test_a_cursor_that_names_the_replica_is_routed_on() -> None:
    rules = BY_PREFIX.replace("Mcp-Session-Id", "Last-Event-ID")
    (route,) = read(frontend(f"{rules}\ndefault_backend be", ALL)).routes
    assert route.last_event_id is CursorTreatment.ROUTED_ON
    assert [span.line for span in route.last_event_id_evidence] == [9, 10, 11]
    # a session id is not the cursor
    (route,) = read(frontend(f"{BY_PREFIX}\ndefault_backend be", ALL)).routes
    assert route.last_event_id is CursorTreatment.PASSED


@pytest.mark.parametrize(
    "rules",
    [
        # one version of two: by header, but each version has several servers
        "use_backend feed if { req.hdr(X-Version) -m beg 2. }\nuse_backend rest if { req.hdr(X-Version) -m beg 1. }",
        # by path: that is not a client's own key
        "use_backend b_r1 if { path_beg /a }\nuse_backend b_r2 if { path_beg /b }",
    ],
)
def test_choosing_by_something_else_is_not_one_backend_a_replica(rules: str) -> None:
    found = read(frontend(f"{rules}\ndefault_backend be", ALL + POOLS)).routes
    assert all(r.affinity.row != "haproxy/use_backend" for r in found)
