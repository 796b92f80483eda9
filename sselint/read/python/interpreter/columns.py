"""Entries by their names: the columns of a row that is copied, and the numbers in an element of a history.

Of rows that are copied column by column, one column stands for all, whatever they are called.
What a copy is asked for is what was left in it: a name that was filtered out is none that anybody asks for.
"""

from __future__ import annotations

from collections.abc import Iterable

from sselint.read.python.interpreter import containers
from sselint.read.python.interpreter.machine import Frame, Machine
from sselint.read.python.interpreter.values import Const, Ref, Remembered, Reply, Tuple, Unknown, Value
from sselint.read.python.source import ir
from sselint.read.python.stores import stores

PICKED_BY = frozenset({"==", "!=", "in", "not in", "is", "is not"})
"""What columns are picked by, held against a name or a value; what comes behind the cursor is asked for otherwise."""


def copied_into(m: Machine, value: Value) -> Value | None:
    """The row that was copied column by column into a dict of the run, None where none was."""
    if not isinstance(value, Ref) or m.object(value).kind != "dict" or not m.own(value):
        return None
    pairs = containers.all_pairs(m, value)
    return next((v for k, v in pairs if isinstance(k, Reply | Unknown) and type(v) is type(k)), None)


def of_copy(m: Machine, ref: Ref, key: Const) -> Value | None:
    """A field of a row that was copied into a dict."""
    copied = copied_into(m, ref)
    return stores.reply_item(m, copied, key) if isinstance(copied, Reply) else copied


def is_column(value: Value) -> bool:
    """Whether a value is a column of a row with its name, as `row.items()` gives it."""
    if not isinstance(value, Tuple) or len(value.items) != 2:
        return False
    name, held = value.items
    return isinstance(name, Reply) and name.inner and name == held


def stays(m: Machine, tests: Iterable[ir.Expression], frame: Frame) -> bool:
    """Whether a copy of a row keeps columns that pass these tests: it does, unless they are about the cursor."""
    from sselint.read.python.interpreter import expressions

    return all(_picks(m, test, frame) or expressions.condition(m, test, frame) for test in tests)


def _picks(m: Machine, test: ir.Expression, frame: Frame) -> bool:
    from sselint.read.python.interpreter import expressions

    if isinstance(test, ir.Unary) and test.operator == "not":
        test = test.operand
    if isinstance(test, ir.Logical):
        return _picks(m, test.left, frame) and _picks(m, test.right, frame)
    if isinstance(test, ir.Compare):
        sides = [expressions.evaluate(m, side, frame) for side in (test.left, *(right for _, right in test.rest))]
        named = all(sign in PICKED_BY for sign, _ in test.rest)
        return named and not stores.told_cursor(m, sides)
    found = expressions.evaluate(m, test, frame)
    return isinstance(found, Reply) and not stores.told_cursor(m, [found])


def as_state(m: Machine, value: Value, about: int) -> Value:
    """A number in an element that another run has put there, also where it is kept as text."""
    if isinstance(value, Const) and isinstance(value.value, str) and value.value.isdecimal():
        return Remembered(value.value, value.kind, about, trail=value.trail)
    return m.as_state(value, about)
