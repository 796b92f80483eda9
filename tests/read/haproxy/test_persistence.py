"""What brings a client back: each directive, and beside it a look-alike that does something else."""

from __future__ import annotations

import pytest

from sselint.facts import KeyCarrier, KeyIssuer
from sselint.read.haproxy.persistence import Assumed
from tests.read.haproxy.configs import affinity, config, routes, row, servers

TABLE = "stick-table type ip size 1k\n"
SETS = "http-request set-var(txn.k)"
INSERT = "cookie SRV insert indirect nocache"
SETS_APP = Assumed(frozenset({"APP"}))
SETS_NOTHING = Assumed(frozenset())


@pytest.mark.parametrize(
    ("lines", "server", "expected"),
    [
        (INSERT, "check cookie {n}", "cookie_check"),
        (INSERT, "cookie {n}", "cookie_no_check"),
        # no server has a value: HAProxy has nothing to put into the cookie
        (INSERT, "check", "none_check"),
        # the value is made of the address, none is written
        (f"{INSERT} dynamic\ndynamic-cookie-key k", "check", "cookie_dynamic_check"),
        # a cookie whose name is a keyword is not of that mode
        ("cookie prefix insert", "check cookie {n}", "cookie_check"),
        # set on answers to POST only
        ("cookie SRV insert indirect postonly", "check cookie {n}", "cookie_postonly"),
        # capture is not persistence
        ("capture cookie SRV len 32", "check cookie {n}", "none_check"),
        ("http-request set-header X-Cookie %[req.cook(SRV)]", "check cookie {n}", "none_check"),
        ("", "check cookie {n}", "none_check"),
    ],
)
def test_cookies(lines: str, server: str, expected: str) -> None:
    assert row(config(lines, server=server)) == expected


@pytest.mark.parametrize(
    ("lines", "assumed", "expected"),
    [
        ("cookie APP prefix", SETS_APP, "cookie_check"),
        ("cookie APP rewrite", SETS_APP, "cookie_check"),
        ("cookie APP", SETS_APP, "cookie_check"),
        # what the application does not set cannot be decorated
        ("cookie APP prefix", SETS_NOTHING, "cookie_unset"),
        ("cookie APP rewrite", SETS_NOTHING, "cookie_unset"),
        ("cookie APP", SETS_NOTHING, "cookie_unset"),
        # HAProxy's own
        ("cookie APP insert", SETS_NOTHING, "cookie_check"),
        # preserve lets the application point it elsewhere, if it sets it
        ("cookie APP insert preserve", SETS_APP, "cookie_repointed"),
        ("cookie APP insert preserve", SETS_NOTHING, "cookie_check"),
        ("cookie APP insert", SETS_APP, "cookie_check"),
        # whoever begins with a POST gets the cookie
        ("cookie SRV insert postonly", Assumed(posts=True), "cookie_check"),
        ("cookie SRV insert postonly", Assumed(posts=False), "cookie_postonly"),
    ],
)
def test_what_the_application_sets_decides_about_cookies(lines: str, assumed: Assumed, expected: str) -> None:
    assert row(config(lines), assumed) == expected


def test_a_passive_cookie_pins_only_if_the_application_names_the_server() -> None:
    text = config("cookie APP\noption persist")
    assert affinity(text, SETS_APP).strength.value == "unknown"
    assert any(span.note.startswith("passive") for span in affinity(config("cookie APP"), SETS_APP).undone_by)
    assert not any(span.note.startswith("passive") for span in affinity(config(INSERT)).undone_by)


def test_a_strict_cookie_of_the_application_is_unknown_while_nobody_knows_whether_it_sets_it() -> None:
    assert row(config("cookie APP prefix\noption persist")) == "cookie_persist"
    assert affinity(config("cookie APP prefix\noption persist")).strength.value == "unknown"
    assert affinity(config("cookie APP prefix\noption persist"), SETS_APP).strength.value == "strict"


