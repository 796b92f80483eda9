"""`min` and `max`: of a history the oldest and the newest, of several numbers what the result is most like."""

from __future__ import annotations

from sselint.read.python.interpreter import arithmetic, iteration, last, oldest
from sselint.read.python.interpreter.machine import Arguments, Machine
from sselint.read.python.interpreter.values import Const, Unknown, Value


def least(m: Machine, a: Arguments) -> Value:
    """`min`."""
    found = oldest.least(m, iteration.view_of(m, a.first())) if len(a.positional) == 1 else None
    return greatest(m, a) if found is None else found


def greatest(m: Machine, a: Arguments) -> Value:
    """`max`, and `min` of what is no history."""
    newest = last.greatest(m, iteration.view_of(m, a.first())) if len(a.positional) == 1 else None
    if newest is not None:
        return newest
    values = list(a.positional) if len(a.positional) > 1 else iteration.known_items(m, a.first())
    if not values:
        default = a.keywords.get("default")
        if default is None and isinstance(a.first(), Unknown):
            return a.first()
        return default if default is not None else Unknown("the largest of nothing")
    if all(isinstance(v, Const) for v in values):
        return values[-1]
    result = next((v for v in values if not isinstance(v, Const)), values[0])
    for value in values:
        if value is not result and not isinstance(value, Const):
            result = arithmetic.binary(m, "+", result, value, a.site)
    return result
