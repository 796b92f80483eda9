"""What a cluster's own settings, and the lifetime of a cookie, change in single cells of a row: a real Envoy."""

from __future__ import annotations

import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from sselint.facts import Meets, RoutingEvent
from tests.premises.envoy_events import agrees, measure
from tests.premises.envoy_lab import Setup, lab, routes_of
from tests.premises.envoy_setups import CHECKED, LOOSE, RING, SETUPS, STRICT, cookie_session, hash_of

pytestmark = pytest.mark.premises

FORGETS: dict[str, Any] = {"ignore_health_on_host_removal": True}
COOKIE = hash_of("cookie", name="feed-key", path="/", ttl="0s")
PER_REPLICA = SETUPS["route_per_replica"]


def panic_below(percent: int) -> dict[str, Any]:
    return {"common_lb_config": {"healthy_panic_threshold": {"value": percent}}}


@pytest.mark.parametrize(
    ("setup", "event", "claim"),
    [
        (Setup(cluster={**RING, **CHECKED}, route=COOKIE), RoutingEvent.REMOVED, Meets.SAME),
        (Setup(cluster={**RING, **CHECKED, **FORGETS}, route=COOKIE), RoutingEvent.REMOVED, Meets.OTHER),
        (Setup(filters=STRICT, cluster=CHECKED), RoutingEvent.REMOVED, Meets.SAME),
        (Setup(filters=STRICT, cluster={**CHECKED, **FORGETS}), RoutingEvent.REMOVED, Meets.ERROR),
        (Setup(filters=LOOSE, cluster={**CHECKED, **FORGETS}), RoutingEvent.REMOVED, Meets.OTHER),
        (Setup(cluster={**RING, **CHECKED}, route=COOKIE), RoutingEvent.CHECK_FAILS, Meets.OTHER),
        (Setup(cluster={**RING, **CHECKED, **panic_below(100)}, route=COOKIE), RoutingEvent.CHECK_FAILS, Meets.SAME),
        (Setup(cluster={**RING, **CHECKED, **panic_below(100)}, route=COOKIE), RoutingEvent.DOWN_DETECTED, Meets.ERROR),
        (Setup(filters=STRICT, cluster={**CHECKED, **panic_below(0)}), RoutingEvent.CHECK_FAILS, Meets.ERROR),
        (PER_REPLICA, RoutingEvent.CHECK_FAILS, Meets.SAME),
        (
            Setup("mcp", cluster={**CHECKED, **panic_below(0)}, per_replica=PER_REPLICA.per_replica),
            RoutingEvent.CHECK_FAILS,
            Meets.ERROR,
        ),
    ],
    ids=[
        "a removed host that passes its check stays",
        "unless removal ignores health",
        "so does the host of a strict session",
        "unless removal ignores health: 503",
        "and one that is not strict goes elsewhere",
        "a hash leaves a host that fails its check",
        "not in panic mode",
        "in which a dead host gets its requests",
        "a strict session answers 503 without panic mode too",
        "panic mode sends to the only host of a cluster",
        "without it, that is 503",
    ],
)
def test_what_a_cluster_changes(setup: Setup, event: RoutingEvent, claim: Meets, tmp_path: Path) -> None:
    assert routes_of(setup, tmp_path)[0].affinity.meets(event) is claim
    met = measure(setup, event, tmp_path / "lab", claim)
    assert agrees(claim, met), met


# -- lifetimes ---------------------------------------------------------------------------------------------------------


def after_an_open_stream(setup: Setup, folder: Path, *, keeps_expired: bool = False) -> Counter[str]:
    """What sessions meet whose streams were open, and busy, for longer than a cookie of one second lives."""
    with lab(setup, folder) as at:
        for replica in at.replicas.values():
            replica.heartbeat = 0.2
        at.establish()
        time.sleep(2.1)
        for client in at.clients:
            client.keeps_expired = keeps_expired
        return at.reconnect(at.clients)


SHORT_HASH = Setup(cluster=RING, route=hash_of("cookie", name="feed-key", path="/", ttl="1s"))


SHORT_SESSION = Setup(filters=cookie_session(strict=True, ttl="1s"))


@pytest.mark.parametrize("setup", [SHORT_SESSION, SHORT_HASH], ids=["strict", "hash"])
def test_a_cookie_lapses_during_an_open_stream(setup: Setup, tmp_path: Path) -> None:
    key = routes_of(setup, tmp_path)[0].affinity
    assert key.key.seconds == 1 and key.meets(RoutingEvent.KEY_LAPSED) is Meets.DEPENDS
    assert "other" in after_an_open_stream(setup, tmp_path)


def test_the_date_of_a_session_is_inside_the_cookie(tmp_path: Path) -> None:
    """So a client that keeps the cookie all the same is balanced afresh, strict or not."""
    assert "other" in after_an_open_stream(SHORT_SESSION, tmp_path, keeps_expired=True)


def test_a_hash_cookie_carries_no_date(tmp_path: Path) -> None:
    assert set(after_an_open_stream(SHORT_HASH, tmp_path, keeps_expired=True)) == {"same"}


@pytest.mark.parametrize("ttl", ["60s", "0s", None])
def test_a_session_that_lives_longer_than_the_stream_comes_back(ttl: str | None, tmp_path: Path) -> None:
    setup = Setup(filters=cookie_session(strict=True, ttl=ttl))
    assert routes_of(setup, tmp_path)[0].affinity.key.seconds == (60 if ttl == "60s" else None)
    assert set(after_an_open_stream(setup, tmp_path)) == {"same"}


# -- which failures are retried ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("words", ["5xx", "gateway-error", "reset", "connect-failure", "reset-before-request"])
def test_words_under_which_a_refused_connection_is_retried(words: str, tmp_path: Path) -> None:
    setup = Setup(filters=STRICT, route={"retry_policy": {"retry_on": words, "num_retries": 3}})
    assert routes_of(setup, tmp_path)[0].affinity.row == "envoy/session_retried_strict"
    assert "other" in measure(setup, RoutingEvent.DOWN, tmp_path / "lab")


@pytest.mark.parametrize(
    "policy",
    [
        {"retry_on": "retriable-4xx,refused-stream,envoy-ratelimited"},
        {"retry_on": "retriable-status-codes", "retriable_status_codes": [409]},
        {"retry_on": "connect-failure", "num_retries": 0},
    ],
)
def test_words_under_which_it_is_not(policy: dict[str, Any], tmp_path: Path) -> None:
    setup = Setup(filters=STRICT, route={"retry_policy": policy})
    assert routes_of(setup, tmp_path)[0].affinity.row == "envoy/session_cookie_strict"
    assert set(measure(setup, RoutingEvent.DOWN, tmp_path / "lab")) == {"error"}