def test_a_server_without_a_value_leaves_its_clients_alone() -> None:
    lines = INSERT + "\n" + servers(names=("r4",), parameters="check")
    found = affinity(config(lines))
    assert found.row == "haproxy/cookie_partial"
    assert [span.line for span in found.undone_by if "without a cookie value" in span.note] == [14]
    # a backup gets no new clients: nobody is left without a cookie
    assert row(config(INSERT + "\n" + servers(names=("r4",), parameters="check backup"))) == "cookie_check"


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ("server r4 10.0.0.4:80 cookie r4", "cookie_check"),
        # HAProxy takes the first server that has the value
        ("server r4 10.0.0.4:80 cookie r1", "cookie_partial"),
        ("server r4 10.0.0.4:80 cookie r1 backup", "cookie_partial"),
        ("server-template t 3 10.0.0.4:80 cookie t", "cookie_partial"),
        ("server-template t 1 10.0.0.4:80 cookie t", "cookie_check"),
        ("dynamic-cookie-key k", "cookie_check"),
    ],
)
def test_cookie_values_that_servers_share(more: str, expected: str) -> None:
    assert row(config(INSERT, after=more)) == expected


@pytest.mark.parametrize(
    ("lifetime", "seconds"),
    [
        ("", None),
        ("maxidle 30m", 1800.0),
        ("maxlife 8h", 28800.0),
        ("maxidle 30m maxlife 10s", 10.0),
        ("maxidle 5000", 5.0),
    ],
)
def test_lifetime_of_the_cookie(lifetime: str, seconds: float | None) -> None:
    key = affinity(config(f"{INSERT} {lifetime}")).key
    assert (key.seconds, key.lifetime) == (seconds, "expires" if seconds else "session")
    assert (key.issued_by, key.carrier, key.name) == (KeyIssuer.PROXY, KeyCarrier.COOKIE, "SRV")


@pytest.mark.parametrize(
    ("lines", "server", "expected"),
    [
        ("", "check cookie {n}", "cookie_check"),
        ("option redispatch", "check cookie {n}", "cookie_redispatch"),
        ("option redispatch\nno option redispatch", "check cookie {n}", "cookie_check"),
        ("no option redispatch\noption redispatch", "check cookie {n}", "cookie_redispatch"),
        ("option redispatch\nretries 0", "cookie {n}", "cookie_no_check"),
        ("option redispatch\nretries 1", "cookie {n}", "cookie_redispatch"),
        ("option redispatch 0", "cookie {n}", "cookie_no_check"),
        ("option redispatch 2\nretries 1", "cookie {n}", "cookie_no_check"),
        ("option redispatch 2\nretries 2", "cookie {n}", "cookie_redispatch"),
        ("option redispatch 5\nretries 3", "check cookie {n}", "cookie_check"),
        ("option redispatch -1", "cookie {n}", "cookie_redispatch"),
        # only a retry on another server moves anybody
        ("retry-on all-retryable-errors", "cookie {n}", "cookie_no_check"),
        ("option persist", "check cookie {n}", "cookie_persist"),
        ("option persist\nno option persist", "check cookie {n}", "cookie_check"),
        ("option persist\noption redispatch", "check cookie {n}", "cookie_persist_redispatch"),
        ("option persist\noption redispatch\nretries 0", "check cookie {n}", "cookie_persist"),
        ("force-persist if TRUE", "check cookie {n}", "cookie_persist"),
        ("force-persist if FALSE", "check cookie {n}", "cookie_check"),
        ("force-persist unless FALSE", "check cookie {n}", "cookie_persist"),
        ("option redispatch\nforce-persist if TRUE", "check cookie {n}", "cookie_persist"),
        # an ACL that is always true
        ("acl always always_true\nforce-persist if always", "check cookie {n}", "cookie_persist"),
        # of several that hold the first one decides
        ("force-persist if TRUE\nignore-persist if TRUE", "check cookie {n}", "cookie_persist"),
        ("ignore-persist if TRUE\nforce-persist if TRUE", "check cookie {n}", "none_check"),
        ("ignore-persist if FALSE\nforce-persist if TRUE", "check cookie {n}", "cookie_persist"),
        # the cookie is skipped
        ("ignore-persist if TRUE", "check cookie {n}", "none_check"),
        ("ignore-persist if FALSE", "check cookie {n}", "cookie_check"),
        # no stream is asked for with POST
        ("ignore-persist if METH_POST", "check cookie {n}", "cookie_check"),
        ("option httpchk GET /health", "cookie {n}", "cookie_no_check"),
        ("", "agent-check agent-port 9 cookie {n}", "cookie_check"),
        ("", "check no-check cookie {n}", "cookie_no_check"),
        ("", "inter 2s fall 3 cookie {n}", "cookie_no_check"),
    ],
)
def test_failing_over(lines: str, server: str, expected: str) -> None:
    assert row(config(f"{INSERT}\n{lines}", server=server)) == expected


