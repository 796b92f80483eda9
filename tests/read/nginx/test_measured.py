"""Every nginx configuration that was ever measured: the strength derived from its text is the one that was seen.

tests/data/nginx/measured.json holds the configurations and what sessions met (counts). The text is all the reader gets,
and which keys the client at hand chooses itself (a cookie is otherwise taken to come from the server).
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from sselint.facts import KeyIssuer, Route, RoutingEvent, Strength
from tests.read.nginx.helpers import reading

DATA = Path(__file__).parents[2] / "data" / "nginx" / "measured.json"
ROWS: list[dict[str, Any]] = json.loads(DATA.read_text(encoding="utf-8"))["rows"]

UPSTREAM = re.compile(r"(ip_hash|least_conn|hash|sticky|zone)\b")
MEMBERS = ("r1", "r2", "r3")

CLIENT_SETS = {"cookie_client": ("cookie_CLIENTID",)}
"""What a client sets itself, by the client that the measurement names."""


def text_of(row: dict[str, Any]) -> str:
    """A whole configuration for a row's fragment: three members, or one upstream for each where a map picks one."""
    upstream: list[str] = []
    parameters: dict[str, str] = {}
    http: list[str] = []
    server: list[str] = []
    location: list[str] = []
    main: list[str] = []
    singles, target = "", "be"
    for line in (part.strip() for part in row["config"].splitlines()):
        if line.startswith("server ADDR"):
            parameters = server_parameters(line)
        elif line.startswith("map "):
            http.append(line)
        elif line.startswith("upstream be_rN"):
            singles = line
        elif line.startswith("proxy_pass"):
            target = line.split("//")[1].rstrip(";")
        elif line.startswith("location "):
            server.append(line)
        elif line.startswith("worker_processes"):
            main.append(line)
        elif UPSTREAM.match(line):
            upstream.append(line)
        elif line != "(default)":
            location.append(line)
    upstream += [f"server {name}:80 {parameters.get(name, '').replace('rN', name)};" for name in MEMBERS]
    http += [re.sub(r"\brN\b", f"{name}:80", singles.replace("be_rN", f"be_{name}")) for name in MEMBERS if singles]
    return "\n".join(
        [
            *main,
            "events {}",
            "http {",
            *http,
            "upstream be {",
            *upstream,
            "}",
            "server {",
            "  listen 127.0.0.1:80;",
            *server,
            "  location / {",
            f"    proxy_pass http://{target};",
            *location,
            "  }",
            "}",
            "}",
        ]
    )


def server_parameters(line: str) -> dict[str, str]:
    """What stands behind the addresses: the same for all, or `(r2: backup)` for one."""
    each = dict(re.findall(r"\((r\d): (\w+)\)", line))
    return each or dict.fromkeys(MEMBERS, line.removeprefix("server ADDR").rstrip(";").strip())


def route_of(row: dict[str, Any]) -> Route:
    routes = reading(text_of(row), client=CLIENT_SETS.get(row["client"], ())).routes
    [route] = [r for r in routes if "@" not in r.name]
    return route


def test_all_measured_configurations_are_here() -> None:
    assert len(ROWS) == 36
    assert {row["version"] for row in ROWS} == {"nginx 1.22.1", "nginx 1.31.3"}


@pytest.mark.parametrize("row", ROWS, ids=[row["name"] for row in ROWS])
def test_strength_from_the_text_is_the_measured_one(row: dict[str, Any]) -> None:
    route = route_of(row)
    assert route.affinity.strength.value == row["strength"], route.affinity


ALLOWED = {"same": {"same"}, "error": {"error"}, "other": {"same", "other"}, "depends": {"same", "other", "error"}}
"""What a claim allows a single session to meet. A balanced session may come back by luck."""

DEMANDED = {"same": {"same"}, "error": {"error"}, "other": {"other"}, "depends": {"other", "error"}}
"""What some session must have met: six sessions or more were asked, so luck alone does not bring all of them back."""

COLUMNS = {
    "plain": RoutingEvent.PLAIN,
    "down": RoutingEvent.DOWN,
    "drain_drain": RoutingEvent.DRAIN,
    "drain_down_reload": RoutingEvent.MAINTENANCE,
    "drain_removed": RoutingEvent.REMOVED,
    "moved": RoutingEvent.MOVED,
    "scale_out": RoutingEvent.SCALE_OUT,
    "reload": RoutingEvent.RELOAD,
    "restart": RoutingEvent.RESTART,
    "second_proxy": RoutingEvent.SECOND_PROXY,
    "init_to_stream": RoutingEvent.INIT,
}


@pytest.mark.parametrize("row", ROWS, ids=[row["name"] for row in ROWS])
def test_sessions_met_what_the_row_claims_and_nothing_else(row: dict[str, Any]) -> None:
    affinity = route_of(row).affinity
    checked = 0
    for column, event in COLUMNS.items():
        counts, claim = row["measured"].get(column), affinity.meets(event)
        if counts and claim is not None:
            met = {"error" if outcome.startswith("err") else outcome for outcome in counts}
            assert met <= ALLOWED[claim.value], (column, counts, claim)
            assert met & DEMANDED[claim.value], (column, counts, claim)
            checked += 1
    assert checked, row["measured"]


def test_strict_rows_are_those_that_pick_an_upstream_of_one_server() -> None:
    strict = [row["name"] for row in ROWS if route_of(row).affinity.strength is Strength.STRICT]
    assert strict == [
        "map $cookie_route -> single-server upstream, default pool",
        "map Mcp-Session-Id prefix -> single-server upstream",
    ]


def test_who_issues_the_key() -> None:
    issuers = {row["name"]: route_of(row).affinity.key.issued_by for row in ROWS}
    assert issuers["ip_hash"] is KeyIssuer.ADDRESS
    assert issuers["hash $http_mcp_session_id consistent"] is KeyIssuer.SERVER
    assert issuers["hash $cookie_APPSID (server-issued)"] is KeyIssuer.SERVER
    assert issuers["hash $cookie_CLIENTID consistent (client-chosen)"] is KeyIssuer.CLIENT
    assert issuers["sticky cookie"] is KeyIssuer.PROXY
    assert issuers["sticky route $cookie_route"] is KeyIssuer.PROXY  # add_header Set-Cookie in the same location
    assert issuers["map Mcp-Session-Id prefix -> single-server upstream"] is KeyIssuer.SERVER
    assert issuers["round robin (default)"] is KeyIssuer.NONE
