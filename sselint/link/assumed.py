"""Where a server stands that nobody's source shows: `--assume ids=...` speaks of the one behind routes that have none.

It may be any of them, so it is put behind each: one deployment a route, or a server's pools where no route leads.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sselint.facts import Stream
from sselint.link.chains import Chain, RouteLinker, assumed_chain, hops_of_pools
from sselint.link.pools import PoolLink, PoolLinker, merge_image_level
from sselint.source import Tree

WHY = "--assume puts a server here"


def chains_of_assumed(
    stream: Stream, pool_linker: PoolLinker, route_linker: RouteLinker, tree: Tree
) -> tuple[Chain, ...]:
    """A chain for every place where the server may stand; none where the tree has neither routes nor pools."""
    groups = [merge_image_level(group, tree, pool_linker.starts) for group in pool_linker.unclaimed(stream, WHY)]
    found = [c for group in groups for c in route_linker.chains(stream, group) if c.routes]
    found += _without_pools(stream, route_linker)
    return tuple(found or [Chain(hops_of_pools((link,), None), (link,)) for group in groups for link in _widest(group)])


def _without_pools(stream: Stream, route_linker: RouteLinker) -> list[Chain]:
    """The routes whose members are not in the tree, each with the conditional ones of its file."""
    routes = route_linker.unlinked_in_front(stream, ())
    plain = [r for r in routes if not r.match.headers] or list(routes)
    return [
        assumed_chain([route, *(r for r in routes if r.match.headers and r.path == route.path)], (), WHY)
        for route in plain
    ]


def _widest(group: Sequence[PoolLink]) -> list[PoolLink]:
    """The pools of a server as links of their own."""
    return [replace(link, why=WHY) for link in group]
