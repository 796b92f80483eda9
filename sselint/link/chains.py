"""Which hops stand in front of a pool: routes and pools joined by the names that they forward to and answer to.

A chain is one way from the client to the process, outermost hop first. Each hop in it is a real choice among members:
where a balancer reaches the replicas one by one (it resolves every address, or balances over a Service's endpoints),
the replicas are *its* members, and the Service or the name in between chooses nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from math import inf
from os.path import commonpath

from sselint.deployment import Hop
from sselint.facts import Count, CursorTreatment, Pool, Rolling, Route, Stream, Strength
from sselint.link.matching import most_specific, serves
from sselint.link.pools import PoolLink, servers
from sselint.link.units import folders_above, inside

MAX_DEPTH = 8
"""Hops in one chain; more is a loop of names."""


@dataclass(frozen=True)
class Chain:
    """Hops, outermost first, and the pools that they end in (more than one where a route names them one by one)."""

    hops: tuple[Hop, ...]
    pools: tuple[PoolLink, ...]

    @property
    def routes(self) -> tuple[Route, ...]:
        """The routes of the chain."""
        return tuple(h.route for h in self.hops if h.route)


class RouteLinker:
    """Answers which chains lead to the pools of a stream, for one tree."""

    def __init__(self, routes: Sequence[Route], pools: Sequence[Pool]) -> None:
        self._routes = tuple(routes)
        self._inner = {id(r): self._nodes_behind(r, [*routes, *pools]) for r in routes}

    def chains(self, stream: Stream, pools: Sequence[PoolLink]) -> tuple[Chain, ...]:
        """The chains that lead to these pools for the stream's path."""
        serving = most_specific([r for r in self._routes if serves(r, stream) and self.reaches(r, pools)])
        behind = {id(n) for r in serving for n in self._inner[id(r)]}
        outermost = [r for r in serving if id(r) not in behind]
        outermost = [r for r in outermost if not _is_only_a_name(r)] or outermost
        chains = [_collapse(path, ends) for r in outermost for path, ends in self._ways([r], serving, pools)]
        return _conditions_merged(chains)

    def unlinked_in_front(self, stream: Stream, streams: Sequence[Stream]) -> tuple[Route, ...]:
        """The routes that may be in front of the stream although no name says so: those of the nearest folder at or
        above the stream's unit that has any, if the stream's server is the only one there. Routes whose targets are
        known to be something else in the tree are not among them."""
        own = {app.path for app in stream.apps}
        for folder in folders_above(stream.unit):
            near = [r for r in self._routes if inside(r.path, folder) and serves(r, stream)]
            near = [r for r in near if not self._leads_to_a_pool(r)]
            inner = {id(n) for r in near for n in self._inner[id(r)]}
            near = [r for r in near if id(r) not in inner]
            if near:
                alone = servers(s for s in streams if inside(s.path, folder)) <= own
                return tuple(most_specific(near)) if alone else ()
        return ()

    # -- the graph of names

    def _nodes_behind(self, route: Route, nodes: Sequence[Route | Pool]) -> tuple[Route | Pool, ...]:
        """What the route forwards to. Where a name stands in several places of the tree, the nearest one is meant."""
        behind: list[Route | Pool] = []
        for host in dict.fromkeys(t.host for t in route.targets):
            named = [n for n in nodes if n is not route and host in n.addresses and _may_meet(route, n)]
            nearest = max((_nearness(route.path, n.path) for n in named), default=0)
            behind += [n for n in named if _nearness(route.path, n.path) == nearest and n not in behind]
        return tuple(behind)

    def _leads_to_a_pool(self, route: Route, depth: int = 0) -> bool:
        """Whether the names that the route forwards to end in something that the tree runs."""
        inner = self._inner[id(route)]
        if any(isinstance(n, Pool) for n in inner):
            return True
        routes = (n for n in inner if isinstance(n, Route))
        return depth < MAX_DEPTH and any(self._leads_to_a_pool(r, depth + 1) for r in routes)

    def reaches(self, route: Route, pools: Sequence[PoolLink], depth: int = 0) -> bool:
        """Whether the names that the route forwards to lead to one of the pools, whatever the path of a request."""
        inner = self._inner[id(route)]
        if any(_is(p.pool, n) for n in inner for p in pools):
            return True
        return depth < MAX_DEPTH and any(isinstance(n, Route) and self.reaches(n, pools, depth + 1) for n in inner)

    def _ways(
        self, path: list[Route], serving: Sequence[Route], pools: Sequence[PoolLink]
    ) -> Iterator[tuple[list[Route], list[PoolLink]]]:
        """Every way from the last route of `path` to the pools: the routes, and the pools that the last one names."""
        inner = self._inner[id(path[-1])]
        ends = [p for p in pools if any(_is(p.pool, n) for n in inner)]
        if ends:
            yield path, ends
        for node in inner:
            if isinstance(node, Route) and node in serving and node not in path and len(path) < MAX_DEPTH:
                yield from self._ways([*path, node], serving, pools)


