"""Loops that count a name through the places of a history until the element there is the one that is searched for:
`while i >= 0 and log[i].id != last: i -= 1`."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace

from sselint.read.python.interpreter import at_cursor, expressions, iteration
from sselint.read.python.interpreter.machine import Broke, Continued, Frame, Machine
from sselint.read.python.interpreter.values import (
    Collection,
    Const,
    Item,
    Length,
    Minted,
    Position,
    Value,
    is_const,
    stepped,
)
from sselint.read.python.source import ir
from sselint.read.python.source.lower import walk

OTHERWISE = {"<": ">=", ">=": "<", "==": "!=", "<=": ">", ">": "<="}
ENDS = {(">=", 0): -1, (">", -1): -1, ("!=", -1): -1, (">", 0): 0, ("!=", 0): 0, (">=", 1): 0}
"""Tests that a place on the way to the front stands, with the number at which they fail."""
LEAVES = (ir.Yield, ir.Await, ir.While, ir.For, ir.Try, ir.With, ir.FunctionNode, ir.Lambda)
"""What a search does not do: nothing is sent or waited for in it."""


@dataclass(frozen=True)
class Search:
    """Such a loop: `name` counts, `bound` is the end that it counts up to (None: down to `last`), and `tests` are asked
    of each place. `past` says that the number is one more than the place that is looked at, or was looked at."""

    name: str
    bound: ir.Expression | None
    last: int
    tests: tuple[ir.Expression, ...]
    holder: ir.Expression
    past: bool


def finds(m: Machine, written: ir.While, frame: Frame) -> bool:
    """Runs such a loop, place by place, so that its name holds afterwards where the search came to, or the number that
    a search without a hit ends at. False where it is no such loop."""
    node = _with_test(written)
    search = None if m.building else search_of(node)
    begun = frame.scope.variables.get(search.name) if search is not None else None
    if search is None or not _from_the_end(search, begun):
        return False
    view = iteration.view_of(m, expressions.evaluate(m, search.holder, frame))
    end = expressions.evaluate(m, search.bound, frame) if search.bound is not None else Const.of(search.last)
    if view is None or not view.source or (search.bound is not None and not isinstance(end, Length)):
        return False
    outer = m.live
    try:
        found = _found(m, node, search, view, frame)
    finally:
        m.live = outer  # what was looked at is not what is sent
    if not found:
        frame.scope.variables[search.name] = stepped(end, m.site(frame, node), at_cursor.NOT_FOUND)
        with suppress(*((Broke,) if node is not written else ())):  # else it leaves a loop around this one
            _run(m, node.orelse, frame)
    return True


def _from_the_end(search: Search, begun: Value | None) -> bool:
    """Whether the whole history is searched: from its first place on, or from its last."""
    return isinstance(begun, Length) or (search.bound is not None and is_const(begun or Const.of(None), 0))


def _found(m: Machine, node: ir.While, search: Search, view: Collection, frame: Frame) -> bool:
    """Whether a search ends at an element."""
    upwards = search.bound is not None
    for item in view.items if upwards else reversed(view.items):
        with m.looking_at(replace(item, selection=view.selection, source=item.source or view.source)):
            frame.scope.variables[search.name] = _place(m, view, item, node, frame)
            try:
                if not all(expressions.condition(m, test, frame) for test in search.tests):
                    return _stopped(m, search, view, item, frame)
                _run(m, node.body, frame)
            except Continued:
                continue
            except Broke:
                return _stopped(m, search, view, item, frame)
    return False


def _place(m: Machine, view: Collection, item: Item, node: ir.While, frame: Frame) -> Value:
    return replace(m.minted("index", m.site(frame, node), view.source), phase=item.phase)


def _stopped(m: Machine, search: Search, view: Collection, item: Item, frame: Frame) -> bool:
    """Binds where the search stopped: at the element of the cursor that is a place which the cursor found."""
    held = frame.scope.variables[search.name]
    if item.phase == at_cursor.AT and isinstance(held, Minted):
        frame.scope.variables[search.name] = Position(view.source, after=search.past)
    return True


def _run(m: Machine, block: tuple[ir.Statement, ...], frame: Frame) -> None:
    from sselint.read.python.interpreter import statements

    statements.run_block(m, block, frame)


# -- which loops -----------------------------------------------------------------------------------------------------


def _with_test(node: ir.While) -> ir.While:
    """`while True: if i < 0: break` as the `while i >= 0` that it is: what it does at the end comes behind it."""
    first = node.body[0]
    endless = isinstance(node.test, ir.Constant) and bool(node.test.value) and not node.orelse
    if not endless or not isinstance(first, ir.If) or first.orelse or not isinstance(first.test, ir.Compare):
        return node
    sign, other = first.test.rest[0]
    leaves_loop = isinstance(last := first.body[-1], ir.Return | ir.Raise) or (
        isinstance(last, ir.Jump) and last.kind == "break"
    )
    if len(first.test.rest) != 1 or sign not in OTHERWISE or not leaves_loop:
        return node
    test = ir.Compare(first.test.cst, first.test.left, ((OTHERWISE[sign], other),))
    return ir.While(node.cst, test, node.body[1:], first.body)


def search_of(node: ir.While) -> Search | None:
    """The search that a loop is, None where it is none."""
    first, *tests = _all_of(node.test)
    ahead = first.left if isinstance(first, ir.Compare) and isinstance(first.left, ir.Walrus) else None
    steps = [step for step in map(_step, (ahead, *node.body)) if step is not None]
    if len(steps) != 1 or any(isinstance(part, LEAVES) for part in walk((node.test, *node.body))):
        return None
    name, sign = steps[0]
    bound, last = _bound(first, name, sign)
    place = _looked_at((*tests, *node.body), name)
    if place is None or (bound is None and last is None):
        return None
    holder, less = place
    past = less or (sign == "+" and _step(node.body[-1]) is None)
    return Search(name, bound, last or 0, tuple(tests), holder, past)


def _all_of(test: ir.Expression) -> tuple[ir.Expression, ...]:
    """The tests that all have to hold, in order."""
    if isinstance(test, ir.Logical) and test.operator == "and":
        return (*_all_of(test.left), *_all_of(test.right))
    return (test,)


def _step(node: ir.Node | None) -> tuple[str, str] | None:
    """The name that a piece of code counts by one, and which way; None where it counts none."""
    if isinstance(node, ir.Augment) and isinstance(node.target, ir.Name) and _is_one(node.value):
        return (node.target.id, node.operator) if node.operator in ("+", "-") else None
    if isinstance(node, ir.Assign) and len(node.targets) == 1:
        target, value = node.targets[0], node.value
    elif isinstance(node, ir.Walrus):
        target, value = node.target, node.value
    else:
        return None
    if not isinstance(target, ir.Name) or not isinstance(value, ir.Binary) or value.operator not in ("+", "-"):
        return None
    return (target.id, value.operator) if _beside(value, target.id) else None


def _beside(value: ir.Binary, name: str) -> bool:
    return isinstance(value.left, ir.Name) and value.left.id == name and _is_one(value.right)


def _is_one(node: ir.Node) -> bool:
    return isinstance(node, ir.Constant) and node.value == 1


def _bound(test: ir.Expression, name: str, sign: str) -> tuple[ir.Expression | None, int | None]:
    """The end that a test holds a place against: an expression on the way up, a number on the way down."""
    if isinstance(test, ir.Name) and test.id == name and sign == "-":
        return None, 0
    if not isinstance(test, ir.Compare) or len(test.rest) != 1:
        return None, None
    (compared, other), asked = test.rest[0], test.left
    if isinstance(other, ir.Name) and other.id == name:
        compared, asked, other = at_cursor.MIRROR.get(compared, ""), other, asked
    asked = asked.target if isinstance(asked, ir.Walrus) else asked
    if not isinstance(asked, ir.Name) or asked.id != name:
        return None, None
    if sign == "+":
        return (other, None) if compared in ("<", "!=") else (None, None)
    return None, ENDS.get((compared, other.value)) if isinstance(other, ir.Constant) else None


def _looked_at(parts: tuple[ir.Node, ...], name: str) -> tuple[ir.Expression, bool] | None:
    """What is looked into at the place that a name counts, and whether one in front of it."""
    for part in walk(parts):
        if not isinstance(part, ir.Subscript) or not isinstance(part.value, ir.Name | ir.Attribute):
            continue
        index = part.index
        if isinstance(index, ir.Name) and index.id == name:
            return part.value, False
        if isinstance(index, ir.Binary) and index.operator == "-" and _beside(index, name):
            return part.value, True
    return None
