"""What the hops in front of a stream can do to a reconnect, and which of that is unknown.

A hop is a *choice* among members. It can turn out in one way or in several (an unknown number of processes, a client
that nobody knows); a *way* of the whole chain is one way of each of its choices, and the weakest hop decides.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

from sselint.deployment import Client, Deployment
from sselint.facts import (
    Affinity,
    Count,
    CursorTreatment,
    Evidence,
    KeyCarrier,
    KeyIssuer,
    Meets,
    Pool,
    Rolling,
    Route,
    RoutingEvent,
    Strength,
    Truth,
)

ROUTED_ON_CURSOR, RELEASE, AFFINITY_FAILS = "routed_on_cursor", "release", "affinity_fails"
"""Reasons beside `RoutingEvent` for which a reconnect meets another process: the hop chooses by the cursor itself; a
release runs two generations side by side; an affinity that is best effort, of which no table says when it fails."""

TOLD_FIRST = (
    RoutingEvent.DRAIN,
    RoutingEvent.DOWN_DETECTED,
    RoutingEvent.CHECK_FAILS,
    RoutingEvent.DOWN,
    RoutingEvent.MAINTENANCE,
    RoutingEvent.SCALE_OUT,
    RoutingEvent.REMOVED,
    RoutingEvent.MOVED,
    RoutingEvent.RELOAD,
    RoutingEvent.RESTART,
    RoutingEvent.SECOND_PROXY,
)
"""The routing events in the order in which they make the plainest story; without those that concern the key itself,
which no configuration survives."""

BROWSER = Client(
    "EventSource", Truth.YES, Truth.YES, Truth.NO, False, "every EventSource sends it back once it holds an id"
)
"""The client of a deployment that names none."""


@dataclass(frozen=True)
class Choice:
    """One hop: how many members it chooses among, and what brings a client back to its own.

    `kind` is route | replicas | workers | unknown, the last for whatever runs a server that nothing in the tree starts.
    """

    kind: str
    name: str
    members: Count
    affinity: Affinity | None = None
    rolling: Rolling = Rolling.REPLACED
    rolling_evidence: Evidence = ()
    evidence: Evidence = ()
    route: Route | None = None
    pool: Pool | None = None

    @property
    def is_several(self) -> bool:
        """Whether there is certainly, at some time, more than one member as written (a range counts)."""
        return self.members.low > 1 or (self.members.high is not None and self.members.high > 1)

    @property
    def is_open(self) -> bool:
        """Whether nobody can say how many members there are."""
        return self.members.low <= 1 and self.members.high is None


class Detour(NamedTuple):
    """A reason for which a reconnect may meet another process: the routing event, and the hop that then does so."""

    event: str
    choice: Choice


@dataclass(frozen=True)
class Way:
    """One way in which the hops can turn out: several processes or one at a time; the detours; and whether a client is
    brought back to its process at all (best effort suffices, and so does there being no other)."""

    several: bool
    detours: tuple[Detour, ...] = ()
    returns: bool = True

    @property
    def elsewhere(self) -> tuple[str, ...]:
        """The events after which a reconnect may meet another process, the plainest first."""
        events = dict.fromkeys(d.event for d in self.detours)
        return tuple(sorted(events, key=lambda event: event != RoutingEvent.PLAIN.value))

    def detour(self, event: str) -> Detour | None:
        """The outermost hop that brings a client elsewhere after this event."""
        return next((d for d in self.detours if d.event == event), None)


def choices(deployment: Deployment) -> tuple[Choice, ...]:
    """The hops as choices, outermost first; at the end one of unknown size where no pool says how many processes run
    and each route has one member, behind which there may be several."""
    found: list[Choice] = []
    for hop in deployment.hops:
        if hop.route is not None:
            route = hop.route
            places = route.affinity.evidence or route.evidence
            if route.last_event_id is CursorTreatment.ROUTED_ON:
                places = route.last_event_id_evidence or places
            found.append(Choice("route", route.name, route.members, route.affinity, evidence=places, route=route))
        elif hop.pool is not None:
            found += [_of_pool(p) for p in (hop.pool, hop.pool.workers) if p is not None]
    found = list(dict.fromkeys(found))  # a pool's workers may be a hop of their own as well
    if deployment.candidates or not any(c.pool or c.is_several or c.is_open for c in found):
        found.append(_whatever_runs(deployment))
    return tuple(found)


def _of_pool(pool: Pool) -> Choice:
    kind = "workers" if pool.kind == "workers" else "replicas"
    released = pool.rolling_evidence or pool.evidence
    return Choice(kind, pool.name, pool.processes, None, pool.rolling, released, pool.evidence, pool=pool)


def _whatever_runs(deployment: Deployment) -> Choice:
    if deployment.candidates:
        why = f"one of {', '.join(deployment.candidates)} is in front of it, and nothing says which"
    else:
        why = "nothing in the tree says how many processes run it"
    return Choice("unknown", f"whatever runs {deployment.stream.path}", Count.unknown(why))


def ways(deployment: Deployment, *, without_workers: bool = False) -> tuple[Way, ...]:
    """Every way in which the chain can turn out. `without_workers` leaves out worker pools: for a server that refuses
    to start with more than one."""
    clients = senders(deployment)
    chain = [c for c in choices(deployment) if not (without_workers and c.kind == "workers")]
    if deployment.candidates:
        chain = chain[-1:]
    joined = {Way(False): None}
    for choice in chain:
        pairs = product(joined, _ways_of(choice, clients))
        joined = dict.fromkeys(_both(outer, inner) for outer, inner in pairs)
    return tuple(joined)


def _both(outer: Way, inner: Way) -> Way:
    """Two hops behind each other."""
    detours = (*outer.detours, *inner.detours)
    return Way(outer.several or inner.several, detours, outer.returns and inner.returns)


def elsewhere(choice: Choice, clients: tuple[Client, ...]) -> Truth:
    """Whether this hop can bring a reconnect to another process."""
    outcomes = {bool(way.detours) for way in _ways_of(choice, clients)}
    return Truth.of(outcomes.pop() if len(outcomes) == 1 else None)


def _ways_of(choice: Choice, clients: tuple[Client, ...]) -> tuple[Way, ...]:
    several = [_several(choice, strength, clients) for strength in strengths(choice, clients)]
    if choice.is_several:
        return tuple(dict.fromkeys(several))
    if choice.is_open:
        return tuple(dict.fromkeys((Way(False), *several)))
    if choice.rolling is Rolling.SURGE_WRITTEN:
        return (_released(choice),)
    if choice.rolling is Rolling.SURGE_DEFAULT:
        return Way(False), _released(choice)
    return (Way(False),)


def _released(choice: Choice) -> Way:
    return Way(True, (Detour(RELEASE, choice),))


def _several(choice: Choice, strength: Strength, clients: tuple[Client, ...]) -> Way:
    """What a hop over several members does, with an affinity of this strength for the clients at hand."""
    route, affinity = choice.route, choice.affinity
    if route is not None and route.last_event_id is CursorTreatment.ROUTED_ON:
        return Way(True, (Detour(ROUTED_ON_CURSOR, choice),), False)
    if affinity is None or strength is Strength.NONE:
        return Way(True, (Detour(RoutingEvent.PLAIN.value, choice),), _some_return(affinity, clients))
    events = [e.value for e in _moving(affinity)] if strength is Strength.BEST_EFFORT else []
    if strength is Strength.BEST_EFFORT and not events:
        events = [AFFINITY_FAILS]
    if affinity.key.seconds is not None:
        events.append(RoutingEvent.KEY_LAPSED.value)
    return Way(True, tuple(Detour(event, choice) for event in events))


def _moving(affinity: Affinity) -> list[RoutingEvent]:
    moving = {e for e, meets in affinity.events if meets in (Meets.OTHER, Meets.DEPENDS)}
    return [e for e in TOLD_FIRST if e in moving]


# -- clients


def senders(deployment: Deployment) -> tuple[Client, ...]:
    """The clients that may present a cursor; those that never do are moved about without harm."""
    clients = deployment.clients or (BROWSER,)
    return tuple(c for c in clients if c.sends_last_event_id is not Truth.NO)


def strengths(choice: Choice, clients: Iterable[Client]) -> tuple[Strength, ...]:
    """How well the hop may pin these clients: nothing is pinned by a key that a client does not return."""
    affinity = choice.affinity
    if affinity is None or affinity.strength is Strength.NONE:
        return (Strength.NONE,)
    possible: tuple[Strength, ...] = (affinity.strength,)
    if affinity.strength is Strength.UNKNOWN:
        possible = (Strength.NONE, Strength.BEST_EFFORT, Strength.STRICT)
    returned = {_returns(affinity, client) for client in clients}
    if Truth.NO in returned:
        return (Strength.NONE,)
    return tuple(dict.fromkeys((Strength.NONE, *possible))) if Truth.UNKNOWN in returned else possible


def forgetful(choice: Choice, clients: Iterable[Client]) -> Client | None:
    """A client that does not return the key of this hop's affinity."""
    affinity = choice.affinity
    if affinity is None:
        return None
    return next((c for c in clients if _returns(affinity, c) is not Truth.YES), None)


def _returns(affinity: Affinity, client: Client) -> Truth:
    """Whether the client presents the routing key when it reconnects. Path, query and address come by themselves, and
    so does a header that the client itself chooses."""
    if affinity.key.carrier is KeyCarrier.COOKIE:
        return client.keeps_cookies
    if affinity.key.carrier is KeyCarrier.HEADER and affinity.key.issued_by is not KeyIssuer.CLIENT:
        return client.keeps_session_header
    return Truth.YES


def _some_return(affinity: Affinity | None, clients: Iterable[Client]) -> bool:
    """Whether a cookie brings back some clients at least. Where the settings name nobody, clients of several languages
    come, of which some keep cookies and some do not: nothing may rest on it, and it is affinity all the same."""
    if affinity is None or affinity.strength in (Strength.NONE, Strength.UNKNOWN):
        return False
    return affinity.key.carrier is KeyCarrier.COOKIE and not any(c.named for c in clients)


def stripping(deployment: Deployment) -> Route | None:
    """The first hop that removes `Last-Event-ID` on the way."""
    routes = (hop.route for hop in deployment.hops if hop.route is not None)
    return next((r for r in routes if r.last_event_id is CursorTreatment.STRIPPED), None)