def _is_only_a_name(route: Route) -> bool:
    """A headless Service: nobody balances there, and a proxy that names its pods one by one never meets it."""
    return route.format == "kubernetes_service" and route.answers == "each"


def _is(pool: Pool, node: Route | Pool) -> bool:
    """Whether a node of the graph is this pool, which may have been completed by what its image says since."""
    return isinstance(node, Pool) and all(
        getattr(pool, name) == getattr(node, name) for name in ("path", "line", "kind", "name", "variant")
    )


def _may_meet(route: Route, node: Route | Pool) -> bool:
    return not route.variant or not node.variant or route.variant == node.variant


def _nearness(one: str, other: str) -> int:
    """How many folders two files have in common; the same file is nearest of all."""
    if one == other:
        return 1_000
    try:
        common = commonpath([one, other])
    except ValueError:
        return 0
    return len(common.split("/")) if common else 0


def named_by_what_mounts_them(routes: Sequence[Route], pools: Sequence[Pool]) -> tuple[Route, ...]:
    """The routes with the names of the containers that their files are mounted into: a proxy that compose runs is
    reached by its service's name, which its own configuration does not say."""
    mounts = [(v.source, p) for p in pools for v in p.volumes if v.source and not _mounts_its_own(p, v.source)]

    def names(route: Route) -> frozenset[str]:
        holders = [p for source, p in mounts if inside(route.path, source) and _may_meet(route, p)]
        return frozenset(name for p in holders for name in p.addresses)

    return tuple(replace(r, addresses=r.addresses | found) if (found := names(r)) else r for r in routes)


def _mounts_its_own(pool: Pool, source: str) -> bool:
    """A mount of the sources that the image is built from, as in development: what lies there configures anything."""
    return source == "." or (pool.build_context is not None and inside(source, pool.build_context))


# -- from names to hops


def _collapse(routes: Sequence[Route], pools: Sequence[PoolLink]) -> Chain:
    """The hops that really choose. Walked from the inside: each hop's members are what the one behind it answers."""
    behind = _total(pools)
    each = len(pools) > 1 or all(p.pool.answers == "each" for p in pools)
    hops: list[Hop] = []
    absorbing: Route | None = None
    overlooked: list[Route] = []
    for position in range(len(routes) - 1, -1, -1):
        route = routes[position]
        outer = routes[position - 1] if position else None
        if outer is not None and _passes_over(outer, route):
            overlooked.append(route)
            continue
        route, overlooked = _without_effect_of(overlooked, route), []
        if each and _reaches_each(route):
            route = replace(route, members=_larger(behind, route) if len(pools) > 1 else behind)
            absorbing = absorbing or route
        hops.insert(0, Hop(_why(outer, route), route=route, evidence=route.evidence[:1]))
        behind, each = route.members, route.answers == "each"
    return Chain((*hops, *hops_of_pools(pools, absorbing)), tuple(pools))


