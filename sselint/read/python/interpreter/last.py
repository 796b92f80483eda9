"""The last element of a history, `log[-1]`, `max(log)`: nothing that is kept is newer, until something is added.

A server that begins there for a cursor that it does not know sends what comes from then on.
"""

from __future__ import annotations

from dataclasses import replace

from sselint.read.python.interpreter.at_cursor import MIRROR, ORDER
from sselint.read.python.interpreter.machine import Hypothesis, Machine
from sselint.read.python.interpreter.values import NEWEST, Collection, Minted, Ref, Tuple, Value

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
    been added since. None where the two are something else."""
    for one, other, wanted in ((left, right, sign), (right, left, MIRROR.get(sign, ""))):
        if wanted in ORDER and _has_newest(other) and _is_other(one, other) and m.current and m.current[-1].source:
            return (wanted in (">", ">=")) == _is_added(m)
    return None


def _has_newest(value: Value) -> bool:
    return isinstance(value, Minted) and value.phase == NEWEST


def _is_other(one: Value, newest: Value) -> bool:
    return (
        isinstance(one, Minted) and isinstance(newest, Minted)
        and not one.phase and (one.kind, one.about) == (newest.kind, newest.about)
    )  # fmt: skip


def _is_added(m: Machine) -> bool:
    item = m.current[-1]
    if item.phase != LIVE and (m.round <= 1 or item.phase not in m.phases()[-1:]):
        return False
    m.current[-1] = replace(item, phase=LIVE)
    return True
