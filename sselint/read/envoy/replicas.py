"""Routes by a header's value to clusters of one replica each: affinity by data instead of by a balancing policy.

Told from routing by content (a tool's name, a version) by the members: they are those of the route behind the
conditions, or the header is one that a server issues to a session.
"""

from __future__ import annotations

from collections.abc import Sequence

from sselint.facts import Affinity, Evidence
from sselint.read.envoy.affinity import told_apart, unknown
from sselint.read.envoy.clusters import Cluster
from sselint.read.envoy.headers import HEADER as LAST_EVENT_ID
from sselint.read.envoy.keys import header_kind
from sselint.read.envoy.matches import RouteMatch
from sselint.read.yaml_nodes import Node

Candidate = tuple[RouteMatch, tuple[Cluster, ...], Node]

_SESSION = frozenset({"server"})


def told_by_header(entries: Sequence[Candidate], sticky: frozenset[int]) -> dict[int, Affinity]:
    """The affinities, by position, of the routes that a header's value tells apart, and of the route behind them.

    `sticky` are the positions with a stateful session, which decides where the header changes with each request.
    """
    groups: dict[str, list[int]] = {}
    for position, (match, clusters, _) in enumerate(entries):
        if len(match.conditions) != 1 or len(clusters) != 1:
            continue
        header = match.conditions[0].header
        if position not in sticky if header == LAST_EVENT_ID else clusters[0].members.high == 1:
            groups.setdefault(header, []).append(position)
    told: dict[int, Affinity] = {}
    for header, positions in groups.items():
        behind = next((i for i, e in enumerate(entries) if i > positions[-1] and not e[0].conditions), None)
        names = {entries[i][1][0].name for i in positions}
        if len(names) < 2 or not _are_replicas(header, [entries[i] for i in positions], entries, behind):
            continue
        for position in positions:
            told[position] = _affinity(header, entries[position])
        if behind is not None and header != LAST_EVENT_ID:
            told[behind] = _behind(header, [entries[i] for i in positions])
    return told


def _are_replicas(header: str, routes: Sequence[Candidate], entries: Sequence[Candidate], behind: int | None) -> bool:
    if header == LAST_EVENT_ID or header_kind(header) in _SESSION:
        return True
    if behind is None:
        return False
    own = {(t.host, t.port) for _, clusters, _ in routes for t in clusters[0].targets}
    theirs = {(t.host, t.port) for c in entries[behind][1] for t in c.targets}
    return len(own) > 1 and own <= theirs


def _affinity(header: str, route: Candidate) -> Affinity:
    match, clusters, _ = route
    condition = match.conditions[0]
    evidence: Evidence = (condition.node.line_span(f"chosen by {header}"),)
    if header == LAST_EVENT_ID and not condition.by_range:
        why = "whether an id names the process that made it is the application's doing"
        return unknown("route by Last-Event-ID", why, evidence)
    return told_apart(header, header_kind(header), clusters[0], evidence)


def _behind(header: str, routes: Sequence[Candidate]) -> Affinity:
    """What is met by a request that no condition takes: the first one always, a later one if the application's values
    do not name a replica as the conditions expect."""
    evidence = tuple(match.conditions[0].node.line_span(f"chosen by {header}") for match, _, _ in routes)
    why = f"requests whose {header} names a replica go there; whether the application's values do is not in this file"
    return unknown(f"route by {header}", why, evidence)
