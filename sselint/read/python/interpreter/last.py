"""The last element of a history, `log[-1]`, `max(log)`: nothing that is kept is newer, until something is added.

A server that begins there for a cursor that it does not know sends what comes from then on.
"""

from __future__ import annotations

from dataclasses import replace

from sselint.read.python.interpreter import iteration
from sselint.read.python.interpreter.at_cursor import MIRROR, ORDER
from sselint.read.python.interpreter.machine import Hypothesis, Machine
from sselint.read.python.interpreter.values import COUNTING, NEWEST, Collection, Length, Minted, Ref, Tuple, Value

LIVE = "live"


def element(m: Machine, view: Collection) -> Value:
    """The last element of a view of a history, remembered as the newest."""
    value = view.items[-1].value
    if not _is_history(m, view):
        return value
    if isinstance(value, Ref):
        m.overlay.newest.add(value)
        return value
    return marked(value)


def is_newest(m: Machine, holder: Ref) -> bool:
    """Whether an object was taken for the newest; one stands for all elements of a history, also while each of them is
    looked at."""
    return holder in m.overlay.newest and not any(item.value == holder for item in m.current)


def greatest(m: Machine, view: Collection | None) -> Value | None:
    """What `max` gives of a history: its newest element, None for anything else."""
    return marked(view.items[-1].value) if view is not None and view.items and _is_history(m, view) else None


def _is_history(m: Machine, view: Collection) -> bool:
    whole = m.phases()[-1:] == (view.items[-1].phase,) and view.selection == "all"
    return whole and bool(view.source) and not m.building and m.hypothesis is not Hypothesis.KNOWN


def marked(value: Value) -> Value:
    """A number of the newest element."""
    if isinstance(value, Tuple):
        return Tuple(tuple(map(marked, value.items)))
    return replace(value, phase=NEWEST) if isinstance(value, Minted) and not value.phase else value


def compares(m: Machine, sign: str, left: Value, right: Value) -> bool | None:
    """Whether an element that is looked at stands behind what was the newest one: none does, and asked again, what has
    been added since. So it is with a place that was the end of the history. None where the two are something else."""
    if isinstance(left, Length) and isinstance(right, Length):
        return _ends_behind(m, sign, left, right)
    for one, other, wanted in ((left, right, sign), (right, left, MIRROR.get(sign, ""))):
        if wanted in ORDER and m.current and m.current[-1].source and _is_newest_of(m, one, other):
            return (wanted in (">", ">=")) == _is_added(m)
    return None


def _ends_behind(m: Machine, sign: str, place: Length, end: Length) -> bool | None:
    """Whether a place that was the end of a history stands before (`<`) its end, or at it."""
    if m.building or sign not in ORDER or place.about != end.about or place.less or end.less or end.extra:
        return None
    view = iteration.view_of(m, Ref(place.about)) if m.round > 1 and not place.extra else None
    added = view is not None and bool(view.items)
    return {"<": added, ">=": not added, "<=": True, ">": False}[sign]


def _is_newest_of(m: Machine, one: Value, other: Value) -> bool:
    """Whether `one` is the number of an element and `other` that of the newest of them: marked so, or how many there
    are, where they are counted."""
    if not isinstance(one, Minted) or one.phase:
        return False
    if isinstance(other, Length):
        return one.kind in COUNTING and not other.less and other.about == m.current[-1].source
    return isinstance(other, Minted) and other.phase == NEWEST and (one.kind, one.about) == (other.kind, other.about)


def _is_added(m: Machine) -> bool:
    item = m.current[-1]
    if item.phase != LIVE and (m.round <= 1 or item.phase not in m.phases()[-1:]):
        return False
    m.current[-1] = replace(item, phase=LIVE)
    return True
