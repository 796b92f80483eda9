"""What else a hop does: the cursor, silent streams, late events, rules for some paths; and the evidence for it."""

from __future__ import annotations

import pytest

from sselint.facts import CursorTreatment, Route
from tests.read.haproxy.configs import DEFAULTS, TIMEOUTS, config, read, servers, whole

INSERT = "cookie SRV insert indirect nocache"


def hop(text: str) -> Route:
    (route,) = read(text).routes
    return route


@pytest.mark.parametrize(
    ("rule", "treatment"),
    [
        ("http-request del-header Last-Event-ID", CursorTreatment.STRIPPED),
        ("http-request del-header last-event-id", CursorTreatment.STRIPPED),
        ("http-request del-header Last- -m beg", CursorTreatment.STRIPPED),
        ("http-request del-header -id -m end", CursorTreatment.STRIPPED),
        ("http-request del-header event -m sub", CursorTreatment.STRIPPED),
        ("http-request del-header ^last-.*$ -m reg", CursorTreatment.STRIPPED),
        ("http-request set-header Last-Event-ID 0", CursorTreatment.STRIPPED),
        ("http-request replace-value Last-Event-ID .* 0", CursorTreatment.STRIPPED),
        ("http-request del-header Last-Event-ID if TRUE", CursorTreatment.STRIPPED),
        # others' headers, other directions, other requests
        ("http-request del-header Last-Event", CursorTreatment.PASSED),
        ("http-request del-header X- -m beg", CursorTreatment.PASSED),
        ("http-request del-header ^last-event$ -m reg", CursorTreatment.PASSED),
        ("http-response del-header Last-Event-ID", CursorTreatment.PASSED),
        ("http-request del-header Last-Event-ID if METH_POST", CursorTreatment.PASSED),
        ("http-request del-header Last-Event-ID if FALSE", CursorTreatment.PASSED),
        # from itself: it stays
        ("http-request set-header Last-Event-ID %[req.hdr(Last-Event-ID)]", CursorTreatment.PASSED),
        ("http-request set-header Last-Event-ID %[urlp(lastEventId)]", CursorTreatment.PASSED),
        ("http-request set-header X-Cursor %[req.hdr(Last-Event-ID)]", CursorTreatment.PASSED),
        ("balance hdr(Last-Event-ID)", CursorTreatment.ROUTED_ON),
    ],
)
def test_the_cursor(rule: str, treatment: CursorTreatment) -> None:
    route = hop(config(rule))
    assert route.last_event_id is treatment
    assert bool(route.last_event_id_evidence) is (treatment is not CursorTreatment.PASSED)


def test_the_cursor_is_lost_in_a_frontend_too_for_what_passes_it() -> None:
    rule = "http-request del-header Last-Event-ID"
    assert hop(config(frontend=rule)).last_event_id is CursorTreatment.STRIPPED
    other = whole(f"{DEFAULTS}frontend a\nbind :1080\n{rule}\ndefault_backend x\nbackend x\nserver a 10.0.0.1:80\n")
    found = {route.pool: route for route in read(other + f"backend be\n{servers()}").routes}
    assert found["x"].last_event_id is CursorTreatment.STRIPPED
    assert found["be"].last_event_id is CursorTreatment.PASSED, "another frontend's rule"


def test_a_rule_for_some_paths_is_a_route_of_its_own() -> None:
    text = config("http-request del-header Last-Event-ID if { path_beg /poll }")
    narrow, rest = read(text).routes
    assert (narrow.match.paths, narrow.last_event_id) == ((("prefix", "/poll"),), CursorTreatment.STRIPPED)
    assert (rest.match.paths, rest.last_event_id) == ((), CursorTreatment.PASSED)
    assert narrow.match.priority < rest.match.priority


def test_a_cursor_that_is_lost_under_another_condition_is_shown_and_not_claimed() -> None:
    route = hop(config("http-request del-header Last-Event-ID if { req.hdr(X-Old) -m found }"))
    assert route.last_event_id is CursorTreatment.PASSED
    assert [span.note for span in route.last_event_id_evidence] == ["removes Last-Event-ID under a condition"]


@pytest.mark.parametrize(
    ("line", "rows"),
    [
        ("force-persist if { path_beg /events }", ("cookie_persist", "cookie_check")),
        ("ignore-persist if { path_beg /events }", ("none_check", "cookie_check")),
        ("ignore-persist if { hdr(host) a.example }", ("none_check", "cookie_check")),
        ("force-persist if { path_beg /events }\nignore-persist if TRUE", ("cookie_persist", "none_check")),
    ],
)
def test_persistence_rules_for_some_requests(line: str, rows: tuple[str, str]) -> None:
    found = read(config(f"{INSERT}\n{line}")).routes
    assert tuple(r.affinity.row.removeprefix("haproxy/") for r in found) == rows


def test_a_stick_rule_for_some_paths() -> None:
    table = "stick-table type ip size 1k\n"
    found = read(config(f"{table}stick on src if {{ path_beg /events }}")).routes
    assert [(r.match.paths, r.affinity.row) for r in found] == [
        ((("prefix", "/events"),), "haproxy/stick_check"),
        ((), "haproxy/none_check"),
    ]
    (route,) = read(config(f"{table}stick on src")).routes
    assert route.affinity.row == "haproxy/stick_check"


