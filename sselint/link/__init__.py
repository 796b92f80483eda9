"""Link: which streams are behind which hops and pools. Facts in, deployments out; nothing is judged here.

Links go by evidence, strongest first: the settings; the module path in a command; build context and image; the names
that hops forward to and answer to; selectors. A last-resort link is made only where a unit holds exactly one server and
one pool or route, and is named as an assumption. Several alternative deployments of one server are several deployments.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from sselint.clients import client, default_clients
from sselint.deployment import Audit, Client, Deployment, Hop
from sselint.facts import Count, CursorTreatment, Pool, Reading, Route, Setting, Stream, Truth, Where
from sselint.link.assumed import chains_of_assumed
from sselint.link.chains import Chain, RouteLinker, assumed_chain, hops_of_pools, named_by_what_mounts_them
from sselint.link.disk import disk_answer
from sselint.link.environments import environment_of, told_apart
from sselint.link.matching import names_path_of
from sselint.link.overrides import overrides_of, stated_chain
from sselint.link.pools import PoolLink, PoolLinker, merge_image_level
from sselint.link.units import Units, inside
from sselint.settings import DeploymentOverride, Settings
from sselint.source import Tree
from sselint.stated import ASSUMED

SERVICE = "kubernetes_service"
"""The format of a Service, a hop that any proxy in a cluster may pass over."""

Reread = Callable[[Stream, Sequence[Setting], bool], Stream]
"""Reads a stream again under a pool's environment: (stream, environment, settled) -> the stream under it."""


@dataclass(frozen=True)
class Link:
    """One way in which a stream is deployed: a chain, or the candidates where nothing decides. `override` is what the
    settings say of it."""

    chain: Chain
    candidates: tuple[str, ...] = ()
    assumptions: tuple[str, ...] = ()
    override: DeploymentOverride | None = None


def link(
    reading: Reading, tree: Tree, units: Units, settings: Settings, infrastructure: Sequence[str], reread: Reread
) -> Audit:
    """The deployments of every stream of the reading."""
    reading = replace(reading, routes=named_by_what_mounts_them(reading.routes, reading.pools))
    pool_linker = PoolLinker(tree, units, reading.streams, reading.pools, infrastructure)
    route_linker = RouteLinker(reading.routes, reading.pools)
    deployments: list[Deployment] = []
    for stream in reading.streams:
        if not stream.apps and not overrides_of(stream, settings):
            continue
        for made in _links(stream, reading, tree, pool_linker, route_linker, settings):
            deployments.append(_deployment(stream, made, reading, settings, reread))
    in_use = {_identity(h.route) for d in deployments for h in d.hops if h.route}
    served = [link for stream in reading.streams for link in pool_linker.of(stream).links]

    def is_stood_for(route: Route) -> bool:
        """The hop that chooses by the cursor stands for all that it chooses among, and the one that balances over the
        pods themselves for the Service that it passes over."""
        chosen = route.last_event_id is CursorTreatment.ROUTED_ON or route.format == SERVICE
        return chosen and route_linker.reaches(route, served)

    loose = tuple(r for r in reading.routes if _identity(r) not in in_use and not is_stood_for(r))
    return Audit(
        root=tree.root,
        deployments=_named_apart(deployments),
        streams=reading.streams,
        routes=reading.routes,
        pools=reading.pools,
        loose_routes=loose,
        files=reading.files,
    )


def _identity(route: Route) -> tuple[str, int, str, str]:
    return route.path, route.line, route.name, route.variant


def _links(
    stream: Stream,
    reading: Reading,
    tree: Tree,
    pool_linker: PoolLinker,
    route_linker: RouteLinker,
    settings: Settings,
) -> list[Link]:
    """Every way in which the stream is deployed: as each table of the settings says, or as the linker finds."""
    links: list[Link] = []
    for override in overrides_of(stream, settings) or (None,):
        chain = stated_chain(override, reading, settings) if override else None
        found = [Link(chain)] if chain else _links_found(stream, reading, tree, pool_linker, route_linker)
        links += [replace(made, override=override) for made in found]
    return links


def _links_found(
    stream: Stream, reading: Reading, tree: Tree, pool_linker: PoolLinker, route_linker: RouteLinker
) -> list[Link]:
    """The ways for which the tree has evidence."""
    if stream.path == ASSUMED:
        chains = chains_of_assumed(stream, pool_linker, route_linker, tree) or (Chain((), ()),)
        return [Link(chain, assumptions=_assumptions(chain)) for chain in chains]
    found = pool_linker.of(stream)
    if found.candidates:
        return [Link(Chain((), ()), found.candidates)]
    pools = merge_image_level(found.links, tree, pool_linker.starts)
    chains = _behind_fragment(route_linker.chains(stream, pools), stream, reading, route_linker)
    reached = {id(p.pool) for c in chains for p in c.pools}
    links = [Link(c, assumptions=_assumptions(c)) for c in chains]
    alone = [p for p in pools if id(p.pool) not in reached]
    if alone or not pools:
        links += _behind_assumed(stream, reading, route_linker, alone, bool(links))
    if not links and not stream.deployable:
        return []
    return links or [Link(Chain((), ()))]


