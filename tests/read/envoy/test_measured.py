"""Every Envoy configuration that was ever measured: the strength derived from its text is the one that was seen.

tests/data/envoy/measured.json holds what was set on the cluster, the route and the filter chain, and what sessions met
(counts; `session_known`: whether the process that a stream reached knew the session). The text is all the reader gets.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sselint.facts import KeyIssuer, Meets, Route, RoutingEvent
from tests.read.envoy.helpers import bootstrap, cluster, manager, route, routes

DATA = Path(__file__).parents[2] / "data" / "envoy" / "measured.json"
ROWS: list[dict[str, Any]] = json.loads(DATA.read_text(encoding="utf-8"))["rows"]
every_row = pytest.mark.parametrize("row", ROWS, ids=[row["name"] for row in ROWS])

REPLICAS = ("r1", "r2", "r3")

NOT_A_MATTER_OF_STRENGTH = {
    "stateful_session cookie strict:true, ttl 2s, stream held open 4s": (
        "the pin is strict; that its key lapses after 2 s, before the stream ends, is asked apart from the strength"
    ),
}
"""Rows that were graded by something that the strength leaves out, and what says it instead."""


def configuration(row: dict[str, Any]) -> dict[str, Any]:
    """The configuration of a measured row."""
    by_name = [
        route(
            {"cluster": f"only-{name}"},
            {"prefix": "/", "headers": [{"name": "mcp-session-id", "string_match": {"prefix": f"{name}."}}]},
        )
        for name in REPLICAS
        if row["per_replica"]
    ]
    alone = [cluster(f"only-{name}", hosts=1, **row["cluster"]) for name in REPLICAS if row["per_replica"]]
    config = manager([*by_name, route(row["route"])], row["filters"])
    return dict(bootstrap(config, [cluster(**row["cluster"]), *alone]))


def first_route(row: dict[str, Any]) -> Route:
    return routes(configuration(row))[0]


def test_all_measured_configurations_are_here() -> None:
    assert len(ROWS) == 38


@every_row
def test_strength_from_the_text_is_the_measured_one(row: dict[str, Any]) -> None:
    affinity = first_route(row).affinity
    if row["name"] in NOT_A_MATTER_OF_STRENGTH:
        assert affinity.strength.value != row["strength"], "derived after all: take it off the list"
        assert affinity.key.seconds == 2
    else:
        assert affinity.strength.value == row["strength"], affinity


@every_row
def test_what_a_strict_row_says_of_removal(row: dict[str, Any]) -> None:
    """Strict always: its own process or an error after removal too. While configured: nobody measured removal."""
    removed = first_route(row).affinity.meets(RoutingEvent.REMOVED)
    if row.get("strict_scope") == "while_configured":
        assert removed is None
    elif row["strength"] == "strict":
        assert removed in {Meets.SAME, Meets.ERROR}


LUCK = {
    ("MAGLEV + hash_policy cookie ttl 3600s", "moved"): "measured again: 15 of 37 sessions went elsewhere",
}
"""Cells in which no session moved although some can."""

ALLOWS = {"same": {"same"}, "error": {"same", "error"}, "other": {"other"}, "depends": {"same", "other", "error"}}
"""What a claim allows a single session to meet."""

COLUMNS = {
    "plain": RoutingEvent.PLAIN,
    "session_known": RoutingEvent.INIT,
    "nokey": RoutingEvent.KEY_LOST,
    "after_idle": RoutingEvent.KEY_LAPSED,
    "down": RoutingEvent.DOWN,
    "down_detected": RoutingEvent.DOWN_DETECTED,
    "drain_eds_draining": RoutingEvent.DRAIN,
    "drain_eds_unhealthy": RoutingEvent.MAINTENANCE,
    "drain_hc_fail": RoutingEvent.CHECK_FAILS,
    "drain_removed": RoutingEvent.REMOVED,
    "moved": RoutingEvent.MOVED,
    "scale_out": RoutingEvent.SCALE_OUT,
    "restart": RoutingEvent.RESTART,
    "second_proxy": RoutingEvent.SECOND_PROXY,
}


def test_no_column_is_left_out() -> None:
    assert {column for row in ROWS for column in row["measured"]} == set(COLUMNS)


@every_row
def test_no_session_met_what_the_row_excludes(row: dict[str, Any]) -> None:
    affinity = first_route(row).affinity
    checked = 0
    for column, counts in row["measured"].items():
        claim = affinity.meets(COLUMNS[column])
        if claim is not None:
            met = {"error" if outcome.startswith("err") else outcome for outcome in counts}
            assert met <= ALLOWS[claim.value], (column, counts, claim)
            if claim is Meets.DEPENDS and (row["name"], column) not in LUCK:
                assert "other" in met, (column, counts)
            checked += 1
    assert checked


def test_who_issues_the_key() -> None:
    issuers = {row["name"]: first_route(row).affinity.key.issued_by for row in ROWS}
    assert issuers["ROUND_ROBIN"] is KeyIssuer.NONE
    assert issuers["ROUND_ROBIN + hash_policy cookie (mismatch)"] is KeyIssuer.NONE
    assert issuers["RING_HASH + hash_policy cookie ttl 0s"] is KeyIssuer.PROXY
    assert issuers["RING_HASH + hash_policy cookie, no ttl (client has no such cookie)"] is KeyIssuer.SERVER
    assert issuers["RING_HASH + hash_policy header mcp-session-id"] is KeyIssuer.SERVER
    assert issuers["MAGLEV + hash_policy header x-client-id (client-chosen)"] is KeyIssuer.CLIENT
    assert issuers["RING_HASH + hash_policy source_ip"] is KeyIssuer.ADDRESS
    assert issuers["RING_HASH + query_parameter sid"] is KeyIssuer.CLIENT
    assert issuers["stateful_session cookie strict:true, no HC"] is KeyIssuer.PROXY
    assert issuers["stateful_session envelope mcp-session-id strict:true"] is KeyIssuer.PROXY
    assert issuers["route per replica (header prefix match), no HC"] is KeyIssuer.SERVER


def test_lines_that_undo_and_lines_without_effect_are_named() -> None:
    affinities = {row["name"]: first_route(row).affinity for row in ROWS}
    undone = {name for name, affinity in affinities.items() if affinity.undone_by}
    assert undone == {name for name in affinities if "retry" in name} - {"RING_HASH cookie + retry connect-failure"}
    assert {name for name, affinity in affinities.items() if affinity.no_effect} == {
        "RING_HASH + hash_policy cookie, no ttl (client has no such cookie)",
        "ROUND_ROBIN + hash_policy cookie (mismatch)",
        "RING_HASH without hash_policy (mismatch)",
    }
