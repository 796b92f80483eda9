"""SSE3xx and SSE6xx: what the hops do with a client that comes back, and what makes it come back."""

from __future__ import annotations

from collections.abc import Iterator

from sselint.checks.registry import Part, deployment_check
from sselint.facts import (
    CursorTreatment,
    Evidence,
    KeyIssuer,
    Meets,
    Route,
    RoutingEvent,
    Scope,
    Strength,
)
from sselint.findings import Judgement

MOVES = (Meets.OTHER, Meets.DEPENDS)
TABLE_EVENTS = (RoutingEvent.RELOAD, RoutingEvent.RESTART, RoutingEvent.SECOND_PROXY)
IN_WORDS = {
    RoutingEvent.KEY_LOST: "the client loses the key",
    RoutingEvent.KEY_LAPSED: "the key lapses",
    RoutingEvent.DOWN: "its server is down",
    RoutingEvent.DOWN_DETECTED: "a check finds its server down",
    RoutingEvent.DRAIN: "its server is drained",
    RoutingEvent.MAINTENANCE: "its server is in maintenance",
    RoutingEvent.CHECK_FAILS: "a health check fails",
    RoutingEvent.REMOVED: "its server is removed",
    RoutingEvent.MOVED: "its server comes back under a new address",
    RoutingEvent.SCALE_OUT: "a server is added",
    RoutingEvent.RELOAD: "the proxy is reloaded",
    RoutingEvent.RESTART: "the proxy is restarted",
    RoutingEvent.SECOND_PROXY: "the request passes a second proxy",
}


def _routes(judgement: Judgement) -> Iterator[Route]:
    """The routes of the way that choose among more than one member."""
    for hop in judgement.deployment.hops:
        if hop.route is not None and hop.route.members.high != 1:
            yield hop.route


def _places(route: Route) -> Evidence:
    return route.affinity.evidence or route.evidence


def _moving(route: Route) -> list[RoutingEvent]:
    return [event for event, meets in route.affinity.events if meets in MOVES and event in IN_WORDS]


def _special(route: Route) -> bool:
    """Whether a more precise code than "best effort" or "none" says what is wrong with the route."""
    return (
        route.last_event_id is CursorTreatment.ROUTED_ON
        or bool(route.affinity.no_effect)
        or _only_hashes_servers_key(route)
    )


def _only_hashes_servers_key(route: Route) -> bool:
    return route.affinity.key.issued_by is KeyIssuer.SERVER and route.affinity.meets(RoutingEvent.INIT) in MOVES


@deployment_check("SSE301")
def best_effort(judgement: Judgement) -> Iterator[Part]:
    """The affinity holds until something happens to the server, which is when clients reconnect."""
    for route in _routes(judgement):
        if route.affinity.strength is not Strength.BEST_EFFORT or _special(route):
            continue
        own = [event for event in _moving(route) if event not in (RoutingEvent.KEY_LOST, RoutingEvent.KEY_LAPSED)]
        when = f"; a client is moved when {IN_WORDS[own[0]]}" if own else ""
        yield Part(f"{route.name}: {route.affinity.mechanism} is best effort{when}", _places(route))


@deployment_check("SSE302")
def no_affinity(judgement: Judgement) -> Iterator[Part]:
    """Nothing brings a client back to the process that it was connected to."""
    for route in _routes(judgement):
        if route.affinity.strength is Strength.NONE and not _special(route):
            yield Part(f"{route.name}: {route.affinity.why}", _places(route))


@deployment_check("SSE303")
def routes_on_cursor(judgement: Judgement) -> Iterator[Part]:
    """The hop chooses by `Last-Event-ID`, a header that the first connection does not have."""
    for route in _routes(judgement):
        if route.last_event_id is CursorTreatment.ROUTED_ON:
            places = route.last_event_id_evidence or _places(route)
            yield Part(f"{route.name} chooses by Last-Event-ID, which no first request carries", places)


