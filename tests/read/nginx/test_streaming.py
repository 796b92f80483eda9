"""What a location does to a stream: the cursor's header, silence, compression; each with a look-alike that does not."""

from __future__ import annotations

import pytest

from sselint.facts import CursorTreatment, Route
from tests.read.nginx.helpers import http, only_route, reading
from tests.read.nginx.oracle import refusal

TWO = "server r1:80; server r2:80;"
GZIP = "gzip on; gzip_types text/event-stream;"


def codes(route: Route) -> list[tuple[str, str]]:
    return [(o.code, o.value) for o in route.observations]


# -- Last-Event-ID


STRIPPED = {
    "emptied": 'proxy_set_header Last-Event-ID "";',
    "emptied, whatever the case": 'proxy_set_header last-event-id "";',
    "another value": "proxy_set_header Last-Event-ID 0;",
    "another header's value": "proxy_set_header Last-Event-ID $http_x_cursor;",
    "no header at all": "proxy_pass_request_headers off;",
}
PASSED = {
    "nothing said": "",
    "itself": "proxy_set_header Last-Event-ID $http_last_event_id;",
    "itself and more": 'proxy_set_header Last-Event-ID "${http_last_event_id}x";',
    "another header emptied": 'proxy_set_header Connection "";',
    "headers on": "proxy_pass_request_headers on;",
    "another protocol": 'fastcgi_param HTTP_LAST_EVENT_ID "";',
    "emptied in a response": 'add_header Last-Event-ID "";',
    "hidden in a response": "proxy_hide_header Last-Event-ID;",
}


@pytest.mark.parametrize("name", STRIPPED)
def test_the_cursor_does_not_reach_the_server(name: str) -> None:
    route = only_route(http(TWO, STRIPPED[name]))
    assert route.last_event_id is CursorTreatment.STRIPPED
    assert [s.path for s in route.last_event_id_evidence] == ["nginx.conf"]


@pytest.mark.parametrize("name", PASSED)
def test_the_cursor_reaches_the_server(name: str) -> None:
    assert only_route(http(TWO, PASSED[name])).last_event_id is CursorTreatment.PASSED


@pytest.mark.premises
def test_nginx_accepts_them() -> None:
    texts = [http(TWO, location) for location in {**STRIPPED, **PASSED}.values() if "fastcgi" not in location]
    assert [refusal(text) for text in texts] == [""] * len(texts)


def test_headers_are_inherited() -> None:
    empty = 'proxy_set_header Last-Event-ID "";'
    for text in (http(TWO, around=empty), http(TWO, server=empty)):
        assert only_route(text).last_event_id is CursorTreatment.STRIPPED


def test_one_header_of_its_own_and_a_location_inherits_none() -> None:
    text = http(TWO, "proxy_set_header Host $host;", server='proxy_set_header Last-Event-ID "";')
    assert only_route(text).last_event_id is CursorTreatment.PASSED


def test_a_map_that_lets_the_cursor_through_is_followed() -> None:
    for value, treatment in (("$http_last_event_id", CursorTreatment.PASSED), ("none", CursorTreatment.STRIPPED)):
        table = f"map $http_x_resume $cursor {{ default {value}; off ''; }}"
        route = only_route(http(TWO, "proxy_set_header Last-Event-ID $cursor;", around=table))
        assert route.last_event_id is treatment


def test_a_template_may_let_it_through() -> None:
    """Nobody knows what a masked value is, so it strips nothing for sure."""
    from sselint.read import nginx
    from sselint.source import Source, Tree

    text = http(TWO, "proxy_set_header Last-Event-ID ____;")
    at = text.index("____")
    read = nginx.read([Source("nginx.conf", text, "nginx", masked=((at, at + 4),))], Tree("/r", (), lambda _: b""))
    assert read.routes[0].last_event_id is CursorTreatment.PASSED


@pytest.mark.parametrize(
    ("lua", "treatment"),
    [
        ('ngx.req.clear_header("Last-Event-ID")', CursorTreatment.STRIPPED),
        ("ngx.req.set_header('last-event-id', nil)", CursorTreatment.STRIPPED),
        ('ngx.req.set_header("Last_Event_ID", "")', CursorTreatment.STRIPPED),
        ('ngx.req.clear_header("Accept")', CursorTreatment.PASSED),
        ('ngx.log(ngx.INFO, ngx.req.get_headers()["Last-Event-ID"])', CursorTreatment.PASSED),
        ("-- } the brace of a comment\nlocal a = '}'", CursorTreatment.PASSED),
        ('-- ngx.req.clear_header("Last-Event-ID")', CursorTreatment.PASSED),
        ('--[[ ngx.req.clear_header("Last-Event-ID") ]]', CursorTreatment.PASSED),
    ],
)
def test_lua(lua: str, treatment: CursorTreatment) -> None:
    """Not judged by nginx: the build for tests has no Lua."""
    assert only_route(http(TWO, f"access_by_lua_block {{ {lua}\n }}")).last_event_id is treatment


