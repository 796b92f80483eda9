"""What an operator makes of two values: text, containers, paths and numbers, as far as they are known."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from sselint.read.python.interpreter import calls, classes, containers, oldest, rings, text
from sselint.read.python.interpreter.machine import Arguments, Machine
from sselint.read.python.interpreter.values import (
    COUNTING,
    FIRST,
    ClassValue,
    Const,
    Cursor,
    External,
    Input,
    Length,
    Minted,
    Position,
    Ref,
    Remembered,
    Reply,
    Tuple,
    Unknown,
    Value,
    Variable,
    Wrapped,
    mentions_cursor,
)
from sselint.read.python.libraries import library
from sselint.read.python.source.modules import Site

ARITHMETIC: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "//": operator.floordiv,
    "%": operator.mod, "|": operator.or_, "&": operator.and_, "^": operator.xor, "<<": operator.lshift,
    ">>": operator.rshift, "**": operator.pow,
}  # fmt: skip
METHODS = {
    "+": "add", "-": "sub", "*": "mul", "/": "truediv", "//": "floordiv", "%": "mod", "|": "or", "&": "and",
    "<<": "lshift", ">>": "rshift", "^": "xor",
}  # fmt: skip
MAX_EXTENT = 10_000
"""Characters of a text, and bits of a number, that are worked out."""
PRECEDENCE = ("random", "ordered", "clock", "counter", "index", "store", "replica", "host", "process", "state")
"""Of two minted numbers that are combined, what the result is most like."""


def binary(m: Machine, sign: str, left: Value, right: Value, site: Site, in_place: bool = False) -> Value:
    """`left sign right`."""
    if sign == "%" and text.is_text(left):
        return text.percent(m, left, right)
    if sign == "-" and left is right and _counts(left):  # the very same reading: the place of what is first here
        return replace(m.minted("counter", site, getattr(left, "about", 0)), phase=FIRST)
    if sign == "-" and _counts_back(left, right):
        return replace(m.minted("counter", site, getattr(left, "about", 0)), phase=oldest.OLDEST)
    if isinstance(left, Const) and isinstance(right, Const):
        return _fold(m, sign, left, right, site)
    if sign == "|" and (isinstance(left, External | ClassValue) or _is_union(left)):  # `int | None` in an annotation
        return _union(left, right)
    if sign == "+" and (text.is_text(left) or text.is_text(right)):
        return text.join([left, right])
    if sign in ("&", "|") and any(isinstance(v, Wrapped) and v.form.startswith("condition") for v in (left, right)):
        return Wrapped("condition" if sign == "&" else "condition:|", Tuple((left, right)))
    if sign in ("+", "|") and (containers.is_container(m, left) or containers.is_container(m, right)):
        return containers.concatenate(m, left, right, site, in_place)
    if sign == "*" and (containers.is_container(m, left) or containers.is_container(m, right)):
        return containers.repeated(m, left if containers.is_container(m, left) else right)
    told = isinstance(right, Input) or text.is_text(right)
    if sign == "/" and told and isinstance(left, Unknown | Input | External):
        left = _path(m, left, site)
    answered = _by_their_methods(m, sign, left, right, site, in_place)
    return answered if answered is not None else _number(m, sign, left, right, site)


def _by_their_methods(m: Machine, sign: str, left: Value, right: Value, site: Site, in_place: bool) -> Value | None:
    """What objects make of an operator that their class, or the rules of a library, have a method for."""
    name = METHODS.get(sign)
    if name is None:
        return None
    asked = [(left, f"__i{name}__", right)] if in_place else []
    for receiver, method, other in (*asked, (left, f"__{name}__", right), (right, f"__r{name}__", left)):
        if not isinstance(receiver, Ref):
            continue
        found = classes.find_method(m, receiver, method)
        if found is not None:
            return calls.call(m, found, (other,), {}, site, None)
        if m.object(receiver).kind == "library" and library.describes(m, receiver, method):
            return library.object_method(m, receiver, method, Arguments((other,), {}, site, None))
    return None


def _path(m: Machine, value: Value, site: Site) -> Value:
    """What nothing is known of but that it is divided by a text: a number is not, a path is."""
    entry = next((e for e in map(m.rules.entry, m.rules.word_list("divided_by_text")) if e is not None), None)
    return value if entry is None else library.make_object(m, entry, Arguments((value,), {}, site, None))


def _is_union(value: Value) -> bool:
    """Whether a value is several classes of the tree, as a type."""
    return isinstance(value, Tuple) and bool(value.items) and all(isinstance(i, ClassValue) for i in value.items)


def _union(left: Value, right: Value) -> Value:
    """A type that is one of two; of what is no class of the tree, only the first is kept."""
    if not isinstance(right, ClassValue) or right == left or isinstance(left, External):
        return left
    return Tuple((*(left.items if isinstance(left, Tuple) else (left,)), right))


def _counts(value: Value) -> bool:
    counted = isinstance(value, Minted) and value.kind in COUNTING
    return counted or isinstance(value, Remembered | Length)


def _counts_back(left: Value, right: Value) -> bool:
    """Whether so many are taken off the number of the newest: what a ring of that size keeps begins there, and so does
    what is kept where its length is taken off."""
    several = isinstance(right, Length) or (isinstance(right, Const) and type(right.value) is int and right.value > 1)
    return several and _counts(left) and not isinstance(left, Length)


def _fold(m: Machine, sign: str, left: Const, right: Const, site: Site) -> Value:
    memory = next((v for v in (left, right) if isinstance(v, Remembered)), None)
    if memory is not None and sign in "+-" and type(left.value) is int and type(right.value) is int:
        return m.minted("counter", site, about=memory.about)
    try:
        if _extent(sign, left.value, right.value) > MAX_EXTENT:
            return Unknown("a very large value")
        value = ARITHMETIC[sign](left.value, right.value)
    except (KeyError, TypeError, ValueError, ArithmeticError, OverflowError):
        return Unknown("the expression does not work out")
    return Const.of(value)


def _extent(sign: str, left: Any, right: Any) -> int:
    """Characters or bits that the result would have, as far as few characters of source can ask for many."""
    if sign == "*" and isinstance(left, int) and isinstance(right, str | bytes | tuple):
        left, right = right, left
    if isinstance(left, str | bytes | tuple):
        return len(left) * right if sign == "*" else len(left) + len(right) if sign == "+" else 0
    if not isinstance(left, int) or not isinstance(right, int):
        return 0
    growth = {"*": left.bit_length() + right.bit_length(), "<<": left.bit_length() + right}
    return left.bit_length() * right if sign == "**" else growth.get(sign, 0)


def _number(m: Machine, sign: str, left: Value, right: Value, site: Site) -> Value:
    told = isinstance(right, Const | Unknown | Variable | External)
    if isinstance(left, Length) and sign in ("-", "//", "/") and told:
        return replace(left, extra=True, less=True)
    for value, other in ((left, right), (right, left)):
        if isinstance(value, Position):
            past = sign == "+" and isinstance(other, Const) and other.value not in (0,)
            return replace(value, after=value.after or past)
        if isinstance(value, Length) and isinstance(other, Const):
            return replace(value, extra=True)
        if isinstance(value, Length) and isinstance(other, Cursor) and m.heap[value.about].kind == "shared":
            return Position(value.about, after=True)  # so many bytes further on than the cursor, in one file
    if mentions_cursor(left) or mentions_cursor(right):
        return _with_cursor(sign, left, right)
    minted = [v for v in (left, right) if isinstance(v, Minted)]
    if minted:
        best = min(minted, key=lambda v: PRECEDENCE.index(v.kind) if v.kind in PRECEDENCE else 99)
        kind = "counter" if best.kind == "state" else best.kind
        return replace(best, kind=kind, phase="" if best.phase == FIRST else best.phase)
    for value in sorted((left, right), key=lambda v: isinstance(v, Input)):  # what is here says more than what is sent
        if isinstance(value, Length | Reply | Variable | Input):
            return value
    return (
        left
        if isinstance(left, Unknown)
        else right
        if isinstance(right, Unknown)
        else Unknown("arithmetic on values that are not numbers")
    )


def _with_cursor(sign: str, left: Value, right: Value) -> Value:
    """A number of which the cursor is a part: still a cursor, unless it was taken off something."""
    if isinstance(left, Cursor):
        return rings.place(left) if sign == "%" and left.number else left
    if not isinstance(right, Cursor):
        return Unknown("computed from the cursor", cursor=True)
    counted = "index" if isinstance(left, Length) else "counter" if isinstance(left, Const) else ""
    kind = left.kind if isinstance(left, Minted) else counted
    return replace(right, back="" if right.back else kind) if sign == "-" else right
