"""Members, methods and retries of an upstream: what decides, each beside the look-alike that decides nothing."""

from __future__ import annotations

import pytest

from sselint.facts import KeyCarrier, KeyIssuer, RoutingEvent, Strength
from tests.read.nginx.helpers import http, only_route
from tests.read.nginx.oracle import refusal

TWO = "server r1:80; server r2:80;"
STAYS = "proxy_next_upstream off;"

# upstream, location, the row
METHODS = {
    "default": (TWO, "", "round_robin"),
    "weights are no key": ("server r1:80 weight=3; server r2:80;", "", "round_robin"),
    "zone is no key": ("zone be 64k; " + TWO, "", "round_robin"),
    "keepalive is no key": (TWO + "keepalive 16;", "", "round_robin"),
    "least_conn": ("least_conn; " + TWO, "", "least_conn"),
    "least_conn after the servers": (TWO + "least_conn;", "", "least_conn"),
    "random": ("random; " + TWO, "", "random"),
    "random two": ("random two least_conn; " + TWO, "", "random"),
    "ip_hash": ("ip_hash; " + TWO, "", "ip_hash"),
    "the last method holds": ("ip_hash; least_conn; " + TWO, "", "least_conn"),
    "the last method holds, the other way round": ("least_conn; ip_hash; " + TWO, "", "ip_hash"),
    "hash": ("hash $http_x_client_id; " + TWO, "", "hash"),
    "hash consistent": ("hash $http_x_client_id consistent; " + TWO, "", "hash_consistent"),
    "hash of an address": ("hash $binary_remote_addr consistent; " + TWO, "", "hash_consistent"),
    "hash of a path": ("hash $request_uri; " + TWO, "", "hash"),
    "hash of a constant": ("hash same; " + TWO, "", "hash"),
    "hash of the cursor": ("hash $http_last_event_id consistent; " + TWO, "", "hash_cursor"),
    "hash of a cursor and an address": ("hash $remote_addr$http_last_event_id; " + TWO, "", "hash_cursor"),
    "hash of a request id": ("hash $request_id; " + TWO, "", "hash_changing"),
    "hash of a port": ("hash $remote_addr:$remote_port; " + TWO, "", "hash_changing"),
    "hash of a session id": ("hash $http_mcp_session_id; " + TWO, "", "hash_server"),
    "hash of a cookie": ("hash $cookie_session; " + TWO, "", "hash_server_cookie"),
    "sticky cookie": ("sticky cookie srv; " + TWO, "", "sticky_cookie"),
    "sticky after a method": ("least_conn; sticky cookie srv; " + TWO, "", "sticky_cookie"),
    "a method after sticky replaces it": ("sticky cookie srv; least_conn; " + TWO, "", "least_conn"),
    "zone and keepalive after sticky do not": (
        "sticky cookie srv; zone be 64k; keepalive 4; " + TWO,
        "",
        "sticky_cookie",
    ),
    "sticky route": ("sticky route $cookie_r; server r1:80 route=a; server r2:80 route=b;", "", "sticky_route"),
    "sticky route without routes": ("sticky route $cookie_r; " + TWO, "", "round_robin"),
    "sticky learn": (
        "zone be 64k; sticky learn create=$upstream_cookie_s lookup=$cookie_s zone=k:1m; " + TWO,
        "",
        "sticky_learn",
    ),
    "sticky learn of something else": (
        "zone be 64k; sticky learn create=$upstream_cookie_a lookup=$cookie_b zone=k:1m; " + TWO,
        "",
        "round_robin",
    ),
    "no retry": ("ip_hash; " + TWO, STAYS, "ip_hash_no_retry"),
    "one try": ("ip_hash; " + TWO, "proxy_next_upstream_tries 1;", "ip_hash_no_retry"),
    "two tries are a retry": ("ip_hash; " + TWO, "proxy_next_upstream_tries 2;", "ip_hash"),
    "retry of answers only": ("ip_hash; " + TWO, "proxy_next_upstream http_502 http_503;", "ip_hash_no_retry"),
    "retry of errors": ("ip_hash; " + TWO, "proxy_next_upstream error http_502;", "ip_hash"),
    "off beats what stands beside it": ("ip_hash; " + TWO, "proxy_next_upstream off error;", "ip_hash_no_retry"),
    "cases add up over lines": (
        "ip_hash; " + TWO,
        "proxy_next_upstream timeout; proxy_next_upstream error;",
        "ip_hash",
    ),
    "no retry and no max_fails": (
        "ip_hash; server r1:80 max_fails=0; server r2:80 max_fails=0;",
        STAYS,
        "ip_hash_no_retry_no_max_fails",
    ),
    "max_fails=0 of one server only": (
        "ip_hash; server r1:80 max_fails=0; server r2:80;",
        STAYS,
        "ip_hash_no_retry",
    ),
    "max_fails=0 with a retry": ("ip_hash; server r1:80 max_fails=0; server r2:80 max_fails=0;", "", "ip_hash"),
    "no retry of another protocol": ("ip_hash; " + TWO, "fastcgi_next_upstream off;", "ip_hash"),
    "active and backup": ("server r1:80; server r2:80 backup;", "", "active_backup"),
    "two active and a backup": (TWO + "server r3:80 backup;", "", "round_robin"),
    "a server that is down is none": ("server r1:80; server r3:80 down; server r2:80 backup;", "", "active_backup"),
}


