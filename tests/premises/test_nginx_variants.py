"""Other ways to write what rules/affinity/nginx.yaml has rows for: the reader finds the row, and a real nginx agrees.

A row is proved once, by the configuration in `nginx_setups`; that a text written otherwise means the same row is the
reader's claim. Here it is asked of nginx, by the events that decide the row's strength.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from sselint.facts import Meets, RoutingEvent
from tests.premises.nginx_events import EVENTS, meaning
from tests.premises.nginx_lab import Setup, running
from tests.premises.nginx_setups import CHOICE, ISSUES_ROUTE, LEARN
from tests.premises.test_nginx import ROWS, deciding, met, row_of

pytestmark = pytest.mark.premises

LATER_SET = (
    "set $pool be; if ($cookie_route = r1) { set $pool be_r1; } if ($cookie_route = r2) { set $pool be_r2; }"
    " if ($cookie_route = r3) { set $pool be_r3; }"
)

VARIANTS: dict[str, tuple[str, Setup]] = {
    "the last method holds": ("least_conn", Setup("ip_hash; least_conn;")),
    "the last method holds, the other way round": ("ip_hash", Setup("least_conn; ip_hash;")),
    "sticky on top of a method": ("sticky_cookie", Setup("least_conn; sticky cookie srv_id path=/;")),
    "sticky on top of a hash": ("sticky_cookie", Setup("hash $request_id; sticky cookie srv_id path=/;")),
    "a method after sticky replaces it": ("least_conn", Setup("sticky cookie srv_id path=/; least_conn;")),
    "zone and keepalive after sticky do not": (
        "sticky_cookie",
        Setup("sticky cookie srv_id path=/; zone be 1m; keepalive 4;"),
    ),
    "sticky route without routes": ("round_robin", Setup("sticky route $cookie_route;", location=ISSUES_ROUTE)),
    "sticky learn of what nobody presents": (
        "round_robin",
        Setup(LEARN.format("1h").replace("lookup=$http_mcp_session_id", "lookup=$http_x_other"), sessions="browser"),
    ),
    "one try": ("ip_hash_no_retry", Setup("ip_hash;", location="proxy_next_upstream_tries 1;")),
    "retry of answers only": ("ip_hash_no_retry", Setup("ip_hash;", location="proxy_next_upstream http_502;")),
    "off beats what stands beside it": (
        "ip_hash_no_retry",
        Setup("ip_hash;", location="proxy_next_upstream off error;"),
    ),
    "cases add up over lines": (
        "ip_hash",
        Setup("ip_hash;", location="proxy_next_upstream timeout; proxy_next_upstream error;"),
    ),
    "retry off in the server": ("ip_hash_no_retry", Setup("ip_hash;", server="proxy_next_upstream off;")),
    "hash of the address and the cursor": ("hash_cursor", Setup("hash $remote_addr$http_last_event_id;")),
    "hash of the address": ("hash_consistent", Setup("hash $remote_addr consistent;")),
    "hash of a path": ("hash", Setup("hash $request_uri;", sessions="query")),
    "a map of a map": (
        "choice",
        replace(
            CHOICE,
            http='map $cookie_route $name { default ""; ~^(?<r>r.)$ $r; } map $name $pool { default be; @NAMES@ }',
        ),
    ),
    "if and set": ("choice", Setup(singles="", location=ISSUES_ROUTE, server=LATER_SET, target="$pool")),
    "a name captured from a cookie": (
        "choice_by_name",
        Setup(
            singles="",
            location=ISSUES_ROUTE,
            server='set $pool be; if ($http_cookie ~ "route=(?<name>r[0-9])") { set $pool be_$name; }',
            target="$pool",
        ),
    ),
    "an error_page of the server": (
        "choice_page",
        replace(CHOICE, server="error_page 502 = @any; location @any { proxy_pass http://be; }"),
    ),
    "an error_page with a path": (
        "choice_page",
        replace(CHOICE, server="error_page 502 = /any/x; location /any/ { proxy_pass http://be; }"),
    ),
    "an error_page that answers well": (
        "choice_page",
        replace(CHOICE, server="error_page 502 =200 @any; location @any { proxy_pass http://be; }"),
    ),
    "an error_page that keeps the status": (
        "choice",
        replace(CHOICE, server="error_page 502 @any; location @any { proxy_pass http://be; }"),
    ),
    "an error_page for something else": (
        "choice",
        replace(CHOICE, server="error_page 404 = @any; location @any { proxy_pass http://be; }"),
    ),
    "an error_page that leads to the same place": ("choice", replace(CHOICE, server="error_page 502 /sorry.html;")),
    "a path behind the name": ("ip_hash", Setup("ip_hash;", target="be$request_uri")),
    "stream, plain hash": ("stream_hash", Setup("hash $remote_addr;", stream=True)),
    "stream, least_conn": ("stream_keyless", Setup("least_conn;", stream=True)),
}


@pytest.mark.parametrize("name", VARIANTS)
def test_means_the_same_row(name: str, tmp_path: Path) -> None:
    row, setup = VARIANTS[name]
    assert row_of(setup) == f"nginx/{row}"
    claims = dict(ROWS[row].events)
    for event in deciding(ROWS[row]):
        if event in claims and event is not RoutingEvent.SCALE_OUT:  # a set names no fourth server
            assert claims[event] is meaning(met(setup, event, tmp_path / event.value)), event


def test_a_full_server_is_passed_over(tmp_path: Path) -> None:
    """`max_conns`: a pinned client goes elsewhere without any failure, once its server has all the streams it may."""
    setup = Setup("ip_hash;", "max_conns=12")
    with running(setup, tmp_path) as lab:
        lab.connect()
        _, victims = lab.victim()
        assert meaning(EVENTS[RoutingEvent.PLAIN](lab)) is Meets.SAME
        with lab.holding(victims[0], 12):
            assert lab.come_back(victims)["other"] == len(victims)
