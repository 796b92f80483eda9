"""Which way leads on, by its text: the branch for a stream where a handler looks at the request's path itself, and the
cursor where something else may stand in its place.

It only says what is run first. A handler with a branch for each of thirty addresses costs more than there is to spend
before the last of them is come to.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary, WeakSet

from sselint.read.python.interpreter import expressions, text
from sselint.read.python.interpreter.values import Function
from sselint.read.python.source import ir
from sselint.read.python.source.evidence import LAST_EVENT_ID, mentions_stream

if TYPE_CHECKING:
    from sselint.read.python.interpreter.machine import Frame, Machine

NAMES = re.compile(r"\w+")
_leading: WeakKeyDictionary[ir.Node, bool] = WeakKeyDictionary()
"""Of branches for one address, whether they lead to a stream."""
_cursors: WeakKeyDictionary[ir.Node, bool] = WeakKeyDictionary()
"""Of pieces of code, whether they ask for the cursor."""
_aside: WeakSet[ir.Node] = WeakSet()
"""Branches that leave one that leads to a stream before it is come to."""


def holds(m: Machine, node: ir.If, frame: Frame) -> bool:
    """Whether the test of a branch holds. Where it is about the request's path, and the branch says nothing of streams,
    it is first tried that it does not; and where a client that has nothing else is asked for the cursor, that it has
    nothing."""
    passed_by = (not m.boot and _is_passed_by(m, node, frame)) or _else_cursor(node, frame)
    return _first(m, int(passed_by), lambda: expressions.condition(m, node.test, frame))


def holds_unless(m: Machine, passed_by: bool, test: Callable[[], bool]) -> bool:
    """Whether a test holds; where what it leads to is `passed_by`, it is first tried that it does not."""
    return _first(m, 1, test) if passed_by else test()


def reads_cursor(node: ir.Node, frame: Frame) -> bool:
    """Whether a piece of code asks for the cursor by its name on the wire: what stands in its place is answered by that
    of the client's own, and most of what is worth knowing begins where the client has none."""
    if not frame.module.names_cursor:
        return False  # the text of a piece of code costs as much as parsing it
    if node not in _cursors:
        _cursors[node] = any(word in frame.module.code(node.cst).lower() for word in LAST_EVENT_ID)
    return _cursors[node]


def _else_cursor(node: ir.If, frame: Frame) -> bool:
    missing = _is_missing(node.test)
    if missing is None:
        return False
    asking, other = (node.body, node.orelse) if missing else (node.orelse, node.body)
    return any(reads_cursor(s, frame) for s in asking) and not any(reads_cursor(s, frame) for s in other)


def _is_missing(test: ir.Expression) -> bool | None:
    """Whether a test asks that a name holds nothing (True), or that it holds something; None where it asks else."""
    if isinstance(test, ir.Name):
        return False
    if isinstance(test, ir.Unary) and test.operator == "not":
        return True if isinstance(test.operand, ir.Name) else None
    if isinstance(test, ir.Compare) and isinstance(test.left, ir.Name) and len(test.rest) == 1:
        sign, other = test.rest[0]
        if isinstance(other, ir.Constant) and other.value is None and sign in ("is", "is not"):
            return sign == "is"
    return None


def _first(m: Machine, option: int, test: Callable[[], bool]) -> bool:
    outer = m.first
    m.first = (m.depth, option)
    try:
        return test()
    finally:
        m.first = outer


def _is_passed_by(m: Machine, node: ir.If, frame: Frame) -> bool:
    return node in _aside or (_asks_for_path(node.test) and not _leads(m, node, frame))


def _asks_for_path(test: ir.Expression) -> bool:
    if isinstance(test, ir.Logical):
        both = (_asks_for_path(test.left), _asks_for_path(test.right))
        return any(both) if test.operator == "and" else all(both)
    asked: ir.Expression | None = None
    if isinstance(test, ir.Compare):
        asked = test.left
    elif isinstance(test, ir.Call) and isinstance(test.function, ir.Attribute) and test.function.name in text.AFFIXES:
        asked = test.function.value
    return (isinstance(asked, ir.Attribute) and asked.name == "path") or (
        isinstance(asked, ir.Name) and asked.id == "path"
    )


def _leads(m: Machine, node: ir.If, frame: Frame) -> bool:
    """Whether a branch mentions streams, or calls a function of its file that does. What leaves it before is aside."""
    if node not in _leading:
        _leading[node] = _mentions(m, node.body, frame)
        if _leading[node]:
            before = (inner for inner in node.body if isinstance(inner, ir.If) and _leaves(inner.body))
            _aside.update(inner for inner in before if not _mentions(m, inner.body, frame))
    return _leading[node]


def _leaves(body: Sequence[ir.Statement]) -> bool:
    return bool(body) and isinstance(body[-1], ir.Return | ir.Raise)


def _mentions(m: Machine, body: Sequence[ir.Statement], frame: Frame) -> bool:
    written = "\n".join(frame.module.code(statement.cst) for statement in body)
    known = m.world.globals.get(frame.module.path, {})
    called = (value for name in set(NAMES.findall(written)) for value in known.get(name, ()))
    texts = (written, *(f.module.code(f.node.cst) for f in called if isinstance(f, Function)))
    return any(map(mentions_stream, texts))
