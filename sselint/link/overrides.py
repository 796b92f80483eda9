"""What the settings say of a deployment, stronger than any evidence: `[[tool.sselint.deployments]]`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sselint.deployment import Hop
from sselint.facts import Count, FileOutcome, FileReport, Pool, Reading, Route, Stream
from sselint.link.chains import Chain, assumed_chain
from sselint.link.pools import PoolLink
from sselint.settings import DeploymentOverride, Reference, Settings, SettingsError


def overrides_of(stream: Stream, settings: Settings) -> tuple[DeploymentOverride, ...]:
    """The tables of the settings that speak of this stream, in their order."""
    return tuple(o for o in settings.deployments if o.stream.means(stream.path, stream.symbol))


def refuse_unknown_streams(streams: Sequence[Stream], files: Sequence[FileReport], settings: Settings) -> None:
    """Raises SettingsError for a table whose stream is not in the tree, so that a slip of the pen does not leave the
    deployment to the linker. Where a part of the tree is read, or the file could not be, the stream may be there."""
    lost = [file.path for file in files if file.outcome not in (FileOutcome.ANALYSED, FileOutcome.IRRELEVANT)]
    for override in () if settings.read else settings.deployments:
        named = override.stream
        there = any(named.means(stream.path, stream.symbol) for stream in streams)
        if not there and not any(named.means(path, named.name) for path in lost):
            raise _missing("stream", named, [f"{stream.path}:{stream.symbol}" for stream in streams])


def stated_chain(override: DeploymentOverride, reading: Reading, settings: Settings) -> Chain | None:
    """The chain that a table states; None where it leaves the hops to the linker.

    Raises SettingsError for a route or pool that is not in the tree, or not in the part of it that is read: without
    them the deployment would be judged as another one.
    """
    if not (override.routes or override.pool or override.replicas):
        return None
    try:
        return _chain(override, reading)
    except SettingsError as error:
        if not settings.read:
            raise
        instead = f"only {', '.join(settings.read)} is read; run it on the whole tree"
        raise SettingsError(error.what, error.where, instead) from error


def _chain(override: DeploymentOverride, reading: Reading) -> Chain:
    why = f"{override.place} says so"
    routes = [_route(reference, reading) for reference in override.routes]
    pools = _pools(override, reading, why)
    if not routes:
        hops = tuple(Hop(why, pool=p.pool, evidence=(override.place,)) for p in pools)
        workers = tuple(Hop(why, pool=p.pool.workers) for p in pools if p.pool.workers)
        return Chain((*hops, *workers), tuple(pools))
    inner = assumed_chain(routes[-1:], pools, why)
    outer = tuple(Hop(why, route=r, evidence=(override.place,)) for r in routes[:-1])
    stated = tuple(replace(h, assumed=False) for h in inner.hops)
    return Chain((*outer, *stated), tuple(pools))


def _pools(override: DeploymentOverride, reading: Reading, why: str) -> list[PoolLink]:
    if override.pool is None and override.replicas is None:
        return []
    pool = _pool(override.pool, reading) if override.pool else _stated_pool(override)
    if override.replicas is not None:
        pool = replace(pool, processes=override.replicas)
    return [PoolLink(pool, why, False, (override.place,))]


def _stated_pool(override: DeploymentOverride) -> Pool:
    place = override.place
    count = override.replicas or Count.unknown(f"{place} does not say")
    return Pool(
        place.path, place.line, "settings", "replicas", "pool in the settings", count, answers="each", evidence=(place,)
    )


def _route(reference: Reference, reading: Reading) -> Route:
    found = [r for r in reading.routes if reference.means(r.path, r.name, r.pool)]
    if not found:
        raise _missing("route", reference, [f"{r.path}:{r.pool or r.name}" for r in reading.routes])
    return found[0]


def _pool(reference: Reference, reading: Reading) -> Pool:
    found = [p for p in reading.pools if reference.means(p.path, p.name)]
    if not found:
        raise _missing("pool", reference, [f"{p.path}:{p.name}" for p in reading.pools])
    return found[0]


def _missing(what: str, reference: Reference, known: list[str]) -> SettingsError:
    names = ", ".join(sorted(set(known))[:8]) or "none at all"
    return SettingsError(f"no {what} `{reference}` in the tree", str(reference.place), f"the tree has {names}")