def test_a_server_that_tracks_a_checked_one_is_marked_down_with_it() -> None:
    more = "backend probe\n" + servers("check")
    text = config(INSERT, server="track probe/{n} cookie {n}", more=more)
    assert routes(text)["frontend fe -> backend be"].affinity.row == "haproxy/cookie_check"


def test_a_persistence_rule_under_another_condition_leaves_the_answer_open() -> None:
    found = affinity(config(f"{INSERT}\nforce-persist if {{ req.hdr(X-Debug) -m found }}"))
    assert found.strength.value == "unknown"
    assert "depends on a condition" in found.why
    # best effort either way: nothing is open
    text = config(f"{INSERT}\noption redispatch\nignore-persist if {{ req.hdr(X-Debug) -m found }}")
    assert affinity(text).strength.value == "best_effort"


@pytest.mark.parametrize(
    ("lines", "expected", "issuer"),
    [
        (TABLE + "stick on src", "stick_check", KeyIssuer.ADDRESS),
        (TABLE + "stick on src table other", "stick_check", KeyIssuer.ADDRESS),
        (TABLE + "stick match src\nstick store-request src", "stick_check", KeyIssuer.ADDRESS),
        ("stick-table type string size 1k\nstick on req.hdr(X-Client)", "stick_check", KeyIssuer.CLIENT),
        ("stick-table type string size 1k\nstick on urlp(sid)", "stick_check", KeyIssuer.CLIENT),
        (
            "stick-table type string size 1k\nstick match req.hdr(mcp-session-id)\n"
            "stick store-response res.hdr(Mcp-Session-Id)",
            "stick_check",
            KeyIssuer.SERVER,
        ),
        (
            "stick-table type string size 1k\nstick on req.hdr(Mcp-Session-Id)\n"
            "stick store-response res.hdr(Mcp-Session-Id)",
            "stick_check",
            KeyIssuer.SERVER,
        ),
        # not learnt from the answer
        ("stick-table type string size 1k\nstick on req.hdr(Mcp-Session-Id)", "stick_unlearnt", KeyIssuer.SERVER),
        ("stick-table type string size 1k\nstick on req.cook(SID)", "stick_unlearnt_cookie", KeyIssuer.SERVER),
        ("stick-table type string size 1k\nstick on req.hdr(Last-Event-ID)", "stick_last_event_id", KeyIssuer.SERVER),
        # a table without a rule counts requests and pins nobody
        ("stick-table type ip size 1k store http_req_rate(10s)", "none_check", KeyIssuer.NONE),
        (
            "stick-table type ip size 1k store http_req_rate(10s)\nhttp-request track-sc0 src",
            "none_check",
            KeyIssuer.NONE,
        ),
        # what is stored is never looked up, or the other way round, or in another table
        (TABLE + "stick store-request src", "none_check", KeyIssuer.NONE),
        (TABLE + "stick match src", "none_check", KeyIssuer.NONE),
        (TABLE + "stick match src\nstick store-request src table other", "none_check", KeyIssuer.NONE),
        (TABLE + "stick on src if FALSE", "none_check", KeyIssuer.NONE),
    ],
)
def test_stick_tables(lines: str, expected: str, issuer: KeyIssuer) -> None:
    text = config(lines, more="backend other\nstick-table type ip size 1k\n")
    assert row(text) == expected
    assert affinity(text).key.issued_by is issuer


