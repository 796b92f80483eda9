"""What the hops in front of a stream can do to a reconnect, and what is not known of it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from sselint.deployment import Hop
from sselint.facts import (
    Count,
    CursorTreatment,
    KeyCarrier,
    KeyIssuer,
    Meets,
    Pool,
    RoutingEvent,
    RoutingKey,
    Strength,
    Truth,
)
from sselint.routing import AFFINITY_FAILS, ROUTED_ON_CURSOR, Way, choices, ways
from tests.model.builders import client, deployment, pinned, pool, route, workers


def outcomes(*hops: Hop, **facts: Any) -> list[tuple[bool, tuple[str, ...], bool]]:
    """Every way: several processes or one; what makes a client meet another one; whether it is usually brought back."""
    return [(way.several, way.elsewhere, way.returns) for way in ways(deployment(*hops, **facts))]


def best_effort(*events: tuple[RoutingEvent, Meets], **changes: Any) -> Hop:
    return route(pinned(Strength.BEST_EFFORT, events=events, **changes))


def test_no_affinity_moves_a_client_when_nothing_has_happened() -> None:
    assert outcomes(route()) == [(True, ("plain",), False)]


def test_strict_affinity_moves_it_never() -> None:
    assert outcomes(route(pinned())) == [(True, (), True)]


def test_best_effort_moves_it_after_the_events_of_its_row_the_plainest_first() -> None:
    hop = best_effort(
        (RoutingEvent.RELOAD, Meets.OTHER),
        (RoutingEvent.DOWN, Meets.DEPENDS),
        (RoutingEvent.DRAIN, Meets.SAME),
        (RoutingEvent.MAINTENANCE, Meets.ERROR),
    )
    assert outcomes(hop) == [(True, ("down", "reload"), True)]


def test_what_the_client_does_to_its_key_is_no_event_of_the_hop() -> None:
    """No configuration survives a key that the client has thrown away."""
    assert outcomes(best_effort((RoutingEvent.KEY_LOST, Meets.OTHER))) == [(True, (AFFINITY_FAILS,), True)]


def test_a_lifetime_moves_it_under_strict_affinity_too() -> None:
    assert outcomes(route(pinned(seconds=60.0))) == [(True, ("key_lapsed",), True)]


def test_a_choice_by_the_cursor_itself_brings_nobody_back() -> None:
    hop = route(pinned(), last_event_id=CursorTreatment.ROUTED_ON)
    assert outcomes(hop) == [(True, (ROUTED_ON_CURSOR,), False)]


@pytest.mark.parametrize(
    ("count", "expected"),
    [
        (Count.exactly(1, "one"), [(False, (), True)]),
        (Count.exactly(2, "two"), [(True, ("plain",), False)]),
        (Count(1, 4, "autoscaled"), [(True, ("plain",), False)]),
        (Count(3, None, "three or more"), [(True, ("plain",), False)]),
        (Count.unknown("a template"), [(False, (), True), (True, ("plain",), False)]),
    ],
)
def test_how_many_processes_there_are(count: Count, expected: list[tuple[bool, tuple[str, ...], bool]]) -> None:
    assert outcomes(pool(count)) == expected


def test_the_weakest_hop_decides() -> None:
    strict, loose = route(pinned()), workers(2)
    assert outcomes(strict, loose) == [(True, ("plain",), False)]
    assert outcomes(strict, workers(1)) == [(True, (), True)]
    assert outcomes(best_effort((RoutingEvent.DOWN, Meets.OTHER)), loose) == [(True, ("plain", "down"), False)]


def test_workers_inside_a_replica_are_a_hop_of_their_own_and_told_once() -> None:
    inner = workers(2).pool
    assert isinstance(inner, Pool)
    chain = choices(deployment(pool(3, workers=inner), Hop("linked as well", pool=inner)))
    assert [(c.kind, c.name) for c in chain] == [("replicas", "Deployment app"), ("workers", "gunicorn")]


def test_a_route_with_one_member_says_nothing_of_what_is_behind_it() -> None:
    alone = route(members=Count.exactly(1, "one server line"))
    assert [c.kind for c in choices(deployment(alone))] == ["route", "unknown"]
    assert [c.kind for c in choices(deployment(alone, pool(1)))] == ["route", "replicas"]
    assert [c.kind for c in choices(deployment(route()))] == ["route"]


def test_one_of_several_candidates_is_a_guess_on_which_nothing_rests() -> None:
    assert outcomes(route(), candidates=("a", "b")) == [(False, (), True), (True, ("plain",), False)]


def test_a_server_that_refuses_workers_has_none() -> None:
    found = deployment(workers(4))
    assert ways(found, without_workers=True) == (Way(False),)
    assert [way.several for way in ways(found)] == [True]


# -- whose key it is

KEYS = {
    "cookie": RoutingKey(KeyIssuer.PROXY, KeyCarrier.COOKIE, "SRV"),
    "header of the server": RoutingKey(KeyIssuer.SERVER, KeyCarrier.HEADER, "Mcp-Session-Id"),
    "header of the client": RoutingKey(KeyIssuer.CLIENT, KeyCarrier.HEADER, "X-User"),
    "address": RoutingKey(KeyIssuer.ADDRESS, KeyCarrier.ADDRESS),
    "query": RoutingKey(KeyIssuer.CLIENT, KeyCarrier.QUERY, "user"),
    "path": RoutingKey(KeyIssuer.CLIENT, KeyCarrier.PATH),
}


@pytest.mark.parametrize("name", KEYS)
@pytest.mark.parametrize("cookies", list(Truth))
@pytest.mark.parametrize("header", list(Truth))
def test_nothing_is_pinned_by_a_key_that_a_client_does_not_return(name: str, cookies: Truth, header: Truth) -> None:
    returned = {"cookie": cookies, "header of the server": header}.get(name, Truth.YES)
    strict, loose = (True, (), True), (True, ("plain",), False)
    expected = {Truth.YES: [strict], Truth.NO: [loose], Truth.UNKNOWN: [loose, strict]}[returned]
    asked = client(cookies=cookies, keeps_session_header=header)
    assert outcomes(route(pinned(key=KEYS[name])), clients=(asked,)) == expected


def test_one_client_that_drops_the_key_is_enough() -> None:
    keeps, drops = client(), client(cookies=Truth.NO)
    assert outcomes(route(pinned()), clients=(keeps, drops)) == [(True, ("plain",), False)]


def test_a_client_that_never_sends_a_cursor_is_moved_about_without_harm() -> None:
    keeps, silent = client(), client(Truth.NO, Truth.NO)
    assert outcomes(route(pinned()), clients=(keeps, silent)) == [(True, (), True)]


def test_where_nobody_is_named_a_cookie_brings_some_back() -> None:
    """Of many clients some keep cookies: nothing may rest on it, and it is affinity all the same."""
    default = client(cookies=Truth.NO, named=False)
    assert outcomes(route(pinned()), clients=(default,)) == [(True, ("plain",), True)]
    assert outcomes(route(replace(pinned(), strength=Strength.NONE)), clients=(default,)) == [(True, ("plain",), False)]
