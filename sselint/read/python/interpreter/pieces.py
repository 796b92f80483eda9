"""Text cut up at a separator: as many pieces as what was put together has, and what a program says of their number."""

from __future__ import annotations

import operator
from dataclasses import replace

from sselint.read.python.interpreter import text
from sselint.read.python.interpreter.machine import Hypothesis, Machine
from sselint.read.python.interpreter.values import Const, Cursor, Tuple, Value, Wrapped
from sselint.read.python.source.modules import Site

COUNT = "count"
"""The form of the number of pieces of a cursor of which it is not known how many it has."""
SIGNS = {
    "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip


def cut_up(shape: Value | None, separator: str, limit: int = -1, last: bool = False) -> list[Value]:
    """The pieces of a shape, cut at most `limit` times; from its end, if `last`."""
    found: list[Value] = []
    rest = shape
    while rest is not None:
        cut = text.shape_parts(rest, separator, last) if limit != len(found) else None
        if cut is None:
            found.append(rest)
            break
        found.append(cut[last])
        rest = cut[not last]
    return found[::-1] if last else found


def of_cursor(m: Machine, cursor: Cursor, separator: str, limit: Value | None, last: bool) -> Value | None:
    """A well-formed cursor cut up, where it is sure into how many pieces; else None."""
    if m.hypothesis in (Hypothesis.MALFORMED, Hypothesis.BUILD):
        return None
    bound = limit.value if isinstance(limit, Const) and isinstance(limit.value, int) else -1
    found = cut_up(cursor.shape, separator, bound, last)
    if len(found) != bound + 1 and (cursor.shape is None or text.is_opaque(cursor.shape)):
        return None
    if len(found) < 2:
        return None
    return Tuple(tuple(replace(cursor, part=n, shape=shape) for n, shape in enumerate(found)))


def counted(m: Machine, cut: Wrapped) -> Value | None:
    """How many pieces a text has that was cut up, None where nothing is known of it."""
    cursor = cut.inner
    if not isinstance(cursor, Cursor):
        return None
    if m.hypothesis is Hypothesis.MALFORMED:
        return Const.of(1)
    if cursor.shape is not None and not text.is_opaque(cursor.shape):
        return Const.of(len(cut_up(cursor.shape, cut.form.removeprefix("split:"))))
    return Wrapped(COUNT, cursor)


def is_count(value: Value) -> bool:
    """Whether a value is the number of pieces of a cursor."""
    return isinstance(value, Wrapped) and value.form == COUNT


def compares(m: Machine, sign: str, other: Const, site: Site) -> bool:
    """`number of pieces sign other` of a cursor that is well formed: what a program asks for is what it has, since the
    program made it so."""
    if m.hypothesis is Hypothesis.BUILD:
        return m.choose(2, ("pieces", site), "condition", "how many pieces the cursor has", site) == 0
    m.note("parse", site)
    wanted = other.value if isinstance(other.value, int) else 0
    if sign in SIGNS and ((wanted >= 2 and sign not in (">", "<=")) or (wanted == 1 and sign in (">", "<="))):
        return bool(SIGNS[sign](max(wanted, 2), wanted))
    return m.once(2, ("pieces", site), "opaque", "how many pieces the cursor has", site) == 0


__all__ = ["COUNT", "compares", "counted", "cut_up", "is_count", "of_cursor"]