def _named_for_all(pools: Sequence[PoolLink], absorbed: bool) -> PoolLink:
    """The pool that stands for its like, with a name that says so: the one that leaves a reconnect the most choices."""
    if len(pools) == 1:
        return pools[0]
    most = max(pools, key=lambda link: _choices_left(link.pool, absorbed))
    return replace(most, pool=replace(most.pool, name=f"{most.pool.name} and {len(pools) - 1} more"))


def _choices_left(pool: Pool, absorbed: bool) -> tuple[int, float]:
    """How many processes a pool surely and possibly chooses among; of an absorbed one, only its workers choose."""
    counts = [p.processes for p in (None if absorbed else pool, pool.workers) if p]
    return max((c.low for c in counts), default=1), max((inf if c.high is None else c.high for c in counts), default=1)


def _passes_over(outer: Route, route: Route) -> bool:
    """Whether the outer hop balances over the members behind the route itself, so that the route chooses nothing."""
    return outer.to_endpoints or (route.answers == "each" and outer.resolves == "all")


def _without_effect_of(overlooked: Sequence[Route], route: Route) -> Route:
    """The route, if it has no affinity, with that of the hops that it passes over, which does nothing for its
    requests; beside an affinity of its own nobody needs that."""
    idle = [r for r in overlooked if r.affinity.strength is not Strength.NONE and r.affinity.evidence]
    if not idle or route.affinity.strength is not Strength.NONE:
        return route
    notes = (f"{r.affinity.mechanism} of {r.name}, which {route.name} passes over" for r in idle)
    spans = tuple(r.affinity.evidence[0].noted(note) for r, note in zip(idle, notes, strict=True))
    return replace(route, affinity=replace(route.affinity, no_effect=(*route.affinity.no_effect, *spans)))


def _reaches_each(route: Route) -> bool:
    return route.fragment or route.to_endpoints or route.resolves == "all"


def _total(pools: Sequence[PoolLink]) -> Count:
    counts = [p.pool.processes for p in pools]
    highs = [c.high for c in counts]
    high = None if None in highs else sum(h for h in highs if h is not None)
    why = " and ".join(dict.fromkeys(c.why for c in counts))
    if len(pools) > 1:
        why = f"{pools[0].pool.name} and {len(pools) - 1} more together: {why}"
    return Count(sum(c.low for c in counts), high, why)


def _larger(behind: Count, route: Route) -> Count:
    """A route that names its members one by one may name some that are not in the tree; of two equal numbers the one
    that it names itself says more."""
    same = (behind.low, behind.high) == (route.members.low, route.members.high)
    return behind if behind.low >= route.members.low and not same else route.members


def _why(outer: Route | None, route: Route) -> str:
    if outer is None:
        hosts = ", ".join(dict.fromkeys(t.host for t in route.targets))
        return f"{route.name} forwards to {hosts}" if hosts else f"{route.name} is in front"
    shared = sorted({t.host for t in outer.targets} & route.addresses)
    return f"{outer.name} forwards to {', '.join(shared) or route.name}"


def hops_of_pools(pools: Sequence[PoolLink], absorbing: Route | None) -> tuple[Hop, ...]:
    """The hop of the pools behind one route, and of their workers. Where a route has their processes as its own
    members, a pool chooses nothing any more; and what a surge adds is one more member of that route."""
    link = _named_for_all(pools, absorbed=absorbing is not None)
    pool, per_member = link.pool, absorbing is not None or len(pools) > 1
    if absorbing is not None:
        if absorbing.members.high != 1:
            pool = replace(pool, processes=Count.exactly(1, f"one of those that {absorbing.name} chooses among"))
        if absorbing.affinity.strength is Strength.STRICT:
            pool = replace(pool, rolling=Rolling.REPLACED)
    hops = [Hop(link.why, pool=pool, assumed=link.assumed, evidence=link.evidence, per_member=per_member)]
    if pool.workers is not None:
        why = f"{pool.name} starts them behind one socket"
        hops.append(Hop(why, pool=pool.workers, evidence=pool.workers.evidence, per_member=per_member))
    return tuple(hops)