@pytest.mark.parametrize("key", ["hash $http_last_event_id;", "sticky route $http_last_event_id;"])
def test_routing_by_the_cursor_is_told(key: str) -> None:
    route = only_route(http(f"{key} server r1:80 route=a; server r2:80 route=b;"))
    assert route.last_event_id is CursorTreatment.ROUTED_ON
    assert route.last_event_id_evidence


def test_routing_by_another_header_is_not() -> None:
    assert only_route(http(f"hash $http_x_client_id; {TWO}")).last_event_id is CursorTreatment.PASSED


def test_an_if_on_the_cursor_routes_by_it() -> None:
    text = (
        "upstream a { server r1:80; } upstream b { server r2:80; } server { listen 80; location / {"
        " if ($http_last_event_id) { proxy_pass http://b; } proxy_pass http://a; } }"
    )
    found = {r.pool: r for r in reading(text).routes}
    assert found["b"].last_event_id is CursorTreatment.ROUTED_ON
    assert found["b"].match.headers == ("last-event-id",)
    assert found["b"].match.priority < found["a"].match.priority


# -- silence


@pytest.mark.parametrize(
    ("location", "value"),
    [
        ("", "60"),
        ("proxy_read_timeout 30s;", "30"),
        ("proxy_read_timeout 30;", "30"),
        ("proxy_read_timeout 60;", "60"),
        ("proxy_read_timeout 500ms;", "0.5"),
        ("send_timeout 1h;", "60"),
        ("proxy_send_timeout 1h;", "60"),
        ("keepalive_timeout 1h;", "60"),
    ],
)
def test_a_short_read_timeout_is_told(location: str, value: str) -> None:
    text = http(TWO, location)
    assert refusal(text) == ""
    assert codes(only_route(text)) == [("SSE602", value)]


@pytest.mark.parametrize("time", ["61", "1h", "1d", "3600s", "1m1s", "86400000ms"])
def test_a_long_one_is_not(time: str) -> None:
    text = http(TWO, f"proxy_read_timeout {time};")
    assert refusal(text) == ""
    assert codes(only_route(text)) == []


def test_the_read_timeout_is_inherited() -> None:
    long = "proxy_read_timeout 1h;"
    assert codes(only_route(http(TWO, around=long))) == codes(only_route(http(TWO, server=long))) == []
    assert codes(only_route(http(TWO, "proxy_read_timeout 5s;", server=long))) == [("SSE602", "5")]


def test_nested_locations_inherit_from_the_one_around() -> None:
    nested = "location /events/ { proxy_pass http://be; } proxy_read_timeout 1h;"
    assert [codes(r) for r in reading(http(TWO, nested)).routes] == [[], []]


def test_a_stream_proxy_reads_no_http() -> None:
    text = f"events {{}} stream {{ upstream be {{ {TWO} }} server {{ listen 80; proxy_pass be; }} }}"
    assert refusal(text) == ""
    assert codes(only_route(text)) == []


# -- gzip


LONG = "proxy_read_timeout 1h;"


@pytest.mark.parametrize(
    "text",
    [
        http(TWO, GZIP + LONG),
        http(TWO, LONG, around=GZIP),
        http(TWO, LONG + "gzip on;", around="gzip_types text/event-stream;"),
        http(TWO, LONG + "gzip on; gzip_types text/css text/event-stream;"),
        http(TWO, LONG + "gzip on; gzip_types *;"),
        http(TWO, LONG + GZIP + "proxy_buffering on;"),
    ],
)
def test_gzip_under_buffering_is_told(text: str) -> None:
    assert refusal(text) == ""
    assert [code for code, _ in codes(only_route(text))] == ["SSE604"]


@pytest.mark.parametrize(
    "text",
    [
        http(TWO, LONG),  # buffered, but nothing compresses
        http(TWO, LONG + "gzip on;"),  # text/html only
        http(TWO, LONG + "gzip on; gzip_types text/css;"),
        http(TWO, LONG + "gzip_types text/event-stream;"),  # gzip is off by default
        http(TWO, LONG + GZIP + "proxy_buffering off;"),
        http(TWO, LONG + "gzip off;", around=GZIP),
        http(TWO, LONG + "gzip_types text/css;", around=GZIP),
        http(TWO, LONG + GZIP, around="proxy_buffering off;"),
    ],
)
def test_gzip_that_holds_no_event_is_not(text: str) -> None:
    assert refusal(text) == ""
    assert codes(only_route(text)) == []
