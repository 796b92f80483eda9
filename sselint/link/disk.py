"""Whether all processes of a deployment see the same file: what decides how far a replay from disk is shared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from sselint.facts import Evidence, Pool, Replay, Truth, Volume


@dataclass(frozen=True)
class DiskAnswer:
    """Whether the file is shared by all processes, why, and where that is written."""

    shared: Truth
    why: str
    evidence: Evidence = ()


def disk_answer(replay: Replay, pools: Sequence[Pool]) -> DiskAnswer:
    """Whether every process of these pools (platform pools, not their workers) sees the replay's file."""
    if not pools:
        return DiskAnswer(Truth.UNKNOWN, "nothing says where the file's volume is")
    volumes = [_volume_of(replay.disk_path, pool) for pool in pools]
    if len(pools) == 1 and pools[0].processes.high == 1:
        pool = pools[0]
        return DiskAnswer(
            Truth.YES, f"all processes of {pool.name} run in one place and open the same file", pool.evidence
        )
    named = [v for v in volumes if v is not None]
    if len(named) == len(pools) and all(v.shared is Truth.YES for v in named):
        return DiskAnswer(Truth.YES, named[0].why, named[0].evidence)
    if any(v is not None and v.shared is Truth.UNKNOWN for v in volumes):
        unknown = next(v for v in named if v.shared is Truth.UNKNOWN)
        return DiskAnswer(Truth.UNKNOWN, unknown.why, unknown.evidence)
    perhaps = next((v for pool in pools for v in pool.volumes if v.shared is not Truth.NO), None)
    if (replay.disk_path is None or not replay.disk_path.startswith("/")) and perhaps is not None:
        path = f"of the path only {replay.disk_path} is" if replay.disk_path else "the path of the file is not"
        return DiskAnswer(Truth.UNKNOWN, f"{path} known, and it may be below {perhaps.mount_path}", perhaps.evidence)
    if all(pool.processes.low == 1 and pool.processes.high is None for pool in pools):
        return DiskAnswer(Truth.UNKNOWN, f"the number of processes is not known: {pools[0].processes.why}")
    file = replay.disk_path or "the file"
    where = named[0].why if named else f"{file} is on the disk of each replica of {pools[0].name}"
    return DiskAnswer(Truth.NO, where, named[0].evidence if named else pools[0].evidence)


def _volume_of(path: str | None, pool: Pool) -> Volume | None:
    """The volume that holds the path: the one with the longest mount path above it."""
    if path is None or not path.startswith("/"):
        return None
    holding = [v for v in pool.volumes if PurePosixPath(path).is_relative_to(v.mount_path)]
    return max(holding, key=lambda v: len(v.mount_path), default=None)