def assumed_chain(routes: Sequence[Route], pools: Sequence[PoolLink], why: str) -> Chain:
    """A chain by last resort: the route (with its conditional siblings) in front of the pools."""
    plain = [r for r in routes if not r.match.headers] or list(routes)
    conditions = [r for r in routes if r.match.headers]
    route = _with_conditions(plain[0], conditions, [r for r in conditions if _is_elsewhere(r, plain[0])])
    if not pools:
        return Chain((Hop(why, route=route, assumed=True, evidence=route.evidence[:1]),), ())
    behind = _total(pools)
    if route.fragment or not route.targets or route.to_endpoints or _says_nothing(route):
        route, absorbing = replace(route, members=behind), True
    else:
        # Several members by name are the replicas; with one name, what stands behind it chooses for itself.
        absorbing = route.members.low > 1
    hop = Hop(why, route=route, assumed=True, evidence=route.evidence[:1])
    return Chain((hop, *hops_of_pools(pools, route if absorbing else None)), tuple(pools))


def _says_nothing(route: Route) -> bool:
    return route.members.low == 1 and route.members.high is None


# -- routes on a header's condition


def _conditions_merged(chains: Sequence[Chain]) -> tuple[Chain, ...]:
    """Chains whose first route is taken on a header's condition become what they are: a treatment of that header by the
    unconditional route of the same file, which a reconnect meets when no condition holds."""
    plain = [c for c in chains if not (c.routes and c.routes[0].match.headers)]
    merged = []
    for chain in plain:
        first = chain.routes[0]
        taken = [c for c in chains if c not in plain and c.routes[0].path == first.path]
        apart = [c for c in taken if not _share_a_pool(c, chain)]
        route = _with_conditions(first, [c.routes[0] for c in taken], [c.routes[0] for c in apart])
        pools = [p for c in apart for p in c.pools if c.routes[0].last_event_id is CursorTreatment.ROUTED_ON]
        hops = (replace(chain.hops[0], route=route), *chain.hops[1:])
        merged.append(Chain(hops, (*chain.pools, *pools)))
    files = {c.routes[0].path for c in plain}
    return (*merged, *(c for c in chains if c not in plain and c.routes[0].path not in files))


def _share_a_pool(one: Chain, other: Chain) -> bool:
    return any(_is(p.pool, q.pool) for p in one.pools for q in other.pools)


def _is_elsewhere(condition: Route, route: Route) -> bool:
    """Whether two routes certainly forward to different addresses."""
    there, here = ({(t.host, t.port) for t in r.targets} for r in (condition, route))
    return bool(there and here) and not there & here


def _with_conditions(route: Route, conditions: Sequence[Route], apart: Sequence[Route]) -> Route:
    """The route with what the conditions on `Last-Event-ID` make of it. Those `apart` lead to members of their own,
    which a client without a cursor never meets, and one with a cursor always."""
    routed_on = [r for r in conditions if r.last_event_id is CursorTreatment.ROUTED_ON]
    if not routed_on or route.last_event_id is not CursorTreatment.PASSED:
        return route
    evidence = tuple(dict.fromkeys(s for r in routed_on for s in r.last_event_id_evidence or r.evidence[-1:]))
    beside = {r.pool: r for r in routed_on if r in apart}
    members = reduce(_together, beside.values(), route.members)
    return replace(route, members=members, last_event_id=CursorTreatment.ROUTED_ON, last_event_id_evidence=evidence)


def _together(members: Count, route: Route) -> Count:
    high = None if members.high is None or route.members.high is None else members.high + route.members.high
    return Count(members.low + route.members.low, high, f"{members.why}, and in {route.pool} {route.members.why}")
