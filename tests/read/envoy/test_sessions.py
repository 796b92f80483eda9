"""Stateful sessions and what undoes them, each beside a look-alike that does not."""

from __future__ import annotations

from typing import Any

import pytest

from sselint.facts import RoutingEvent
from tests.read.envoy.cases import (
    CHECKED,
    COOKIE,
    LOOSE,
    PREVIOUS_HOSTS,
    RING,
    STRICT,
    Case,
    affinity_of,
    check,
    config,
    hashes,
    hcm_options,
    honouring,
    own_session,
    per_route,
    retry,
)
from tests.read.envoy.helpers import Json, bootstrap, cluster, manager, route, routes, session

MOST = ("UNKNOWN", "HEALTHY", "DRAINING", "UNHEALTHY")

CASES = [
    # -- stateful sessions
    Case("cookie", config((), (LOOSE,)), "session_cookie"),
    Case("cookie, strict", config((), (STRICT,)), "session_cookie_strict"),
    Case("strict: false", config((), (session(strict=False),)), "session_cookie"),
    Case("header", config((), (session("header"),)), "session_header"),
    Case("header, strict", config((), (session("header", strict=True),)), "session_header_strict"),
    Case("envelope", config((), (session("envelope"),)), "session_envelope"),
    Case("envelope, strict", config((), (session("envelope", strict=True),)), "session_envelope_strict"),
    Case("a session wins over a hash", config(hashes(COOKIE), (STRICT,), RING), "session_cookie_strict"),
    Case("a filter that is disabled", config((), ({**STRICT, "disabled": True},)), "round_robin"),
    Case("a session with health checks", config((), (LOOSE,), CHECKED), "session_checked"),
    Case("a session with outlier detection", config((), (LOOSE,), {"outlier_detection": {}}), "session_ejected"),
    # -- per-route overrides
    Case("disabled on the route", config((), (STRICT,), None, **per_route({"disabled": True})), "round_robin"),
    Case(
        "disabled for another filter",
        config((), (STRICT,), None, **per_route({"disabled": True}, "other")),
        "session_cookie_strict",
    ),
    Case("made loose on the route", config((), (STRICT,), None, **own_session()), "session_cookie"),
    Case("made strict on the route", config((), (LOOSE,), None, **own_session(strict=True)), "session_cookie_strict"),
    Case(
        "enabled on the route",
        config((), ({**LOOSE, "disabled": True},), None, **own_session(strict=True)),
        "session_cookie_strict",
    ),
    # -- override_host_status
    Case(
        "draining honoured",
        config((), (LOOSE,), honouring("UNKNOWN", "HEALTHY", "DEGRADED", "DRAINING")),
        "session_draining",
    ),
    Case("every state honoured", config((), (LOOSE,), honouring(*MOST)), "session_honoured"),
    Case(
        "every state honoured, strict",
        config((), (STRICT,), {**CHECKED, **honouring(*MOST)}),
        "session_strict_honoured",
    ),
    Case(
        "the usual states written out",
        config((), (LOOSE,), honouring("UNKNOWN", "HEALTHY", "DEGRADED")),
        "session_cookie",
    ),
    Case("its own state left out", config((), (LOOSE,), honouring("HEALTHY")), "session_state_ignored", 1),
    Case(
        "its own state left out, strict", config((), (STRICT,), honouring("HEALTHY")), "session_state_ignored_strict", 1
    ),
    # -- retries
    Case("strict with a retry", config(retry(), (STRICT,)), "session_retried_strict", 1),
    Case(
        "one of several words", config(retry("retriable-4xx, connect-failure"), (STRICT,)), "session_retried_strict", 1
    ),
    Case(
        "gateway errors include refused connections",
        config(retry("gateway-error"), (STRICT,)),
        "session_retried_strict",
        1,
    ),
    Case("a retry of other failures", config(retry("retriable-4xx"), (STRICT,)), "session_cookie_strict"),
    Case("a retry that may happen 0 times", config(retry(num_retries=0), (STRICT,)), "session_cookie_strict"),
    Case("loose with a retry", config(retry(), (LOOSE,)), "session_retried", 1),
    Case("a hash with a retry", config({**hashes(COOKIE), **retry()}, (), RING), "hash_cookie"),
    Case(
        "a hash with a retry elsewhere",
        config({**hashes(COOKIE), **retry(**PREVIOUS_HOSTS)}, (), RING),
        "hash_retried",
        1,
    ),
    Case(
        "the cluster's own retry",
        config((), (STRICT,), hcm_options(retry_policy={"retry_on": "5xx"})),
        "session_retried_strict",
        1,
    ),
    Case(
        "which a route's own policy replaces",
        config(retry("retriable-4xx"), (STRICT,), hcm_options(retry_policy={"retry_on": "5xx"})),
        "session_cookie_strict",
    ),
]


