"""One real nginx configuration for each row of rules/affinity/nginx.yaml."""

from __future__ import annotations

from dataclasses import replace

from tests.premises.nginx_lab import Setup

STAYS = "proxy_next_upstream off;"
ISSUES_ROUTE = 'add_header Set-Cookie "route=$upstream_http_x_replica; Path=/";'
BY_COOKIE = "map $cookie_route $pool { default be; @NAMES@ }"
BY_PREFIX = 'map $http_mcp_session_id $pool { default be; "~^(?<issuer>r\\d)\\." be_$issuer; }'

LEARN = (
    "zone be 1m; sticky learn create=$upstream_http_mcp_session_id lookup=$http_mcp_session_id zone=keys:1m timeout={};"
)

PINNED = {
    "active_backup": Setup(server_of={"r2": "backup", "r3": "backup"}),
    "ip_hash": Setup("ip_hash;"),
    "hash_consistent": Setup("hash $http_x_client_id consistent;", sessions="client_header"),
    "hash": Setup("hash $arg_sid;", sessions="query"),
    "sticky_cookie": Setup("sticky cookie srv_id path=/;"),
    "sticky_route": Setup("sticky route $cookie_route;", "route={name}", location=ISSUES_ROUTE),
    "sticky_learn": Setup(LEARN.format("1h"), sessions="mcp"),
}
"""Mechanisms that bring a client back, as they are by default: a failed request goes on to the next server."""


def no_retry(setup: Setup) -> Setup:
    """A failed request is answered."""
    return replace(setup, location=setup.location + STAYS)


def no_max_fails(setup: Setup) -> Setup:
    """Nor does a failure take a server out of rotation."""
    flags = {name: f"{more} max_fails=0" for name, more in setup.server_of.items()}
    return replace(no_retry(setup), parameters=setup.parameters + " max_fails=0", server_of=flags)


CHOICE = Setup(http=BY_COOKIE, names="{name} be_{name};", singles="", location=ISSUES_ROUTE, target="$pool")


def split(key: str, sessions: str = "browser", *, app: bool = False) -> Setup:
    """split_clients over one upstream for each replica."""
    http = f"split_clients {key} $pool {{ @SHARES@ }}"
    return Setup(http=http, singles="", target="$pool", sessions=sessions, app=app)


SETUPS: dict[str, Setup] = {
    "round_robin": Setup(),
    "least_conn": Setup("least_conn;"),
    "random": Setup("random;"),
    "resolved": Setup(location="resolver @RESOLVER@ ipv6=off; set $name feed.internal;", target="$name:@PORT@"),
    "hash_cursor": Setup("hash $http_last_event_id consistent;"),
    "hash_changing": Setup("hash $request_id;"),
    "hash_server_cookie": Setup("hash $cookie_APPSID;", app=True),
    "hash_server": Setup("hash $http_mcp_session_id consistent;", sessions="mcp"),
    **PINNED,
    **{f"{name}_no_retry": no_retry(setup) for name, setup in PINNED.items()},
    **{f"{name}_no_retry_no_max_fails": no_max_fails(setup) for name, setup in PINNED.items()},
    "choice_changing": split("$request_id"),
    "choice_page": replace(
        CHOICE,
        location=ISSUES_ROUTE + "error_page 502 503 504 = @any;",
        server="location @any { proxy_pass http://be; proxy_http_version 1.1; }",
    ),
    "choice_backup": replace(CHOICE, singles="server @OTHER@ backup;"),
    "choice_by_name": Setup(http=BY_PREFIX, singles="", target="$pool", sessions="mcp"),
    "choice": CHOICE,
    "split": split("$remote_addr"),
    "split_cursor": split("$http_last_event_id"),
    "split_server_cookie": split("$cookie_APPSID", app=True),
    "split_server": split("$http_mcp_session_id", "mcp"),
    "stream_keyless": Setup(stream=True),
    "stream_hash": Setup("hash $remote_addr consistent;", stream=True),
}