@deployment_check("SSE304")
def no_effect(judgement: Judgement) -> Iterator[Part]:
    """Affinity that is written down and does nothing."""
    for route in _routes(judgement):
        if route.affinity.no_effect:
            note = route.affinity.no_effect[0].note or "it does nothing as written"
            yield Part(f"{route.name}: affinity without effect: {note}", route.affinity.no_effect)


@deployment_check("SSE305")
def table_lost(judgement: Judgement) -> Iterator[Part]:
    """The table that remembers who belongs where is lost with the proxy, or a second proxy does not have it."""
    for route in _routes(judgement):
        lost = [event for event in _moving(route) if event in TABLE_EVENTS]
        if lost and route.affinity.strength is not Strength.NONE:
            when = " or ".join(IN_WORDS[event] for event in lost)
            yield Part(f"{route.name}: {route.affinity.mechanism} forgets its clients when {when}", _places(route))


@deployment_check("SSE306")
def key_lapses(judgement: Judgement) -> Iterator[Part]:
    """The key lapses while a stream is open, so that the reconnect is balanced anew."""
    for route in _routes(judgement):
        seconds = route.affinity.key.seconds
        if seconds is not None and route.affinity.strength is not Strength.NONE:
            name = f"`{route.affinity.key.name}` " if route.affinity.key.name else ""
            yield Part(f"{route.name}: the key {name}lapses after {seconds:.9g} s, open stream or not", _places(route))


@deployment_check("SSE307")
def server_key_hashed(judgement: Judgement) -> Iterator[Part]:
    """The server issues the key and the hop only hashes it: that never points at the process that issued it."""
    for route in _routes(judgement):
        if _only_hashes_servers_key(route):
            key = route.affinity.key.name or "the key"
            message = f"{route.name} hashes {key}, which the server issues: the hash names another process"
            yield Part(message, _places(route))


@deployment_check("SSE308")
def undone(judgement: Judgement) -> Iterator[Part]:
    """Something else in the file undoes the affinity."""
    for route in _routes(judgement):
        if route.affinity.undone_by and route.affinity.strength is not Strength.NONE:
            first = route.affinity.undone_by[0]
            what = first.note or f"line {first.line}"
            yield Part(f"{route.name}: {route.affinity.mechanism} is undone: {what}", route.affinity.undone_by)


@deployment_check("SSE309")
def cursor_stripped(judgement: Judgement) -> Iterator[Part]:
    """A hop removes `Last-Event-ID` while ids are sent, so that every resumption begins anew."""
    if judgement.deployment.stream.ids.scope is Scope.NONE:
        return
    for hop in judgement.deployment.hops:
        if hop.route is not None and hop.route.last_event_id is CursorTreatment.STRIPPED:
            places = hop.route.last_event_id_evidence or _places(hop.route)
            yield Part(f"{hop.route.name} removes Last-Event-ID, so no cursor reaches the server", places)


def _observed(judgement: Judgement, code: str) -> Iterator[Part]:
    for hop in judgement.deployment.hops:
        for observation in hop.route.observations if hop.route else ():
            if observation.code == code:
                yield Part(observation.why, observation.evidence)


@deployment_check("SSE601")
def envoy_route_timeout(judgement: Judgement) -> Iterator[Part]:
    """Envoy's route timeout ends a stream that is alive."""
    return _observed(judgement, "SSE601")


@deployment_check("SSE602")
def nginx_read_timeout(judgement: Judgement) -> Iterator[Part]:
    """nginx's read timeout ends a stream that is silent."""
    return _observed(judgement, "SSE602")


@deployment_check("SSE603")
def haproxy_server_timeout(judgement: Judgement) -> Iterator[Part]:
    """HAProxy's server timeout ends a stream that is silent."""
    return _observed(judgement, "SSE603")


@deployment_check("SSE604")
def gzip_under_buffering(judgement: Judgement) -> Iterator[Part]:
    """gzip of event streams under buffering holds events back."""
    return _observed(judgement, "SSE604")


@deployment_check("SSE605")
def haproxy_delay(judgement: Judgement) -> Iterator[Part]:
    """HAProxy without `option http-no-delay` delays every event."""
    return _observed(judgement, "SSE605")