@pytest.mark.parametrize("name", METHODS)
def test_row_of_an_upstream(name: str) -> None:
    upstream, location, row = METHODS[name]
    assert only_route(http(upstream, location)).affinity.row == f"nginx/{row}"


@pytest.mark.premises
def test_nginx_accepts_all_of_them() -> None:
    """But for fastcgi, which the build for tests lacks."""
    texts = {name: http(u, location) for name, (u, location, _) in METHODS.items() if "fastcgi" not in location}
    assert {name: refusal(text) for name, text in texts.items()} == dict.fromkeys(texts, "")


def test_retry_off_is_inherited_and_overridden() -> None:
    pinned = "ip_hash; " + TWO
    assert only_route(http(pinned, around=STAYS)).affinity.row == "nginx/ip_hash_no_retry"
    assert only_route(http(pinned, server=STAYS)).affinity.row == "nginx/ip_hash_no_retry"
    again = http(pinned, "proxy_next_upstream error;", around=STAYS)
    assert only_route(again).affinity.row == "nginx/ip_hash"


def test_what_undoes_a_pin_is_shown() -> None:
    route = only_route(http("ip_hash; " + TWO, "proxy_next_upstream error timeout;"))
    assert ["goes on to the next server" in s.note for s in route.affinity.undone_by] == [True]
    assert not only_route(http("ip_hash; " + TWO, STAYS)).affinity.undone_by


def test_a_limit_of_connections_undoes_a_pin() -> None:
    limited = "server r1:80 max_conns=100; server r2:80 max_conns=0;"
    notes = [s.note for s in only_route(http(f"ip_hash; {limited}", STAYS)).affinity.undone_by]
    assert len(notes) == 1 and "max_conns" in notes[0]
    assert not only_route(http(limited)).affinity.undone_by  # nothing is pinned


def test_affinity_directives_without_effect_are_shown() -> None:
    for upstream, note in (
        ("ip_hash; least_conn; " + TWO, "least_conn after it replaces it"),
        ("sticky cookie s; ip_hash; " + TWO, "ip_hash after it replaces it"),
        ("sticky route $cookie_r; " + TWO, "no server of the upstream has a route="),
        ("hash same; " + TWO, "the same for every request"),
    ):
        [span] = only_route(http(upstream)).affinity.no_effect
        assert note in span.note
    for upstream in ("ip_hash; " + TWO, "least_conn; ip_hash; " + TWO, "hash $remote_addr; " + TWO):
        assert not only_route(http(upstream)).affinity.no_effect


# -- keys


