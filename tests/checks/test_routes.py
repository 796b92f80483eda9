"""SSE3xx and SSE6xx: what the hops do with a client that comes back, and what makes it come back."""

from __future__ import annotations

from typing import Any

import pytest

from sselint.facts import (
    Count,
    CursorTreatment,
    IdKind,
    IdSource,
    KeyCarrier,
    KeyIssuer,
    Meets,
    Observation,
    Route,
    RoutingEvent,
    RoutingKey,
    Scope,
    Strength,
)
from sselint.findings import Severity, Verdict
from tests.checks.helpers import behind, found, only
from tests.report import builders

PLACE = (builders.COOKIE,)


def route(strength: Strength = Strength.BEST_EFFORT, members: int = 2, **changes: Any) -> Route:
    """A route whose affinity differs in `changes`; nothing undoes it unless they say so."""
    return builders.route(
        members=Count.exactly(members, f"{members} server lines"),
        affinity=builders.affinity(strength, **{"undone_by": (), "events": (), **changes}),
    )


def passing(treatment: CursorTreatment, **changes: Any) -> Route:
    facts = {"last_event_id": treatment, "last_event_id_evidence": (builders.REDISPATCH,)}
    return builders.route(**facts, **changes)


def on_events(*events: RoutingEvent, strength: Strength = Strength.BEST_EFFORT, **changes: Any) -> Route:
    return route(strength, events=tuple((event, Meets.OTHER) for event in events), **changes)


# -- SSE301, SSE302 --------------------------------------------------------------------------------------------------


def test_best_effort_fires() -> None:
    finding = only("SSE301", behind(on_events(RoutingEvent.KEY_LOST, RoutingEvent.DRAIN)))
    assert finding.severity is Severity.ERROR
    assert finding.message.endswith("is best effort; a client is moved when its server is drained")


@pytest.mark.parametrize("strength", [Strength.STRICT, Strength.NONE, Strength.UNKNOWN])
def test_best_effort_is_silent_at_another_strength(strength: Strength) -> None:
    """Strict is what policy 2 asks for; none is SSE302; unknown is never reported as bad."""
    assert not found("SSE301", behind(route(strength)))


def test_no_affinity_fires() -> None:
    finding = only("SSE302", behind(route(Strength.NONE, why="requests are balanced in turn")))
    assert finding.message.endswith("requests are balanced in turn")


@pytest.mark.parametrize("code, strength", [("SSE301", Strength.BEST_EFFORT), ("SSE302", Strength.NONE)])
def test_a_route_with_one_member_needs_no_affinity(code: str, strength: Strength) -> None:
    assert not found(code, behind(route(strength, members=1)))


@pytest.mark.parametrize(
    "better",
    [
        passing(CursorTreatment.ROUTED_ON),
        route(no_effect=PLACE),
        on_events(RoutingEvent.INIT, key=RoutingKey(KeyIssuer.SERVER, KeyCarrier.HEADER, "Mcp-Session-Id")),
    ],
    ids=["SSE303", "SSE304", "SSE307"],
)
def test_best_effort_is_silent_where_a_code_says_it_better(better: Route) -> None:
    assert not found("SSE301", behind(better))


# -- SSE303, SSE304 --------------------------------------------------------------------------------------------------


def test_routes_on_cursor_fires() -> None:
    finding = only("SSE303", behind(passing(CursorTreatment.ROUTED_ON)))
    assert finding.evidence == (builders.REDISPATCH,)


def test_routes_on_cursor_is_silent_where_the_header_is_passed() -> None:
    assert not found("SSE303", behind(passing(CursorTreatment.PASSED)))
    assert not found("SSE303", behind(passing(CursorTreatment.STRIPPED)))


def test_no_effect_fires() -> None:
    nothing = builders.COOKIE.noted("`hash_policy` over a cluster that does not hash")
    finding = only("SSE304", behind(route(Strength.NONE, no_effect=(nothing,))))
    assert finding.message.endswith("affinity without effect: `hash_policy` over a cluster that does not hash")


def test_no_effect_is_silent_where_the_affinity_works() -> None:
    assert not found("SSE304", behind(route()))


# -- SSE305 to SSE308 ------------------------------------------------------------------------------------------------


def test_table_lost_fires() -> None:
    finding = only("SSE305", behind(on_events(RoutingEvent.RELOAD, RoutingEvent.SECOND_PROXY, RoutingEvent.DOWN)))
    expected = "forgets its clients when the proxy is reloaded or the request passes a second proxy"
    assert finding.message.endswith(expected)


def test_table_lost_is_silent_where_nothing_is_remembered() -> None:
    """A cookie that names the server needs no table, and a hop without affinity has nothing to forget."""
    assert not found("SSE305", behind(on_events(RoutingEvent.DOWN)))
    assert not found("SSE305", behind(on_events(RoutingEvent.RELOAD, strength=Strength.NONE)))


