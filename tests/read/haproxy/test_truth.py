"""The strength that the reader derives from the text agrees with what was measured, for every measured configuration.

`tests/data/haproxy_truth.json` holds the measured tables. What a text cannot say is passed along: which client it was,
and which cookies the application sets.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from sselint.facts import KeyCarrier, Reading, RoutingEvent, Strength
from sselint.read import haproxy
from sselint.read.haproxy.persistence import Assumed
from sselint.source import Source, Tree

ROWS: list[dict[str, Any]] = json.loads(
    (Path(__file__).parents[2] / "data" / "haproxy_truth.json").read_text(encoding="utf-8")
)["rows"]

NOT_IN_THE_TEXT = {
    "cookie + server maxconn 3 (queue)": "full queues answer 503: never another replica, so the pin itself is intact",
    "cookie + server maxconn 3 (queue), option abortonclose": "the same with abortonclose",
    "stick store-response + match, nopurge, size 6": "whether a table is full depends on the number of clients",
    "stick store-response + match, size 6 (purge)": "whether a table is full depends on the number of clients",
    "use_backend by session prefix, replica's backend removed": "only removal was measured: strict while configured",
}
"""Rows whose measured strength the text does not determine, and why."""

APPLICATION_SETS = {
    "cookie insert preserve (app sets SRV=r3)": {"SRV"},
    "cookie insert, app sets SRV=r3, no preserve": {"SRV"},
    "cookie insert preserve (app silent)": set(),
    "cookie APPSID prefix (app sets APPSID)": {"APPSID"},
    "cookie APPSID rewrite (app sets APPSID)": {"APPSID"},
    "cookie APPSID prefix, app sets no cookie": set(),
}

HEAD = """global
    maxconn 400
defaults
    mode http
    option http-no-delay
    timeout connect 300ms
    timeout client 60s
    timeout server 60s
"""


def configuration(row: dict[str, Any]) -> str:
    """The configuration text of a measured row."""
    text: str = row["config"]
    peers = ""
    if "peers lab {" in text:
        text = text.split("\npeers lab", 1)[0]
        peers = "peers lab\n    peer A 127.0.0.1:1085\n    peer B 127.0.0.1:1086\n"
    if text.startswith("backend be"):
        rules = [line for line in text.splitlines() if line.split()[0] in ("use_backend", "default_backend")]
        backends = [line for line in text.splitlines() if line not in rules]
        return "\n".join([HEAD + "frontend fe", "    bind 127.0.0.1:1080", *rules, *backends, ""])
    fragment, _, servers = text.partition("\nserver rN ")
    own = dict(re.findall(r"\(server (r\d): ([^)]*)\)", servers))
    every = re.sub(r"\s*\(server r\d:[^)]*\)", "", servers)
    lines = []
    for number in "123":
        line = f"server r{number} " + every.replace("PORT", f"100{number}")
        special = own.get(f"r{number}")
        if special is not None:
            line = re.sub(r" cookie rN", "", line) + ("" if special == "without it" else f" {special}")
        lines.append("    " + line.replace("rN", f"r{number}").replace("id N", f"id {number}"))
    return "\n".join(
        [HEAD + peers + "frontend fe", "    bind 127.0.0.1:1080", "    default_backend be", "backend be"]
        + ["    " + line.strip() for line in fragment.splitlines()]
        + [*lines, ""]
    )


def reading(row: dict[str, Any]) -> Reading:
    """What the reader makes of a measured row."""
    cookies = APPLICATION_SETS.get(row["name"])
    assumed = Assumed(None if cookies is None else frozenset(cookies), row["client"].startswith("mcp"))
    source = Source("haproxy.cfg", configuration(row), "haproxy")
    return haproxy.read((source,), Tree(".", (), lambda _: b""), assumed)


def derived(row: dict[str, Any]) -> Strength:
    """The strength for the row's client: a cookie does nothing for one that keeps none."""
    # The stream's path is the lab's: ignore-persist on it is a route of its own, which comes first.
    affinity = reading(row).routes[0].affinity
    if affinity.key.carrier is KeyCarrier.COOKIE and "without jar" in row["name"]:
        return Strength.NONE
    return affinity.strength


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['version'].split()[-1]}-{row['name']}")
def test_strength_agrees_with_what_was_measured(row: dict[str, Any]) -> None:
    strength = derived(row).value
    if row["name"] in NOT_IN_THE_TEXT:
        assert strength != row["strength"], "derived after all: take it off the list"
    else:
        assert strength == row["strength"]


COLUMNS = {
    RoutingEvent.PLAIN: "plain",
    RoutingEvent.DOWN_DETECTED: "down_detected",
    RoutingEvent.DRAIN: "drain_drain",
    RoutingEvent.MAINTENANCE: "drain_maint",
    RoutingEvent.CHECK_FAILS: "drain_hc_fail",
    RoutingEvent.REMOVED: "drain_removed",
    RoutingEvent.MOVED: "moved",
    RoutingEvent.SCALE_OUT: "scale_out",
    RoutingEvent.RELOAD: "reload",
    RoutingEvent.RESTART: "restart",
    RoutingEvent.SECOND_PROXY: "second_proxy",
}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['version'].split()[-1]}-{row['name']}")
def test_events_agree_with_what_was_measured(row: dict[str, Any]) -> None:
    """Cell by cell: where the row says same, every session came back; where it says error or other, none did so."""
    affinity = reading(row).routes[0].affinity
    if "without jar" in row["name"] or row["name"] in NOT_IN_THE_TEXT:
        pytest.skip("no cell speaks of a client that presents the key")
    wrong = []
    for event, column in COLUMNS.items():
        measured, said = row["measured"].get(column), affinity.meets(event)
        if measured is None or said is None:
            continue
        kinds = {"error" if kind.startswith("err:") else kind for kind in measured}
        fits = kinds == {said.value} if said.value in ("same", "error") else "other" in kinds
        if not fits:
            wrong.append(f"{event.value}: {said.value}, measured {measured}")
    assert not wrong
