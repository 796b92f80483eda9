"""Envoy listeners, virtual hosts and routes as facts: which requests go to which cluster, with what affinity.

The first route of a virtual host that matches wins, so what an earlier one leaves nothing of is no route.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from sselint.facts import Affinity, Count, CursorTreatment, Evidence, Match, Route, Span, Strength
from sselint.read.envoy import headers, timeouts
from sselint.read.envoy.affinity import Choice, judge, read_retry, unknown, written
from sselint.read.envoy.clusters import Cluster, Clusters
from sselint.read.envoy.fields import field, has, line, typed
from sselint.read.envoy.keys import Session, session_on
from sselint.read.envoy.matches import RouteMatch, Taken, domains, host_rank, routes_of
from sselint.read.envoy.replicas import told_by_header
from sselint.read.envoy.resources import Names
from sselint.read.yaml_nodes import Node

_EACH_HOST = 10_000
"""Distance in priority between virtual hosts: more routes than any of them has."""


@dataclass(frozen=True)
class Manager:
    """An HttpConnectionManager (or the piece of one that there is) and the lines that lead to it."""

    node: Node
    name: str
    evidence: Evidence = ()
    addresses: frozenset[str] = frozenset()

    lone_filter: Node | None = None
    """The only filter there is, where a file holds nothing but that."""

    @property
    def filters(self) -> tuple[Node, ...]:
        """Its HTTP filters."""
        return (self.lone_filter,) if self.lone_filter else tuple(field(self.node, "http_filters"))


@dataclass(frozen=True)
class Entry:
    """A route of a virtual host before it is a fact: its place in the chain, its match and its choice."""

    node: Node
    match: RouteMatch
    action: Node
    clusters: tuple[Cluster, ...]
    levels: tuple[Node, ...]
    split: Span | None = None


class RouteReader:
    """Reads the routes of one tree's Envoy configuration."""

    def __init__(self, clusters: Clusters, tables: Names) -> None:
        self._clusters = clusters
        self._tables = tables
        self.used_tables: set[int] = set()

    def listener(self, node: Node) -> Iterator[Route]:
        """The routes behind a listener, filter chain by filter chain."""
        name = node["name"].text or "listener"
        evidence = (line(node, "name", f"listener {name}"),)
        chains = [*field(node, "filter_chains"), field(node, "default_filter_chain")]
        addresses = frozenset({name} if has(node, "internal_listener") else ())
        for chain in chains:
            for entry in field(chain, "filters"):
                kind, config = typed(entry)
                if kind == "HttpConnectionManager":
                    yield from self.manager(Manager(config, f"listener {name}", evidence, addresses))
                elif kind == "TcpProxy":
                    yield from self._tcp(config, name, evidence, addresses)

    def manager(self, manager: Manager) -> Iterator[Route]:
        """The routes of a connection manager; a fragment of one without a route configuration is a route of its own."""
        table, named = field(manager.node, "route_config"), field(manager.node, "rds", "route_config_name").text
        found = table if table else self._tables.find(named, manager.node)
        if found is not None:
            self.used_tables.add(id(found.raw))
            yield from self.table(found, manager)
        else:
            why = f"route configuration {named} is not in the tree" if named else "no routes in this piece"
            yield from self._fragment(manager, why)

    def table(self, table: Node, manager: Manager | None = None) -> Iterator[Route]:
        """The routes of a route configuration."""
        hosts = list(field(table, "virtual_hosts"))
        order = sorted(range(len(hosts)), key=lambda i: host_rank(domains(hosts[i])))
        for rank, index in enumerate(order):
            yield from self.host(hosts[index], table, manager, rank * _EACH_HOST)

    def host(self, host: Node, table: Node, manager: Manager | None, first: int = 0) -> Iterator[Route]:
        """The routes of a virtual host, in the order in which they are tried."""
        entries = list(self._entries(host, table))
        choices = [_choice(entry, host, manager) for entry in entries]
        sticky = frozenset(i for i, choice in enumerate(choices) if choice.session is not None)
        told = told_by_header([(e.match, e.clusters, e.node) for e in entries], sticky)
        for index, (entry, choice) in enumerate(zip(entries, choices, strict=True)):
            route = _route(entry, choice, host, manager, first + index)
            yield replace(route, affinity=told[index]) if index in told else route

    def _entries(self, host: Node, table: Node) -> Iterator[Entry]:
        taken = Taken()
        for node, match in routes_of(host):
            dead = taken.leaves_nothing_of(match)
            taken.add(match)
            action = node["route"]
            if dead or not match.streams or not action.is_mapping:
                continue
            yield self._entry(node, match, action, (table, host, node))

    def _entry(self, node: Node, match: RouteMatch, action: Node, levels: tuple[Node, ...]) -> Entry:
        weighted = list(field(action, "weighted_clusters", "clusters"))
        taken = [w for w in weighted if w["weight"].number != 0] or weighted
        split = None
        if len({w["name"].text for w in taken}) > 1:
            split = line(action, "weighted_clusters", "each request draws its cluster by weight")
        elif cursor := [c for c in match.conditions if c.header == headers.HEADER]:
            split = cursor[0].node.line_span("the cluster depends on Last-Event-ID")
        elif not match.whole:
            split = line(node["match"], "runtime_fraction", "only a share of the requests takes this route")
        names = list(dict.fromkeys(w["name"].text for w in taken)) or [action["cluster"].text]
        clusters = tuple(self._clusters.find(n, node) for n in names)
        return Entry(node, match, action, clusters, (*levels, *taken), split)

    def lone_filter(self, entry: Node) -> Iterator[Route]:
        """An entry of an HTTP filter chain that stands alone in its file."""
        yield from self._fragment(Manager(Node(entry.source, None), "http filter", lone_filter=entry), "only a filter")

    def _fragment(self, manager: Manager, why: str) -> Iterator[Route]:
        """A piece of a configuration that names no cluster speaks only of sessions."""
        session = session_on(manager.filters, (), filters_known=True)
        switched_off = [f for f in manager.filters if typed(f)[0] == "StatefulSession" and f["disabled"].truth]
        if session is None and not switched_off:
            return
        cluster = Cluster("", None, None, Count.unknown(why))
        if session is not None:
            place = session.span
            affinity = judge(Choice((cluster,), session))
        else:
            place = line(switched_off[0], "disabled", "enabled by a route, if at all")
            affinity = unknown("stateful session", "routes that are not here enable the session, if at all", (place,))
        removed = tuple(headers.removals(manager.node, manager.filters, ()))
        yield Route(
            path=place.path,
            line=place.line,
            format="envoy",
            name=f"{manager.name} -> cluster not named here",
            pool="",
            members=cluster.members,
            affinity=affinity,
            resolves="all",
            fragment=True,
            last_event_id=CursorTreatment.STRIPPED if removed else CursorTreatment.PASSED,
            last_event_id_evidence=removed,
            evidence=(*manager.evidence, *affinity.evidence),
        )

    def _tcp(self, config: Node, listener: str, evidence: Evidence, addresses: frozenset[str]) -> Iterator[Route]:
        """A tcp_proxy filter: connections, and so each reconnect, are balanced without looking into them."""
        entry = self._entry(config, RouteMatch((), ()), config, ())
        choice = Choice(entry.clusters, None, written(config, "hash_policy"), split=entry.split, tcp=True)
        affinity = judge(choice)
        pool = ", ".join(c.name for c in entry.clusters) or "?"
        lines = (*evidence, line(config, "cluster", f"cluster {pool}"))
        yield Route(
            path=config.source.path,
            line=lines[-1].line,
            format="envoy",
            name=f"listener {listener} -> cluster {pool}",
            pool=pool,
            members=_members(entry.clusters),
            affinity=affinity,
            targets=tuple(t for c in entry.clusters for t in c.targets),
            addresses=addresses,
            resolves="one" if entry.clusters[0].resolves == "one" else "all",
            evidence=(*lines, *(s for c in entry.clusters for s in c.evidence)),
        )

    def bare_cluster(self, node: Node) -> Route:
        """A cluster that no route here leads to: its members are known, who sends to it and how is not."""
        cluster = self._clusters.read(node)
        policy = cluster.policy.name if cluster.policy else ""
        why = "the routes to this cluster are not in the tree"
        affinity = unknown(policy or "load balancing", why, cluster.evidence)
        return Route(
            path=node.source.path,
            line=node.span().line,
            format="envoy",
            name=f"cluster {cluster.name}",
            pool=cluster.name,
            members=cluster.members,
            affinity=affinity,
            targets=cluster.targets,
            resolves="one" if cluster.resolves == "one" else "all",
            evidence=cluster.evidence,
        )