@pytest.mark.parametrize("case", CASES, ids=[case.id for case in CASES])
def test_which_row_speaks_of_it(case: Case) -> None:
    check(case)


# -- the state that a host is given ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "honoured", "row"),
    [
        ("HEALTHY", ["HEALTHY"], "session_checked"),
        ("HEALTHY", ["UNKNOWN"], "session_state_ignored"),
        (None, ["UNKNOWN"], "session_checked"),
        (None, ["HEALTHY"], "session_state_ignored"),
        ("DRAINING", ["HEALTHY"], "session_checked"),
    ],
)
def test_what_is_honoured_is_the_state_that_a_host_is_given(given: str | None, honoured: list[str], row: str) -> None:
    """Health checks do not change it: a host without a state of its own stays UNKNOWN."""
    hosts = dict(cluster(**CHECKED, **honouring(*honoured)))
    for endpoint in hosts["load_assignment"]["endpoints"][0]["lb_endpoints"]:
        endpoint.update({"health_status": given} if given else {})
    assert affinity_of(bootstrap(manager([route()], (LOOSE,)), [hosts])).row == f"envoy/{row}"


# -- levels above the route --------------------------------------------------------------------------------------------


def with_host(host: Json, action: Json | None = None, filters: tuple[Json, ...] = (), **table: Any) -> Json:
    """The plain configuration with more fields in its virtual host and its route configuration."""
    hcm = dict(manager([route(action)], filters))
    plain = hcm["route_config"]
    hcm["route_config"] = {**plain, **table, "virtual_hosts": [{**plain["virtual_hosts"][0], **host}]}
    return bootstrap(hcm)


LEVELS = [
    Case("retry of the virtual host", with_host(retry(), None, (STRICT,)), "session_retried_strict", 1),
    Case("which the route's replaces", with_host(retry(), retry("retriable-4xx"), (STRICT,)), "session_cookie_strict"),
    Case("session of the virtual host", with_host(own_session(strict=True), None, (LOOSE,)), "session_cookie_strict"),
    Case("session of the table", with_host({}, None, (LOOSE,), **own_session(strict=True)), "session_cookie_strict"),
    Case(
        "the more specific wins",
        with_host(own_session(strict=True), None, (LOOSE,), **per_route({"disabled": True})),
        "session_cookie_strict",
    ),
    Case("disabled for the host", with_host(per_route({"disabled": True}), None, (STRICT,)), "round_robin"),
]


@pytest.mark.parametrize("case", LEVELS, ids=[case.id for case in LEVELS])
def test_levels_above_the_route(case: Case) -> None:
    check(case)


# -- lifetimes and paths of cookies ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ttl", "lifetime", "seconds"),
    [(None, "session", None), ("0s", "session", None), ("3600s", "expires", 3600.0), ("0.500s", "expires", 0.5)],
)
def test_lifetime_of_a_session_cookie(ttl: str | None, lifetime: str, seconds: float | None) -> None:
    key = affinity_of(config((), (session(ttl=ttl),))).key
    assert (key.name, key.lifetime, key.seconds) == ("feed-host", lifetime, seconds)


def test_a_key_without_a_date_never_lapses() -> None:
    assert affinity_of(config((), (LOOSE,))).meets(RoutingEvent.KEY_LAPSED) is None
    assert affinity_of(config((), (session(ttl="9s"),))).meets(RoutingEvent.KEY_LAPSED) is not None


def with_cookie_path(path: str, prefix: str) -> Json:
    cookie = {"name": "feed-host", "path": path}
    kept = session(strict=True)
    kept["typed_config"]["session_state"]["typed_config"]["cookie"] = cookie
    return bootstrap(manager([route(None, {"prefix": prefix})], (kept,)))


@pytest.mark.parametrize(
    ("path", "prefix", "row"),
    [
        ("/", "/feeds", "session_cookie_strict"),
        ("/feeds", "/feeds", "session_cookie_strict"),
        ("/feeds", "/", "session_cookie_strict"),
        ("/feeds", "/feeds/one", "session_cookie_strict"),
        ("/admin", "/feeds", "round_robin"),
    ],
)
def test_a_cookie_for_a_path_that_the_route_never_takes(path: str, prefix: str, row: str) -> None:
    affinity = affinity_of(with_cookie_path(path, prefix))
    assert affinity.row == f"envoy/{row}"
    assert bool(affinity.no_effect) == (row == "round_robin")


def test_evidence_leads_to_the_lines() -> None:
    found = routes(config(retry(), (STRICT,)))[0]
    [undone] = found.affinity.undone_by
    assert undone.note == "retry_on connect-failure"
    assert any("strict: true" in span.note for span in found.affinity.evidence)
