"""The environment that all of several pools have, and what the name in front of an id tells apart in them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from sselint.facts import Count, Evidence, IdKind, Name, Pool, Rolling, Scope, Setting, Stream

CONTAINERS = frozenset({"kubernetes", "compose", "dockerfile", "terraform", "cloud_run"})
"""Formats of pools whose replicas are containers: each with a host name of its own, and processes counted from 1
(pid_namespaces(7)). The replicas of the others are processes of one machine."""


def environment_of(pools: Sequence[Pool]) -> tuple[tuple[Setting, ...], bool]:
    """The variables of pools that serve one stream, and whether these are all.

    What they set to the same is so for all; where no two single processes have the same, each has one of its own; what
    is otherwise is not known."""
    if len(pools) == 1:
        return pools[0].environment, pools[0].settles_environment
    given = [{setting.name: setting for setting in pool.environment} for pool in pools]
    names = dict.fromkeys(name for settings in given for name in settings)
    merged = (_merged([settings.get(name) for settings in given], pools) for name in names)
    return tuple(merged), all(pool.settles_environment for pool in pools)


def _merged(found: Sequence[Setting | None], pools: Sequence[Pool]) -> Setting:
    known = [setting for setting in found if setting is not None]
    first, values = known[0], {setting.value for setting in known}
    if len(known) == len(pools) and len(values) == 1 and len({setting.own for setting in known}) == 1:
        return first
    single = all(setting.own or pool.processes.high == 1 for setting, pool in zip(known, pools, strict=False))
    apart = len(known) == len(pools) and single and None not in values and len(values) == len(pools)
    shown: Evidence = tuple(span for setting in known for span in setting.evidence[:1])
    return Setting(first.name, None, shown, own=apart)


def told_apart(stream: Stream, pools: Sequence[Pool]) -> Stream:
    """The stream, with ids that overlap where processes share the name that stands in front of them."""
    ids = stream.ids
    if ids.kind is not IdKind.REPLICA_PREFIXED or ids.scope is not Scope.UNIQUE_LOCAL or not ids.apart:
        return stream
    for count, sharing, told, shown in _levels(pools):
        if told & ids.apart or count.high == 1:
            continue
        scope = Scope.OVERLAPPING if count.low > 1 else Scope.UNKNOWN
        shares = f"which {sharing} share" if count.low > 1 else f"which {sharing}, if there are several, share"
        why = f"{_name(ids.apart)} stands in front, {shares}"
        return replace(stream, ids=replace(ids, scope=scope, why=why, evidence=(*ids.evidence, *shown)))
    return stream


def _name(apart: frozenset[Name]) -> str:
    return "the number of the process" if apart == {Name.PROCESS} else "the replica's name"


def _levels(pools: Sequence[Pool]) -> Iterator[tuple[Count, str, frozenset[Name], Evidence]]:
    """How many processes there are of a kind, what they are, which names tell them apart, and where that is said."""
    for pool in pools:
        if pool.kind == "workers":
            yield pool.processes, f"the workers of {pool.name}", frozenset({Name.PROCESS}), pool.evidence[:1]
        elif pool.format in CONTAINERS:
            told = frozenset({Name.HOST, Name.REPLICA})
            yield _at_once(pools, pool), f"the containers of {pool.name}", told, pool.evidence[:1]
        else:
            told = frozenset({Name.PROCESS, Name.REPLICA})
            yield pool.processes, f"the processes of {pool.name}", told, pool.evidence[:1]
        if pool.workers is not None:
            workers = pool.workers
            yield workers.processes, f"the workers of {pool.name}", frozenset({Name.PROCESS}), workers.evidence[:1]


def _at_once(pools: Sequence[Pool], pool: Pool) -> Count:
    """How many containers run at one moment: two where there are several pools, or a release has two generations."""
    surges = pool.rolling in (Rolling.SURGE_WRITTEN, Rolling.SURGE_DEFAULT)
    least = max(pool.processes.low, 2 if len(pools) > 1 or surges else 1)
    high = None if pool.processes.high is None else max(pool.processes.high, least)
    return Count(least, high, pool.processes.why)