@pytest.mark.parametrize(
    ("table", "seconds"), [("", None), ("expire 30m", 1800.0), ("expire 1500", 1.5), ("expire 1d", 86400.0)]
)
def test_lifetime_of_an_entry(table: str, seconds: float | None) -> None:
    assert affinity(config(f"stick-table type ip size 1k {table}\nstick on src")).key.seconds == seconds


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ("stick-table type ip size 1k peers lab\nstick on src", "stick_peers_check"),
        (TABLE + "stick on src", "stick_check"),
        # a table that stands in the peers section itself
        ("stick on src table lab/shared", "stick_peers_check"),
        # peers of a table that nothing sticks to
        ("stick-table type ip size 1k peers lab store conn_cur", "none_check"),
        # the table of a backend whose name is that of another section
        ("stick on src table other", "stick_check"),
    ],
)
def test_peers(lines: str, expected: str) -> None:
    more = """peers lab
bind :1024
server here
server there 10.0.0.9:1024
table shared type ip size 1k
backend other
stick-table type ip size 1k
"""
    assert row(config(lines, defaults="global\nlocalpeer here\n" + "defaults\nmode http\n", more=more)) == expected


@pytest.mark.parametrize(("server", "expected"), [("check", "stick_check"), ("check non-stick", "stick_partial")])
def test_servers_that_are_not_learnt(server: str, expected: str) -> None:
    extra = servers(server, names=("r4",))
    assert row(config(f"{TABLE}stick on src\n{extra}")) == expected


def test_a_backup_that_is_not_learnt_leaves_nobody_alone() -> None:
    extra = servers("check non-stick backup", names=("r4",))
    assert row(config(f"{TABLE}stick on src\n{extra}")) == "stick_check"


@pytest.mark.parametrize(
    ("lines", "note"),
    [
        ("stick on src if { req.hdr(X-Debug) -m found }", True),
        ("stick on src", False),
        # a condition on the key itself holds for all that present it
        ("stick match hdr(X-Id) if { hdr(X-Id) -m found }\nstick store-request hdr(X-Id)", False),
        ("stick match hdr(X-Id)\nstick store-request hdr(X-Id) if { src 10.0.0.0/8 }", True),
    ],
)
def test_stick_rules_under_a_condition_say_so(lines: str, note: bool) -> None:
    found = affinity(config(f"stick-table type string size 1k\n{lines}"))
    assert any(span.note == "holds under a condition only" for span in found.undone_by) is note


