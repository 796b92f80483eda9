"""Environment variables and options of the command line: what a row of values says of one, what methods make of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sselint.read.python.interpreter.machine import Machine
from sselint.read.python.interpreter.values import Const, Ref, Tuple, Value, Variable
from sselint.read.python.source.modules import Site

CASES = frozenset({"strip", "lstrip", "rstrip", "lower", "upper", "title", "capitalize", "casefold"})


def through(variable: Variable, name: str, given: Sequence[Value]) -> Variable:
    """A variable that a method of text has gone over; its default, too."""
    if name not in CASES or given:
        return variable
    default = made(variable.default, (name,)) if variable.default is not None else None
    return replace(variable, default=default, through=(*variable.through, name))


def made(value: Value, methods: Sequence[str]) -> Value:
    """What methods of text make of a text that is written down."""
    if not isinstance(value, Const) or not isinstance(value.value, str):
        return value
    written = value.value
    for method in methods:
        written = str(getattr(written, method)())
    return Const.of(written)


def is_among(m: Machine, variable: Variable, container: Value, site: Site) -> bool | None:
    """`variable in container`, where that is a row of texts or numbers that are written down; else None."""
    values = _written_down(m, container)
    if not values:
        return None
    label = f"is one of {', '.join(map(repr, values))}"
    return m.world.decide_variable(m, variable, label, site, lambda known: known in values)


def _written_down(m: Machine, container: Value) -> list[object]:
    """What a tuple, a list, a set or the keys of a dict are, where all of it is written down; else nothing."""
    from sselint.read.python.interpreter import containers

    held: Sequence[Value] = ()
    if isinstance(container, Tuple):
        held = container.items
    elif isinstance(container, Ref) and m.object(container).grows is None:
        held = containers.all_elements(m, container)
    written: list[object] = [value.value for value in held if isinstance(value, Const)]
    return list(dict.fromkeys(written)) if len(written) == len(held) else []
