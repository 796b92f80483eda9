"""What rules/affinity/envoy.yaml claims, asked of a real Envoy.

For each row its configuration is read by sselint (and must be told to be that row), and the events are provoked. `make
test` runs the events that decide a row's strength; `make premises` runs every event on every row and prints the table.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from sselint.affinity import CLIENTS_OWN, CONFIGURED_AWAY, AffinityRow, strength_of
from sselint.catalogue import affinity_rows
from sselint.facts import Meets, RoutingEvent, Strength
from tests.premises.envoy_events import EVENTS, agrees, measure
from tests.premises.envoy_lab import Setup, routes_of
from tests.premises.envoy_setups import SETUPS, VARIANTS

ROWS = {row.id: row for row in affinity_rows("envoy")}

MOVES = {Meets.OTHER, Meets.DEPENDS}
FIRST = (RoutingEvent.PLAIN, RoutingEvent.INIT)
WITH_THE_WHOLE_PROXY = {RoutingEvent.RESTART, RoutingEvent.SECOND_PROXY}


def test_every_row_has_a_configuration() -> None:
    assert set(SETUPS) == set(ROWS)


@pytest.mark.parametrize(("row", "setup"), [*SETUPS.items(), *VARIANTS.values()], ids=[*SETUPS, *VARIANTS])
def test_the_configuration_is_read_as_its_row(row: str, setup: Setup, tmp_path: Path) -> None:
    routes = routes_of(setup, tmp_path)
    assert routes[0].affinity.row == f"envoy/{row}"
    assert routes[0].affinity.strength is strength_of(dict(ROWS[row].events))


def deciding(row: AffinityRow) -> list[RoutingEvent]:
    """The events that decide a row's strength: the first that moves a session, or, where none does, all that could."""
    claims = {e: m for e, m in row.events if e not in CLIENTS_OWN | CONFIGURED_AWAY}
    first = [e for e in FIRST if e in claims]
    if strength_of(claims) is Strength.NONE:
        return first
    moving = [e for e, m in claims.items() if m in MOVES]
    rest = [e for e in claims if e not in WITH_THE_WHOLE_PROXY | set(first)]
    return [*first, *(moving[:1] or rest)]


@pytest.mark.premises
@pytest.mark.parametrize("row", ROWS)
def test_row(row: str, tmp_path: Path) -> None:
    assert not disagreeing(ROWS[row], SETUPS[row], tmp_path)


@pytest.mark.premises
@pytest.mark.parametrize("variant", VARIANTS)
def test_another_configuration_of_a_row(variant: str, tmp_path: Path) -> None:
    row, setup = VARIANTS[variant]
    assert not disagreeing(ROWS[row], setup, tmp_path)


def disagreeing(row: AffinityRow, setup: Setup, folder: Path) -> dict[str, tuple[str, dict[str, int]]]:
    """The events on which a setup contradicts the claims that decide a row's strength: the claim, and what was met."""
    claims = dict(row.events)
    measured = {event: measure(setup, event, folder / event.value, claims[event]) for event in deciding(row)}
    return {e.value: (claims[e].value, dict(met)) for e, met in measured.items() if not agrees(claims[e], met)}


@pytest.mark.slow
@pytest.mark.parametrize("row", ROWS)
def test_every_event(row: str, tmp_path: Path, record_property: Callable[[str, object], None]) -> None:
    claims = dict(ROWS[row].events)
    wrong = {}
    for event in EVENTS:
        if not possible(SETUPS[row], event):
            continue
        claim = claims.get(event)
        met = measure(SETUPS[row], event, tmp_path / event.value, claim)
        record_property("premise", ["envoy", row, event.value, claim.value if claim else "", dict(met)])
        if claim is not None and not agrees(claim, met):
            wrong[event.value] = (claim.value, dict(met))
    assert not wrong


def possible(setup: Setup, event: RoutingEvent) -> bool:
    """Whether an event can happen in a setup: a session needs a client that makes one, a check one that is configured,
    and hosts that are named in routes do not come by EDS."""
    if event is RoutingEvent.INIT:
        return setup.client == "mcp"
    if event is RoutingEvent.CHECK_FAILS:
        return setup.checked
    by_eds = {RoutingEvent.DRAIN, RoutingEvent.MAINTENANCE, RoutingEvent.REMOVED, RoutingEvent.MOVED}
    return setup.per_replica is None or event not in by_eds
