"""Loops that take the first off what a run copied of a history, for as long as it is not what the client misses."""

from __future__ import annotations

from dataclasses import replace

from sselint.read.python.interpreter import expressions
from sselint.read.python.interpreter.machine import Frame, Machine
from sselint.read.python.interpreter.values import Collection, Value
from sselint.read.python.source import ir


def drops_first(m: Machine, node: ir.While, frame: Frame) -> bool:
    """Runs such a loop, element by element: `while rest and rest[0].id <= last: rest.pop(0)`. What is left is bound to
    the same name. False where it is no such loop."""
    name = _first_of(node.body[0]) if len(node.body) == 1 else None
    view = expressions.evaluate(m, name, frame) if name is not None and not m.building else None
    if name is None or not isinstance(view, Collection) or not view.source:
        return False
    kept = list(view.items)
    while kept:
        with m.looking_at(replace(kept[0], selection=view.selection, source=kept[0].source or view.source)):
            _bind(m, name, replace(view, items=tuple(kept)), frame)
            if not expressions.condition(m, node.test, frame):
                break
        kept.pop(0)
    _bind(m, name, replace(view, items=tuple(kept)), frame)
    return True


def _bind(m: Machine, name: ir.Name, value: Value, frame: Frame) -> None:
    from sselint.read.python.interpreter import statements

    statements.assign(m, name, value, frame)


def _first_of(statement: ir.Statement) -> ir.Name | None:
    """The name whose first element a statement takes away."""
    if isinstance(statement, ir.Delete) and isinstance(statement.target, ir.Subscript):
        holder, index = statement.target.value, statement.target.index
        return holder if isinstance(holder, ir.Name) and _is_zero(index) else None
    call = statement.value if isinstance(statement, ir.Evaluate) else None
    if not isinstance(call, ir.Call) or not isinstance(call.function, ir.Attribute):
        return None
    first = call.arguments[0].value if call.arguments else None
    taken = call.function.name == "popleft" or (call.function.name == "pop" and _is_zero(first))
    return call.function.value if taken and isinstance(call.function.value, ir.Name) else None


def _is_zero(node: ir.Node | None) -> bool:
    return isinstance(node, ir.Constant) and node.value == 0