@pytest.mark.parametrize(("seconds", "written"), [(30.0, "30"), (0.5, "0.5"), (2_592_000.0, "2592000")])
def test_key_lapses_fires(seconds: float, written: str) -> None:
    key = RoutingKey(KeyIssuer.PROXY, KeyCarrier.COOKIE, "SRV", "expires", seconds)
    finding = only("SSE306", behind(route(key=key)))
    assert finding.message.endswith(f"the key `SRV` lapses after {written} s, open stream or not")


def test_key_lapses_is_silent_where_the_streams_traffic_refreshes_it() -> None:
    """Readers say None for a lifetime that an open stream keeps alive, as measured."""
    key = RoutingKey(KeyIssuer.PROXY, KeyCarrier.COOKIE, "SRV", "expires", None)
    assert not found("SSE306", behind(route(key=key)))


def test_server_key_hashed_fires() -> None:
    key = RoutingKey(KeyIssuer.SERVER, KeyCarrier.HEADER, "Mcp-Session-Id")
    finding = only("SSE307", behind(on_events(RoutingEvent.INIT, key=key)))
    assert "hashes Mcp-Session-Id, which the server issues" in finding.text


def test_server_key_learned_is_silent() -> None:
    """A table that learns the key from the response points at the process that issued it."""
    key = RoutingKey(KeyIssuer.SERVER, KeyCarrier.HEADER, "Mcp-Session-Id")
    learned = route(key=key, events=((RoutingEvent.INIT, Meets.SAME),))
    assert not found("SSE307", behind(learned))


def test_client_key_hashed_is_silent() -> None:
    """The client sends a key of its own with the first request already."""
    key = RoutingKey(KeyIssuer.CLIENT, KeyCarrier.HEADER, "X-Client")
    assert not found("SSE307", behind(on_events(RoutingEvent.INIT, key=key)))


def test_undone_fires() -> None:
    finding = only("SSE308", behind(route(undone_by=(builders.REDISPATCH,))))
    assert finding.message.endswith("is undone: option redispatch, inherited from defaults")
    assert finding.evidence == (builders.REDISPATCH,)


def test_undone_is_silent_where_nothing_is_undone() -> None:
    """A retry elsewhere undoes nothing where there was no affinity to begin with."""
    assert not found("SSE308", behind(route()))
    assert not found("SSE308", behind(route(Strength.NONE, undone_by=(builders.REDISPATCH,))))


# -- SSE309 ----------------------------------------------------------------------------------------------------------


def test_cursor_stripped_fires() -> None:
    """On a hop with one member too: it breaks the resumption on a single process."""
    finding = only("SSE309", behind(passing(CursorTreatment.STRIPPED, members=Count.exactly(1, "one server"))))
    assert finding.evidence == (builders.REDISPATCH,)


def test_cursor_stripped_is_silent_without_ids() -> None:
    """Removing a header that no client has a value for is policy 3, said aloud."""
    silent = builders.stream(ids=IdSource(IdKind.NONE, Scope.NONE, "no id: field"))
    hops = (builders.hop(passing(CursorTreatment.STRIPPED)),)
    assert not found("SSE309", builders.corrupt(deployment=builders.deployment(stream=silent, hops=hops)))


def test_cursor_stripped_is_silent_where_it_is_passed() -> None:
    assert not found("SSE309", behind(passing(CursorTreatment.PASSED)))


# -- SSE6xx ----------------------------------------------------------------------------------------------------------

OBSERVED = ("SSE601", "SSE602", "SSE603", "SSE604", "SSE605")


def observing(code: str) -> Route:
    return builders.route(observations=(Observation(code, "as the file says", PLACE),))


@pytest.mark.parametrize("code", OBSERVED)
def test_observations_fire(code: str) -> None:
    finding = only(code, behind(observing(code)))
    assert (finding.message, finding.evidence) == ("as the file says", PLACE)


@pytest.mark.parametrize("code", OBSERVED)
def test_observations_are_silent_where_the_reader_saw_nothing(code: str) -> None:
    others = [observing(other) for other in OBSERVED if other != code]
    assert not found(code, behind(*others))


@pytest.mark.parametrize("code", OBSERVED)
def test_observations_are_notes_where_the_deployment_is_safe(code: str) -> None:
    """They make reconnects frequent or events late under any policy; alone they corrupt nothing."""
    hops = (builders.hop(observing(code)),)
    safe = builders.safe(Verdict.SHARED_REPLAY, deployment=builders.deployment(hops=hops))
    finding = only(code, safe)
    assert finding.severity is Severity.NOTE
    assert "harmless" not in finding.text


@pytest.mark.parametrize("code", [f"SSE30{n}" for n in range(1, 9)])
def test_affinity_is_nobodys_concern_under_a_shared_log(code: str) -> None:
    bad = route(
        no_effect=PLACE, undone_by=PLACE, key=RoutingKey(KeyIssuer.PROXY, KeyCarrier.COOKIE, "SRV", "expires", 9)
    )
    shared = builders.safe(Verdict.SHARED_REPLAY, deployment=builders.deployment(hops=(builders.hop(bad),)))
    assert not found(code, shared)