def _route(entry: Entry, choice: Choice, host: Node, manager: Manager | None, priority: int) -> Route:
    affinity = _narrowed(judge(choice), choice, entry.match)
    treatment, cursor = _cursor(entry, manager, choice)
    pool = ", ".join(c.name for c in entry.clusters) or "?"
    names = [manager.name] if manager else []
    names += [f"virtual host {host['name'].text}"] if host["name"].text else []
    place = entry.node["match"] or entry.node
    return Route(
        path=entry.node.source.path,
        line=entry.node.span().line,
        format="envoy",
        name=" -> ".join([*names, f"cluster {pool}"]),
        pool=pool,
        members=_members(entry.clusters),
        affinity=affinity,
        match=Match(entry.match.paths, domains(host), entry.match.headers, priority),
        targets=tuple(t for c in entry.clusters for t in c.targets),
        addresses=manager.addresses if manager else frozenset(),
        resolves="one" if entry.clusters[0].resolves == "one" else "all",
        last_event_id=treatment,
        last_event_id_evidence=cursor,
        observations=timeouts.observed(
            entry.action,
            manager.node if manager else None,
            _retry_policy(entry, host),
            [c.options for c in entry.clusters if c.options is not None],
        ),
        evidence=_chain(entry, host, manager, place),
    )


