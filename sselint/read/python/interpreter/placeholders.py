"""What stands in for a value that nobody has been seen to give yet: it goes where somebody does.

A function that nobody calls is looked at by itself, with arguments that stand in for what callers would give. It may
turn out later that it has callers. Likewise what was read from a container before anything was seen to fill it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from sselint.read.python.interpreter.values import Input, Unknown, Value, leaves
from sselint.read.python.source import ir

if TYPE_CHECKING:
    from sselint.read.python.interpreter.machine import Machine

UNFILLED = "nothing in the tree fills "


def argument(m: Machine, given: Input | Unknown, function: ir.FunctionNode | ir.Lambda) -> Value:
    """An argument of a function that is looked at by itself: `given`, as long as nobody calls the function."""
    m.world.placeholders.setdefault(_said(given), set()).add(function)
    return given


def unfilled(label: str, cursor: bool = False) -> Unknown:
    """What is in a container that nothing fills."""
    return Unknown(UNFILLED + label, cursor)


def without(m: Machine, options: Iterable[Value]) -> list[Value]:
    """Of the values that were put somewhere those that are no stand-ins; all of them where there is nothing else."""
    found = list(options)
    if len(found) < 2:
        return found
    return [v for v in found if not any(_is_one(m, leaf) for leaf in leaves(v))] or found


def _said(value: Input | Unknown) -> str:
    return value.name if isinstance(value, Input) else value.why


def _is_one(m: Machine, value: Value) -> bool:
    if not isinstance(value, Input | Unknown):
        return False
    functions = m.world.placeholders.get(_said(value))
    if functions:
        return functions <= m.world.reached
    return isinstance(value, Unknown) and value.why.startswith(UNFILLED)
