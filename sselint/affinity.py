"""Affinity is measured, not remembered: rows of `rules/affinity/` chosen by what a file says, and their strength.

A reader derives *features* from the text (`{"method": "cookie", "cookie_mode": "insert", "check": True}`); the first
row of the proxy's file whose `when` all hold is what was measured for such a configuration. `tests/premises/` proves
each row on the real proxy.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sselint.facts import (
    Affinity,
    Evidence,
    KeyCarrier,
    KeyIssuer,
    Meets,
    RoutingEvent,
    RoutingKey,
    Strength,
)

Features = Mapping[str, str | bool | int]

CLIENTS_OWN = frozenset({RoutingEvent.KEY_LOST, RoutingEvent.KEY_LAPSED})
"""Events that concern the key itself. No configuration survives a lost key, so they do not enter the strength: C4 asks
separately whether the client returns the key and whether it outlives a stream."""

CONFIGURED_AWAY = frozenset({RoutingEvent.REMOVED, RoutingEvent.MOVED})
"""Events in which the replica leaves the configuration under its old name: `strict while configured` is strict too."""


@dataclass(frozen=True)
class AffinityRow:
    """One measured row. `when` maps a feature to the value (or list of values) it must have; a feature that a row does
    not name may be anything."""

    proxy: str
    id: str
    mechanism: str
    when: Mapping[str, Any]
    events: tuple[tuple[RoutingEvent, Meets], ...]
    issued_by: KeyIssuer
    carrier: KeyCarrier
    why: str
    premise: str
    version: str
    date: str

    def holds(self, features: Features) -> bool:
        """Whether the row speaks of a configuration with these features."""
        for name, wanted in self.when.items():
            have = features.get(name, False)
            if have not in wanted if isinstance(wanted, list) else have != wanted:
                return False
        return True


def strength_of(events: Mapping[RoutingEvent, Meets]) -> Strength:
    """The strength for a client that presents its key.

    none: not even a plain reconnect (or, for a key that the server issues, the request after initialize) returns.
    strict: after every event that leaves the replica configured it meets its own process or an error.
    """
    for event in (RoutingEvent.PLAIN, RoutingEvent.INIT):
        if events.get(event, Meets.SAME) in (Meets.OTHER, Meets.DEPENDS):
            return Strength.NONE
    moving = (Meets.OTHER, Meets.DEPENDS)
    if any(m in moving for e, m in events.items() if e not in CLIENTS_OWN | CONFIGURED_AWAY):
        return Strength.BEST_EFFORT
    return Strength.STRICT


def find_row(rows: tuple[AffinityRow, ...], features: Features) -> AffinityRow | None:
    """The first row that speaks of these features, or None."""
    return next((row for row in rows if row.holds(features)), None)


def judge_row(
    row: AffinityRow,
    *,
    key_name: str = "",
    lifetime: str = "none",
    seconds: float | None = None,
    why: str = "",
    evidence: Evidence = (),
    undone_by: Evidence = (),
    no_effect: Evidence = (),
) -> Affinity:
    """The affinity that a measured row gives a route; the reader adds the key's name and lifetime and the evidence."""
    return Affinity(
        mechanism=row.mechanism,
        strength=strength_of(dict(row.events)),
        key=RoutingKey(row.issued_by, row.carrier, key_name, lifetime, seconds),
        why=why or row.why,
        evidence=evidence,
        row=f"{row.proxy}/{row.id}",
        events=row.events,
        undone_by=undone_by,
        no_effect=no_effect,
    )
