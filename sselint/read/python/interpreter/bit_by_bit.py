"""Bytes that are put together bit by bit: `buffer.extend(piece)`."""

from __future__ import annotations

from sselint.read.python.interpreter import arithmetic, expressions, text
from sselint.read.python.interpreter.machine import Frame, Machine
from sselint.read.python.source import ir


def extended(m: Machine, node: ir.Expression, frame: Frame) -> bool:
    """Whether a statement makes a text longer in its place: the name holds the longer text from then on."""
    called = node.function if isinstance(node, ir.Call) else None
    if not isinstance(node, ir.Call) or not isinstance(called, ir.Attribute) or called.name != "extend":
        return False
    if not isinstance(called.value, ir.Name | ir.Attribute) or len(node.arguments) != 1:
        return False
    held = expressions.evaluate(m, called.value, frame)
    if not text.is_text(held):
        return False
    from sselint.read.python.interpreter import statements

    piece = expressions.evaluate(m, node.arguments[0].value, frame)
    statements.assign(m, called.value, arithmetic.binary(m, "+", held, piece, m.site(frame, node)), frame)
    return True