def _behind_fragment(
    chains: tuple[Chain, ...], stream: Stream, reading: Reading, route_linker: RouteLinker
) -> tuple[Chain, ...]:
    """The chains with the piece of a proxy's configuration that stands beside the only server. It names no members: in
    a cluster those are the pods, and the Service in between chooses nothing."""
    if not chains or any(r.format != SERVICE for c in chains for r in c.routes) or not stream.deployable:
        return chains
    pieces = [r for r in route_linker.unlinked_in_front(stream, reading.streams) if r.fragment]
    if len(pieces) != 1:
        return chains
    why = f"it is the only piece of a proxy's configuration beside the only server ({stream.path})"
    return tuple(assumed_chain(pieces, chain.pools, why) for chain in chains)


def _behind_assumed(
    stream: Stream, reading: Reading, route_linker: RouteLinker, pools: Sequence[PoolLink], linked: bool
) -> list[Link]:
    """Links of pools that no name leads to: behind the only free route of the neighbourhood, if there is one."""
    routes = () if linked or not stream.deployable else route_linker.unlinked_in_front(stream, reading.streams)
    plain = [r for r in routes if not r.match.headers] or list(routes)
    why = f"it is the only route beside the only server ({stream.path})"
    by_path = [r for r in plain if names_path_of(r, stream)]
    if len(plain) > 1 and len(by_path) == 1:
        why = f"it is the only route that names the path {stream.url} of the only server ({stream.path})"
        plain, routes = by_path, (*by_path, *(r for r in routes if r.match.headers and r.path == by_path[0].path))
    if len(plain) == 1 and len(pools) <= 1:
        chain = assumed_chain(routes, pools, why)
        return [Link(chain, assumptions=_assumptions(chain))]
    if len(plain) > 1 and len({r.path for r in plain}) == 1 and len(pools) <= 1:
        names = tuple(f"{r.name} ({r.path}:{r.line})" for r in plain)
        return [Link(Chain(hops_of_pools(pools[:1], None) if pools else (), tuple(pools)), names)]
    chains = [Chain(hops_of_pools((p,), None), (p,)) for p in pools]
    return [Link(c, assumptions=_assumptions(c)) for c in chains]


def _assumptions(chain: Chain) -> tuple[str, ...]:
    return tuple(f"{hop.name}: {hop.why}" for hop in chain.hops if hop.assumed)


def _deployment(stream: Stream, made: Link, reading: Reading, settings: Settings, reread: Reread) -> Deployment:
    pools = [p.pool for p in made.chain.pools]
    if pools and stream.environment:
        stream = reread(stream, *environment_of(pools))
    stream = told_apart(stream, pools)
    disk = disk_answer(stream.replay, pools) if stream.replay.where is Where.POD_DISK else None
    override = made.override
    policy = override.policy if override and override.policy else settings.policy
    return Deployment(
        name=override.name if override and override.name else f"{stream.path}:{stream.symbol}",
        stream=stream,
        hops=_with_assumed_number(made, stream, settings.assume.replicas),
        clients=_clients(stream, override.clients if override and override.clients else settings.clients),
        sightings=tuple(
            c for c in reading.clients if _same_neighbourhood(c.evidence[0].path if c.evidence else "", stream)
        ),
        declared_policy=policy.value if policy else None,
        pod_disk_shared=disk.shared if disk else Truth.UNKNOWN,
        pod_disk_why=disk.why if disk else "",
        pod_disk_evidence=disk.evidence if disk else (),
        assumptions=made.assumptions,
        candidates=made.candidates,
    )


def _same_neighbourhood(path: str, stream: Stream) -> bool:
    return inside(path, stream.unit)


def _with_assumed_number(made: Link, stream: Stream, replicas: Count | None) -> tuple[Hop, ...]:
    """The hops with `--assume replicas` in the place of each number that the tree leaves open: also of that of a server
    that nothing in the tree starts, behind routes with one member."""
    if replicas is None:
        return made.chain.hops
    hops = tuple(_with_replicas(h, replicas) for h in made.chain.hops)
    if made.candidates or not all(h.route is not None and h.route.members.high == 1 for h in hops):
        return hops
    name = f"whatever runs {stream.path}"
    whatever = Pool(stream.path, stream.line, "settings", "replicas", name, replicas, answers="each")
    return (*hops, Hop("--assume replicas says how many there are", pool=whatever, assumed=True))


def _with_replicas(hop: Hop, replicas: Count) -> Hop:
    """The hop with the assumed number where its own is open."""
    if hop.route is not None and hop.route.members.high is None:
        return replace(hop, route=replace(hop.route, members=replicas))
    if hop.pool is not None and hop.pool.kind == "replicas" and hop.pool.processes.high is None:
        return replace(hop, pool=replace(hop.pool, processes=replicas))
    return hop


def _clients(stream: Stream, named: Sequence[str]) -> tuple[Client, ...]:
    """The clients that the settings name, or the default one of the protocol."""
    return tuple(client(name) for name in named) or default_clients(stream.protocol)


def _named_apart(deployments: Sequence[Deployment]) -> tuple[Deployment, ...]:
    """Deployments with names of their own: where one server is deployed several times, by what is in front of it."""
    names = [d.name for d in deployments]
    apart = []
    for deployment in deployments:
        if names.count(deployment.name) > 1 and deployment.hops:
            deployment = replace(deployment, name=f"{deployment.name} behind {_front(deployment.hops[0])}")
        apart.append(deployment)
    return tuple(apart)


def _front(hop: Hop) -> str:
    thing: Route | Pool | None = hop.route or hop.pool
    if thing is None:
        return hop.name
    variant = f" [{thing.variant}]" if thing.variant else ""
    return f"{hop.name} ({thing.path}){variant}"
