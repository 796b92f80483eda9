"""The first element of a history, `log[0]`, `next(iter(log))`, `min(log)`: what is known here is not older than it."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeGuard

from sselint.read.python.interpreter import last
from sselint.read.python.interpreter.machine import Hypothesis, Machine
from sselint.read.python.interpreter.values import (
    COUNTING,
    STORED,
    Collection,
    Cursor,
    Length,
    Minted,
    Ref,
    Tuple,
    Value,
    leaves,
)
from sselint.read.python.source.modules import Site

OLDEST = "oldest"
EARLIEST = frozenset({"before", "low", "one"})
"""Where the first of the elements that stand for a history is: one that was turned round begins elsewhere."""


def element(m: Machine, value: Value, first: bool) -> Value:
    """An element that was taken by its number, remembered as the oldest where it is the first."""
    if not isinstance(value, Ref):
        return _marked(value) if first else value
    if first:
        m.overlay.oldest.add(value)
    else:
        m.overlay.oldest.discard(value)
    return value


def least(m: Machine, view: Collection | None) -> Value | None:
    """The first or least element of a history, None where it is no such thing."""
    if m.building or view is None or not view.source or not view.items:
        return None
    first = view.items[0]
    return element(m, first.value, first=True) if first.phase in EARLIEST else None


def part(m: Machine, holder: Value, value: Value) -> Value:
    """An entry or attribute of something: the number of the oldest element is the oldest number, and so on."""
    if isinstance(holder, Ref) and last.is_newest(m, holder):
        return last.marked(value)
    return _marked(value) if isinstance(holder, Ref) and holder in m.overlay.oldest else value


def is_oldest(value: Value) -> bool:
    """Whether a value is, or is made of, the number of the oldest element."""
    return any(isinstance(leaf, Minted) and leaf.phase == OLDEST for leaf in leaves(value))


def counts_otherwise(cursor: Value, bound: Value) -> bool:
    """Whether a number is none that the ids surely end at: it counts something else than they do, such as what was
    dropped, or was taken from one of them and put away. A cursor that is known here may stand on either side of it."""
    shape = cursor.shape if isinstance(cursor, Cursor) else None
    counted = {leaf.about for leaf in leaves(shape) if _counts(leaf)} if shape is not None else set()
    if not counted:
        return False
    if isinstance(bound, Length):
        return bound.less and _stored(bound) > 0
    return any(_counts(leaf) and (leaf.about not in counted or _stored(leaf) > 1) for leaf in leaves(bound))


def _counts(leaf: Value) -> TypeGuard[Minted]:
    return isinstance(leaf, Minted) and leaf.kind in COUNTING and leaf.about > 0


def _stored(value: Value) -> int:
    return sum(step.note == STORED for step in value.trail)


def on_either_side(m: Machine, site: Site) -> bool:
    """What a comparison of a known cursor with such a number comes to."""
    return m.once(2, ("either side", site), "condition", "where a known cursor stands", site) == 0


def against(m: Machine, sign: str, site: Site) -> bool:
    """`cursor sign oldest`: a cursor that is known here stands there or later, one that is not may stand anywhere."""
    if m.hypothesis is Hypothesis.KNOWN and sign in (">=", "<"):
        return sign == ">="
    return m.once(2, ("oldest", site), "condition", "whether the cursor is older than what is kept", site) == 0


def _marked(value: Value) -> Value:
    if isinstance(value, Minted):
        return replace(value, phase=OLDEST)
    return Tuple(tuple(map(_marked, value.items))) if isinstance(value, Tuple) else value
