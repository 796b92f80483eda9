"""The element that the cursor found: what is read of it is held against others as the cursor is."""

from __future__ import annotations

import operator
from dataclasses import replace

from sselint.read.python.interpreter.machine import Hypothesis, Machine
from sselint.read.python.interpreter.values import Const, Item, Length, Minted, Ref, Step, Tuple, Value
from sselint.read.python.source.modules import Site

FOUND = "found by the cursor"
NOT_FOUND = "a search came to the end"
AT = "at"
LATER = ("after", "high")
RANK = {"before": -1, "at": 0, "after": 1}
MIRROR = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}
ORDER = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}


def element(m: Machine, value: Value, phase: str, site: Site | None = None) -> Value:
    """An element that stands at the cursor, remembered as such: of an object, whatever is read of it later."""
    if phase != AT or m.hypothesis is not Hypothesis.KNOWN:
        return value
    if isinstance(value, Ref):
        return replace(value, trail=(Step(site or m.world.nowhere, FOUND),)) if not value.serial else value
    return _marked(value)


def part(holder: Value, value: Value) -> Value:
    """An entry or attribute of something: of what the cursor found, the place where that stands."""
    found = isinstance(holder, Ref) and any(step.note == FOUND for step in holder.trail)
    return _marked(value) if found else value


def picked(m: Machine, value: Value, item: Item | None = None) -> None:
    """What was picked out of a history behind the cursor, by `next` or as what a search returns: it is what is sent
    next, if it is sent."""
    item = item or (m.current[-1] if m.current else None)
    if item is None or m.building or not item.source or item.phase not in LATER or isinstance(value, Const):
        return
    m.live = replace(item, value=value, at=Const.of(None))


def _marked(value: Value) -> Value:
    if isinstance(value, Minted) and not value.phase:
        return replace(value, phase=AT)
    return Tuple(tuple(map(_marked, value.items))) if isinstance(value, Tuple) else value


def compares(m: Machine, sign: str, one: Value, other: Value) -> bool | None:
    """`one sign other`, where one of them is a number of what the cursor found and the other one of the element that is
    looked at, or where a search without a hit came to the end that it is held against; None where they are not."""
    if isinstance(one, Length) and one == other and any(s.note == NOT_FOUND for s in (*one.trail, *other.trail)):
        return sign in ("==", "<=", ">=")
    if not isinstance(one, Minted) or not isinstance(other, Minted):
        return None
    if one != other or AT not in (one.phase, other.phase):
        return None
    phase = m.phase()
    if m.hypothesis is not Hypothesis.KNOWN or phase not in RANK:
        return None
    left, right = (0 if value.phase == AT else RANK[phase] for value in (one, other))
    if sign in ("==", "!="):
        return (left == right) == (sign == "==")
    return bool(ORDER[sign](left, right)) if sign in ORDER else None