@pytest.mark.parametrize(
    ("key", "issuer", "carrier", "name"),
    [
        ("$remote_addr", KeyIssuer.ADDRESS, KeyCarrier.ADDRESS, "remote_addr"),
        ("$http_x_forwarded_for", KeyIssuer.ADDRESS, KeyCarrier.ADDRESS, "http_x_forwarded_for"),
        ("$http_x_client_id", KeyIssuer.CLIENT, KeyCarrier.HEADER, "x-client-id"),
        ("$HTTP_X_Client_Id", KeyIssuer.CLIENT, KeyCarrier.HEADER, "x-client-id"),
        ("${arg_room}", KeyIssuer.CLIENT, KeyCarrier.QUERY, "room"),
        ("$uri", KeyIssuer.CLIENT, KeyCarrier.PATH, "uri"),
        ("$http_mcp_session_id", KeyIssuer.SERVER, KeyCarrier.HEADER, "mcp-session-id"),
        ("$arg_session_id", KeyIssuer.SERVER, KeyCarrier.QUERY, "session_id"),
        ("$cookie_sid", KeyIssuer.SERVER, KeyCarrier.COOKIE, "sid"),
        ("${cookie_JSESSIONID}", KeyIssuer.SERVER, KeyCarrier.COOKIE, "JSESSIONID"),
    ],
)
def test_key_of_a_hash(key: str, issuer: KeyIssuer, carrier: KeyCarrier, name: str) -> None:
    found = only_route(http(f"hash {key}; {TWO}")).affinity.key
    assert (found.issued_by, found.carrier, found.name) == (issuer, carrier, name)


def test_a_cookie_that_the_client_is_known_to_set_is_its_own() -> None:
    text = http(f"hash $cookie_ROOM; {TWO}")
    assert only_route(text).affinity.strength is Strength.NONE
    assert only_route(text, client=["cookie_ROOM"]).affinity.strength is Strength.BEST_EFFORT


@pytest.mark.parametrize(
    ("sticky", "lifetime", "seconds"),
    [
        ("sticky cookie s;", "session", None),
        ("sticky cookie s expires=1h;", "expires", 3600),
        ("sticky cookie s expires=1h30m path=/;", "expires", 5400),
        ("sticky cookie s expires=max;", "expires", None),
        ("zone be 64k; sticky learn create=$upstream_http_a lookup=$http_a zone=k:1m;", "expires", 600),
        ("zone be 64k; sticky learn create=$upstream_http_a lookup=$http_a zone=k:1m timeout=1d;", "expires", 86400),
    ],
)
def test_how_long_a_key_lives(sticky: str, lifetime: str, seconds: float | None) -> None:
    affinity = only_route(http(sticky + TWO)).affinity
    assert (affinity.key.lifetime, affinity.key.seconds) == (lifetime, seconds)
    assert (affinity.meets(RoutingEvent.KEY_LAPSED) is not None) == (seconds is not None)


# -- members


@pytest.mark.parametrize(
    ("servers", "low", "high"),
    [
        ("server r1:80;", 1, 1),
        (TWO, 2, 2),
        ("server r1:80; server r1:80;", 1, 1),  # one address twice is one member
        ("server r1:80; server r1:81;", 2, 2),
        ("server r1; server r2;", 2, 2),
        ("server r1:80; server r2:80 backup;", 2, 2),  # a backup serves once the others are down
        ("server r1:80; server r2:80 down;", 1, 1),
        ("server r1:80; server r2:80 drain;", 2, 2),  # bound sessions still reach it
        ("server unix:/run/a.sock; server unix:/run/b.sock;", 2, 2),
        ("server [::1]:80; server [::1]:81;", 2, 2),
    ],
)
def test_members_are_counted(servers: str, low: int, high: int) -> None:
    members = only_route(http(servers)).members
    assert (members.low, members.high) == (low, high)


def test_names_that_the_resolver_lists_are_not() -> None:
    members = only_route(http("zone be 64k; resolver r9; server app.internal service=_http resolve;")).members
    assert (members.low, members.high) == (1, None)


def test_targets_are_the_addresses_as_written() -> None:
    route = only_route(http("server app-1:8000 weight=2; server unix:/run/app.sock; server [2001:db8::1]:81;"))
    assert [(t.host, t.port) for t in route.targets] == [
        ("app-1", 8000),
        ("unix:/run/app.sock", None),
        ("[2001:db8::1]", 81),
    ]


@pytest.mark.parametrize("method", ["fair;", "consistent_hash $uri;", "balancer_by_lua_block { x() }", "magic;"])
def test_a_method_of_another_module_is_unknown(method: str) -> None:
    affinity = only_route(http(f"{method} {TWO}")).affinity
    assert affinity.strength is Strength.UNKNOWN
    assert method.split()[0].rstrip(";") in affinity.why


def test_names_of_upstreams_know_no_case() -> None:
    text = http("ip_hash; " + TWO).replace("http://be", "http://BE")
    assert refusal(text) == ""
    assert only_route(text).affinity.mechanism == "ip_hash"