# -- silent streams and late events ------------------------------------------------------------------------------------


def codes(text: str) -> dict[str, str]:
    return {o.code: o.value for o in hop(text).observations}


@pytest.mark.parametrize(
    ("line", "seconds"),
    [
        ("timeout server 50s", "50"),
        ("timeout server 50000", "50"),
        ("timeout server 2m", "120"),
        # who waits longer has thought of silent streams
        ("timeout server 1h", None),
        ("timeout server 121s", None),
        # neither of these cuts a silent answer
        ("timeout client 5s", None),
        ("timeout tunnel 5s", None),
        ("timeout queue 5s", None),
        ("timeout server-fin 5s", None),
        # the last one counts
        ("timeout server 50s\ntimeout server 1h", None),
    ],
)
def test_silent_streams(line: str, seconds: str | None) -> None:
    side = {"frontend": line} if "client" in line else {"backend": line}
    assert codes(config(**side)).get("SSE603") == seconds


def test_the_timeout_of_the_defaults_counts_unless_the_backend_has_its_own() -> None:
    head = DEFAULTS.replace("timeout server 1h", "timeout server 30s")
    assert codes(whole(f"{head}backend be\n{servers()}")).get("SSE603") == "30"
    assert codes(whole(f"{head}backend be\ntimeout server 1h\n{servers()}")).get("SSE603") is None


@pytest.mark.parametrize(
    ("where", "late"),
    [("", True), ("defaults", False), ("frontend", False), ("backend", False), ("off", True), ("nodelay", True)],
)
def test_late_events(where: str, late: bool) -> None:
    option = "option http-no-delay\n"
    parts = {name: option if where == name else "" for name in ("defaults", "frontend", "backend")}
    if where == "off":
        parts |= {"defaults": option, "frontend": f"no {option}", "backend": f"no {option}"}
    if where == "nodelay":
        parts["backend"] = "option tcp-smart-connect\n"
    text = whole(
        f"defaults\nmode http\n{TIMEOUTS}\n{parts['defaults']}frontend fe\nbind :8080\n{parts['frontend']}"
        f"default_backend be\nbackend be\n{parts['backend']}{servers()}"
    )
    assert ("SSE605" in codes(text)) is late


# -- the pseudo config -------------------------------------------------------------------------------------------------

LONG = """global
    daemon
defaults unused
    mode http
    timeout connect 1s
    timeout client 1s
    timeout server 1s
    option persist
defaults
    mode http
    log global
    timeout connect 5s
    timeout client 50s
    timeout server 50s
    option redispatch
    option httplog
    retries 3
    default-server inter 2s
frontend web
    bind 127.0.0.1:8080
    acl sse path_beg /events
    acl other path_beg /other
    http-request set-header X-Forwarded-Proto http
    use_backend feed if sse
    use_backend rest if other
    default_backend rest
backend rest
    server x 10.0.0.9:80
backend feed
    retries 2
    option httpchk GET /health
    cookie SRV insert
    server r1 10.0.0.1:80 check cookie r1
    server r2 10.0.0.2:80 check cookie r2
"""

SHOWN = """defaults
    mode http
    timeout server 50s
    option redispatch
    default-server inter 2s
frontend web
    bind 127.0.0.1:8080
    acl sse path_beg /events
    use_backend feed if sse
backend feed
    retries 2
    cookie SRV insert
    server r1 10.0.0.1:80 check cookie r1
    server r2 10.0.0.2:80 check cookie r2
"""


def shown(text: str, route: Route) -> str:
    """The evidence as text: every span is one line of the file."""
    assert all(span.line == span.end_line for span in route.evidence)
    rows = text.split("\n")
    return "".join(rows[span.line - 1] + "\n" for span in route.evidence)


def test_the_evidence_is_the_chain_and_nothing_beside_it() -> None:
    text = whole(LONG)
    (route,) = [r for r in read(text).routes if r.pool == "feed"]
    assert shown(text, route) == SHOWN


def test_an_inherited_line_that_is_overridden_is_not_shown() -> None:
    text = whole(LONG.replace("    retries 2\n", "    no option redispatch\n"))
    (route,) = [r for r in read(text).routes if r.pool == "feed"]
    assert "    option redispatch\n" not in shown(text, route).replace("    no option redispatch\n", "")
    assert "    no option redispatch\n" in shown(text, route)
    assert "    retries 3\n" in shown(text, route)


def test_named_defaults_are_shown_from_the_root_down() -> None:
    head = "defaults base\nmode http\noption persist\ndefaults more from base\n" + TIMEOUTS.replace("1h", "9s") + "\n"
    text = whole(f"{head}retries 1\nbackend be from more\n{INSERT}\n{servers()}")
    assert shown(text, hop(text)).splitlines()[:7] == [
        "defaults base", "mode http", "option persist", "defaults more from base", "timeout server 9s", "retries 1",
        "backend be from more",
    ]  # fmt: skip