def _choice(entry: Entry, host: Node, manager: Manager | None) -> Choice:
    return Choice(
        clusters=entry.clusters,
        session=session_on(manager.filters if manager else (), entry.levels, filters_known=manager is not None),
        hash_policies=written(entry.action, "hash_policy"),
        retry=read_retry(_retry_policy(entry, host)),
        split=entry.split,
        split_by_hash=bool(field(entry.action, "weighted_clusters", "use_hash_policy").truth),
        metadata_match=has(entry.action, "metadata_match"),
    )


def _retry_policy(entry: Entry, host: Node) -> Node:
    """The retry policy in force: the most specific that is written, of the route, the virtual host or the cluster."""
    own = [field(c.options, "retry_policy") for c in entry.clusters if c.options is not None]
    policies = [field(entry.action, "retry_policy"), field(host, "retry_policy"), *own]
    return next((p for p in policies if p), Node(entry.node.source, None))


def _members(clusters: Sequence[Cluster]) -> Count:
    if len(clusters) == 1:
        return clusters[0].members
    highs = [c.members.high for c in clusters]
    high = None if None in highs else sum(h for h in highs if h is not None)
    why = " and ".join(dict.fromkeys(c.members.why for c in clusters))
    return Count(sum(c.members.low for c in clusters), high, why)


def _chain(entry: Entry, host: Node, manager: Manager | None, place: Node) -> Evidence:
    lines: list[Span] = list(manager.evidence) if manager else []
    lines.append(line(host, "name", f"virtual host {host['name'].text or '?'}"))
    lines.append(place.line_span("match"))
    lines.append(line(entry.action, "cluster", "route"))
    lines += [entry.split] if entry.split else []
    for cluster in entry.clusters:
        lines += cluster.evidence
        lines += [cluster.policy.span] if cluster.policy else []
    return tuple(dict.fromkeys(lines))


def _cursor(entry: Entry, manager: Manager | None, choice: Choice) -> tuple[CursorTreatment, Evidence]:
    node = manager.node if manager else Node(entry.node.source, None)
    removed = tuple(dict.fromkeys(headers.removals(node, manager.filters if manager else (), entry.levels)))
    if removed:
        return CursorTreatment.STRIPPED, removed
    conditions = [c for c in entry.match.conditions if c.header == headers.HEADER]
    matched = [c.node.line_span("chosen by Last-Event-ID") for c in conditions]
    hashed = [
        line(h, "header_name", "Last-Event-ID is hashed")
        for p in choice.hash_policies
        if (h := field(p, "header")) and (field(h, "header_name").text or "").lower() == headers.HEADER
    ]
    evidence = (*matched, *hashed)
    return (CursorTreatment.ROUTED_ON if evidence else CursorTreatment.PASSED), evidence


def _narrowed(affinity: Affinity, choice: Choice, match: RouteMatch) -> Affinity:
    """A cookie that is issued for a path that none of the route's requests has is never returned to it."""
    session: Session | None = choice.session
    path = session.key.path if session is not None else ""
    if path in {"", "/"} or not match.paths or affinity.strength is Strength.UNKNOWN or session is None:
        return affinity
    if any(kind == "regex" or value.startswith(path) or path.startswith(value) for kind, value in match.paths):
        return affinity
    plain = judge(replace(choice, session=None))
    never = session.key.span.noted(f"the cookie is for {path}, which this route never takes")
    return replace(plain, no_effect=(never,))
