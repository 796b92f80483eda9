"""Which loops are sure to come to an end, where the questions that a run asks but once would keep them going."""

from __future__ import annotations

from collections.abc import Sequence

from sselint.read.python.interpreter.machine import Machine
from sselint.read.python.source import ir
from sselint.read.python.source.lower import walk

TAKES_AWAY = ("pop", "popleft", "popitem", "remove", "discard", "clear")
"""Methods of Python's own containers that leave fewer in them."""
PUTS = ("append", "appendleft", "extend", "insert", "add")
ASKS = ("get", "items", "keys", "values", "index", "count")
"""Methods that put something into them, and that ask for it."""
PLAIN = ("len", "int", "str", "tuple", "dict", "min", "max")


def comes_to_an_end(m: Machine, node: ir.While) -> bool:
    """Whether a loop is sure to end: start-up does, or there is no server, but `while True` only if it says where; and
    so does one that takes away from what it asks, or counts up to how much there is."""
    if m.boot:
        return not isinstance(node.test, ir.Constant) or _breaks(node.body)
    return takes_away(node) or counts_up(node) or collects(node)


def takes_away(node: ir.While) -> bool:
    """Whether the body of a loop leaves less in something that its test asks."""
    asked = {name for part in walk((node.test,)) if (name := _dotted(part))}
    return any(name in asked for name in map(_taken_from, walk(node.body)))


def collects(node: ir.While) -> bool:
    """Whether a loop does nothing but put what it finds into a container: there is only so much to be found."""
    parts = list(walk((node.test, *node.body)))
    if any(isinstance(part, (ir.Yield, ir.Await, ir.While, ir.For)) for part in parts):
        return False
    called = [_dotted(part.function).rpartition(".") for part in parts if isinstance(part, ir.Call)]
    known = all(name in ((*PUTS, *ASKS) if holder else PLAIN) for holder, _, name in called)
    return known and any(holder and name in PUTS for holder, _, name in called)


def counts_up(node: ir.While) -> bool:
    """Whether a loop counts a name on that its test holds against a length, or back to where the counting began."""
    below = [part for part in walk((node.test,)) if isinstance(part, ir.Compare) and len(part.rest) == 1]
    tested = {part.left.id: part.rest[0] for part in below if isinstance(part.left, ir.Name)}
    counted = [part for part in node.body if isinstance(part, ir.Augment) and isinstance(part.target, ir.Name)]
    names = ((part.target.id, part.operator) for part in counted if isinstance(part.target, ir.Name))
    return any(name in tested and _is_bound(operator, *tested[name]) for name, operator in names)


def _is_bound(operator: str, sign: str, other: ir.Expression) -> bool:
    length = isinstance(other, ir.Call) and isinstance(other.function, ir.Name) and other.function.id == "len"
    if operator == "-":
        return sign in (">", ">=") and isinstance(other, ir.Constant)
    return operator == "+" and sign in ("<", "!=") and length


def _breaks(body: Sequence[ir.Statement]) -> bool:
    """Whether the body of a loop leaves the loop where nothing has failed."""
    for statement in body:
        if isinstance(statement, ir.Jump) and statement.kind == "break":
            return True
        if isinstance(statement, ir.If | ir.Try) and _breaks((*statement.body, *statement.orelse)):
            return True
        if isinstance(statement, ir.With) and _breaks(statement.body):
            return True
    return False


def _taken_from(node: ir.Node) -> str:
    """What a piece of code takes something away from, by its dotted name, or "" where it does not."""
    if isinstance(node, ir.Delete) and isinstance(node.target, ir.Subscript):
        return _dotted(node.target.value)
    if isinstance(node, ir.Call) and isinstance(node.function, ir.Attribute) and node.function.name in TAKES_AWAY:
        return _dotted(node.function.value)
    return ""


def _dotted(node: ir.Node) -> str:
    if isinstance(node, ir.Name):
        return node.id
    if isinstance(node, ir.Attribute):
        holder = _dotted(node.value)
        return f"{holder}.{node.name}" if holder else ""
    return ""
