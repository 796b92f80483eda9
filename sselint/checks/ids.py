"""SSE1xx: how the ids on the wire are made."""

from __future__ import annotations

from collections.abc import Iterator

from sselint.checks.registry import Part, deployment_check
from sselint.facts import Guard, IdKind, KeyOrigin, Scope, Stream
from sselint.findings import Judgement

PER_PROCESS = (Scope.UNIQUE_LOCAL, Scope.ORDERED_LOCAL, Scope.OVERLAPPING)


def random_guard(stream: Stream) -> Guard | None:
    """The guard whose key is minted at random in one process: behind it even overlapping ids cannot be mistaken."""
    return next((guard for guard in stream.guards if guard.origin is KeyOrigin.RANDOM_LOCAL), None)


def _of_kind(judgement: Judgement, kinds: tuple[IdKind, ...], says: str) -> Iterator[Part]:
    stream = judgement.deployment.stream
    if stream.ids.kind not in kinds or stream.ids.scope not in PER_PROCESS:
        return
    guard = random_guard(stream)
    harmless = f"the key `{guard.key}` is looked up first, and no other process has it" if guard else ""
    yield Part(f"{says}: {stream.ids.why}", stream.ids.evidence, harmless=harmless)


@deployment_check("SSE101")
def counter(judgement: Judgement) -> Iterator[Part]:
    """Ids are counted in each process, so that two processes hand out the same id for different events."""
    return _of_kind(judgement, (IdKind.COUNTER,), "each process counts its own ids")


@deployment_check("SSE102")
def clock(judgement: Judgement) -> Iterator[Part]:
    """Ids are clock readings: a foreign one compares with the own ones and silently skips events."""
    return _of_kind(judgement, (IdKind.CLOCK,), "each process takes its ids from its own clock")


@deployment_check("SSE103")
def random_without_prefix(judgement: Judgement) -> Iterator[Part]:
    """Ids are random: another process can tell that one is foreign, but not whose it is."""
    return _of_kind(judgement, (IdKind.RANDOM,), "ids are random, and only the process that made one can place it")


@deployment_check("SSE104")
def index(judgement: Judgement) -> Iterator[Part]:
    """Ids are positions in a list that each process fills by itself."""
    return _of_kind(judgement, (IdKind.INDEX,), "ids are positions in a list that each process fills by itself")


@deployment_check("SSE105")
def epoch_not_shared(judgement: Judgement) -> Iterator[Part]:
    """Ids carry an epoch or a replica's name, but what stands behind it lives in one process."""
    kinds = (IdKind.EPOCH_PREFIXED, IdKind.REPLICA_PREFIXED)
    return _of_kind(judgement, kinds, "the prefix of the ids names one process, not a shared epoch")
