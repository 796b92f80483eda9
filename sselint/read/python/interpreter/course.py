"""How far a run came, and which of its questions matter: by this the explorer chooses where to go next."""

from __future__ import annotations

from sselint.read.python.interpreter.machine import Machine
from sselint.read.python.interpreter.oracle import Decision, Nearness


def turned_away(m: Machine) -> bool:
    """Whether a run was refused before it came to a stream."""
    kinds = {e.kind for e in m.trace}
    return "refuse" in kinds and not kinds & {"stream", "frame", "start"}


def nearness(m: Machine, decision: Decision, position: int) -> Nearness:
    """How near a question is to what the client gets: near where it came up when the cursor had been read or the stream
    begun, is about the cursor, or is which implementation is asked; aside where its call leads nowhere."""
    if decision.kind in ("implementation", "opaque"):
        return Nearness.NEAR
    if decision.within not in m.ways.leading:
        return Nearness.ASIDE
    return Nearness.NEAR if m.signs is not None and position >= m.signs else Nearness.LEADING


def arrives(m: Machine) -> bool:
    """Whether a run comes to what streams are read for: it sends an event, or waits for one. One that finds that there
    is nothing, or that no store is configured, does not."""
    return any(e.kind == "live" or (e.kind == "frame" and e.data["frame"].is_event) for e in m.trace)
