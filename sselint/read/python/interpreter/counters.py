"""What a counter of the process has come to: the number of the newest event, where it numbers them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from sselint.read.python.interpreter.values import NEWEST, Minted, Value

if TYPE_CHECKING:
    from sselint.read.python.interpreter.machine import Machine


def so_far(m: Machine, kept: tuple[object, ...], options: Iterable[Value]) -> Value | None:
    """What a request reads where a counter is kept, of all that was seen there. None where nothing counts there, or the
    cursor is one that is known: its events may be any. That the counter still stands where it began is no way of its
    own: there is no event then, and nobody comes back for one."""
    if m.building or m.hypothesis.name == "KNOWN":
        return None
    counted = [v for v in options if isinstance(v, Minted) and v.kind == "counter"]
    here = (v for v in counted if v.about == m.heap.number(kept))  # few places count, and most reads are of others
    return next((replace(v, phase=NEWEST) for v in here), None)
