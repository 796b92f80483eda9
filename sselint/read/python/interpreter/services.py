"""Tables keyed by a class or function (`services[EventStore]`): which entry is meant is known."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sselint.read.python.interpreter import placeholders
from sselint.read.python.interpreter.values import ClassValue, Const, External, Function, Value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sselint.read.python.interpreter.machine import Machine

DEFINED = (ClassValue, Function, External)


def entries(m: Machine, pairs: Sequence[tuple[Value, Value]], key: Value) -> list[Value] | None:
    """What a table with these entries holds under a class or function: nothing where it has no such entry. None where
    nobody can tell: the key is something else, or what some entry is filed under is not known."""
    if not isinstance(key, DEFINED):
        return None
    found = list(dict.fromkeys(value for held, value in pairs if held == key))
    if found:
        return placeholders.without(m, found)
    return [] if all(isinstance(held, (*DEFINED, Const)) for held, _ in pairs) else None
