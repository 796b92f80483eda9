"""Places of a ring, `number % size`: whatever the cursor is, there is one, and any element may stand there now."""

from __future__ import annotations

from sselint.read.python.interpreter.machine import Hypothesis, Machine
from sselint.read.python.interpreter.values import Cursor, Item, Ref, Value, Wrapped
from sselint.read.python.source.modules import Site

PLACE = "place of a ring"


def place(cursor: Cursor) -> Value:
    """`cursor % size`."""
    return Wrapped(PLACE, cursor)


def is_place(value: Value) -> bool:
    """Whether a value is where the cursor would stand in a ring."""
    return isinstance(value, Wrapped) and value.form == PLACE


def is_taken(m: Machine, site: Site) -> bool:
    """Whether something stands where a cursor that is unknown here would stand."""
    return m.once(2, ("ring", site), "condition", "whether that place of the ring is taken", site) == 0


def another(m: Machine, ref: Ref, key: Value, value: Value) -> Value | None:
    """What stands at the place of a cursor that is unknown here: another element, from which it may go on. None where
    that is not what is asked."""
    if not is_place(key) or m.hypothesis is not Hypothesis.FOREIGN:
        return None
    m.live = Item(value, ref.id, "high", at=key)
    return m.as_state(value, ref.id)