@pytest.mark.parametrize(
    ("lines", "expected", "carrier"),
    [
        ("balance source", "hash_modulo_check", KeyCarrier.ADDRESS),
        ("balance source\nhash-type consistent", "hash_consistent_check", KeyCarrier.ADDRESS),
        ("balance source\nhash-type map-based", "hash_modulo_check", KeyCarrier.ADDRESS),
        ("balance source\nhash-type consistent sdbm avalanche", "hash_consistent_check", KeyCarrier.ADDRESS),
        ("balance uri", "hash_modulo_check", KeyCarrier.PATH),
        ("balance uri whole", "hash_modulo_check", KeyCarrier.PATH),
        ("balance url_param sid", "hash_modulo_check", KeyCarrier.QUERY),
        ("balance url_param sid check_post", "hash_modulo_check", KeyCarrier.QUERY),
        ("balance hdr(X-Client)", "hash_modulo_check", KeyCarrier.HEADER),
        ("balance hdr(X-Client) use_domain_only", "hash_modulo_check", KeyCarrier.HEADER),
        ("balance hash req.hdr(X-Client),lower", "hash_modulo_check", KeyCarrier.HEADER),
        ("balance hash req.cook(SID)", "hash_unknown_at_first_cookie", KeyCarrier.COOKIE),
        ("balance hdr(Mcp-Session-Id)", "hash_unknown_at_first", KeyCarrier.HEADER),
        ("balance hdr(MCP-SESSION-ID)\nhash-type consistent", "hash_unknown_at_first", KeyCarrier.HEADER),
        ("balance hdr(Last-Event-ID)", "hash_last_event_id", KeyCarrier.HEADER),
        ("balance source\nhash-type consistent\nhash-balance-factor 150", "hash_bounded", KeyCarrier.ADDRESS),
        # 0 is off, and without a consistent hash the factor does nothing
        ("balance source\nhash-type consistent\nhash-balance-factor 0", "hash_consistent_check", KeyCarrier.ADDRESS),
        ("balance source\nhash-balance-factor 150", "hash_modulo_check", KeyCarrier.ADDRESS),
        ("balance roundrobin\nhash-type consistent", "none_check", KeyCarrier.NONE),
        ("balance leastconn", "none_check", KeyCarrier.NONE),
        ("balance static-rr", "none_check", KeyCarrier.NONE),
        ("balance random", "none_check", KeyCarrier.NONE),
        ("balance random(3)", "none_check", KeyCarrier.NONE),
        ("balance first", "first_check", KeyCarrier.NONE),
        # the last line wins
        ("balance source\nbalance roundrobin", "none_check", KeyCarrier.NONE),
        # redispatch chooses the same again in a hash that is not consistent
        ("balance source\noption redispatch", "hash_modulo_check", KeyCarrier.ADDRESS),
        ("balance source\nhash-type consistent\noption redispatch", "hash_consistent_redispatch", KeyCarrier.ADDRESS),
        # a variable is what it was set from
        (f"{SETS} req.hdr(X-Client)\nbalance hash var(txn.k)", "hash_modulo_check", KeyCarrier.HEADER),
        (f"{SETS} req.hdr(Mcp-Session-Id)\nbalance hash var(txn.k)", "hash_unknown_at_first", KeyCarrier.HEADER),
        # set in two ways: nobody knows which
        (f"{SETS} req.hdr(X-A)\n{SETS} src\nbalance hash var(txn.k)", "hash_modulo_check", KeyCarrier.NONE),
    ],
)  # fmt: skip
def test_balancing(lines: str, expected: str, carrier: KeyCarrier) -> None:
    text = config(lines)
    assert row(text) == expected
    assert affinity(text).key.carrier is carrier


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        # cookie before table before hash
        (f"{INSERT}\nstick-table type ip size 1k\nstick on src\nbalance source", "cookie_check"),
        (TABLE + "stick on src\nbalance source", "stick_check"),
        (f"{INSERT}\nbalance source", "cookie_check"),
        # whom a cookie leaves alone the hash brings back
        ("cookie SRV insert postonly\nbalance source", "hash_modulo_check"),
        ("cookie SRV insert postonly\nbalance leastconn", "cookie_postonly"),
        (f"{TABLE}stick on req.hdr(Mcp-Session-Id)\nbalance source", "hash_modulo_check"),
        (f"{TABLE}stick on req.hdr(Mcp-Session-Id)\nbalance hdr(Mcp-Session-Id)", "stick_unlearnt"),
        # ignore-persist skips the cookie and leaves the table
        (f"{INSERT}\nstick-table type ip size 1k\nstick on src\nignore-persist if TRUE", "stick_check"),
        (f"{INSERT}\nbalance source\nignore-persist if TRUE", "hash_modulo_check"),
    ],
)
def test_what_comes_first(lines: str, expected: str) -> None:
    assert row(config(lines)) == expected


PREFIX = "use-server {n} if { req.hdr(Mcp-Session-Id) -m beg {n}. }\n"


def rules(*names: str) -> str:
    return "".join(PREFIX.replace("{n}", name) for name in names)


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (rules("r1", "r2", "r3"), "use_server_check"),
        (rules("r1", "r2", "r3") + "option persist", "use_server_persist"),
        ("use-server %[req.hdr(X-Replica)] if TRUE", "use_server_check"),
        # r3 has no rule
        (rules("r1", "r2"), "use_server_partial"),
        # who has no rule is brought back by the cookie
        (rules("r1", "r2") + INSERT, "cookie_check"),
        # one canary is no affinity
        ("use-server r1 if { req.hdr(X-Canary) -m found }", "none_check"),
        # rules over different things are none either
        ("use-server r1 if { path_beg /a }\nuse-server r2 if { req.hdr(X-B) -m found }", "none_check"),
    ],
)
def test_use_server(lines: str, expected: str) -> None:
    assert row(config(lines)) == expected


@pytest.mark.parametrize(
    ("lines", "dead"),
    [
        ("cookie SRV insert", True),
        ("balance hdr(X-Client)", True),
        ("stick-table type string size 1k\nstick on req.hdr(X-Client)", True),
        ("balance source", False),
        (TABLE + "stick on src", False),
    ],
)
def test_what_mode_tcp_does_not_read_has_no_effect(lines: str, dead: bool) -> None:
    text = config(f"mode tcp\n{lines}", frontend="mode tcp")
    assert bool(affinity(text).no_effect) is dead
    # the same lines have their effect under mode http
    assert not affinity(config(lines)).no_effect
