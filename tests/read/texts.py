"""Readers given texts: a tree in memory, its sources found and unwrapped as in a run."""

from __future__ import annotations

from collections.abc import Mapping

from sselint.facts import Count, Pool, Reading, Route
from sselint.find import kind_of, reader
from sselint.source import Source, Tree
from sselint.unwrap import sources


def tree_of(files: Mapping[str, str]) -> Tree:
    """A tree in memory."""
    return Tree("/nowhere", tuple(sorted(files)), lambda path: files[path].encode())


def sources_of(files: Mapping[str, str]) -> tuple[Source, ...]:
    """What the readers are given of these files."""
    return tuple(s for path in sorted(files) for s in sources(path, files[path], ".", kind_of))


def reading_of(files: Mapping[str, str], *kinds: str) -> Reading:
    """What the readers (of these kinds) make of the files; their faults are not caught."""
    tree, found = tree_of(files), sources_of(files)
    reading = Reading()
    for kind in sorted({s.kind for s in found}):
        if not kinds or kind in kinds:
            reading += reader(kind).read([s for s in found if s.kind == kind], tree)
    return reading


def pools_of(files: Mapping[str, str], *kinds: str) -> dict[str, Pool]:
    """The pools by name; the name must tell them apart."""
    pools = reading_of(files, *kinds).pools
    named = {p.name + (f" [{p.variant}]" if p.variant else ""): p for p in pools}
    assert len(named) == len(pools)
    return named


def only_pool(files: Mapping[str, str], *kinds: str) -> Pool:
    """The one pool."""
    (pool,) = reading_of(files, *kinds).pools
    return pool


def only_route(files: Mapping[str, str], *kinds: str) -> Route:
    """The one route."""
    (route,) = reading_of(files, *kinds).routes
    return route


def numbers(count: Count | None) -> tuple[int, int | None] | None:
    """The bounds of a count, None where there is none."""
    return None if count is None else (count.low, count.high)


def workers(pool: Pool) -> tuple[int, int | None]:
    """The worker processes of each member of a pool; one where nothing starts more."""
    return (1, 1) if pool.workers is None else (pool.workers.processes.low, pool.workers.processes.high)
