"""Whether a comparison holds, under what the run assumes about the cursor."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from sselint.read.python.interpreter import at_cursor, iteration, last, membership, oldest, pieces, rings
from sselint.read.python.interpreter.machine import Frame, Hypothesis, Machine
from sselint.read.python.interpreter.values import (
    COUNTING,
    STORED,
    ClassValue,
    Collection,
    Const,
    Cursor,
    External,
    Function,
    Input,
    Item,
    Join,
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
    leaves,
    mentions_cursor,
)
from sselint.read.python.source.modules import Site

ORDER = at_cursor.ORDER
MIRROR = at_cursor.MIRROR
RANK = {**at_cursor.RANK, "low": -1, "high": 1}
GIVEN = ("path", "the request's id")
FAR = 10**6
"""A constant above this is not one that every well-formed cursor exceeds."""


def holds(m: Machine, sign: str, left: Value, right: Value, site: Site, frame: Frame) -> bool:
    """Whether `left sign right`."""
    if sign in ("in", "not in"):
        return membership.contains(m, right, left, site, frame) == (sign == "in")
    if sign in ("is", "is not"):
        return _identical(m, left, right, site) == (sign == "is")
    if isinstance(left, Const) and isinstance(right, Const):
        return _constants(sign, left.value, right.value)
    if isinstance(left, Tuple) and isinstance(right, Tuple) and sign in ORDER:
        known = _in_order(sign, left.items, right.items)
        if known is not None:
            return known
    for one, other, mirrored in ((left, right, False), (right, left, True)):
        if isinstance(one, Variable) and isinstance(other, Const):
            wanted = MIRROR[sign] if mirrored and sign in MIRROR else sign
            label = f"{wanted} {other.value!r}"
            return m.world.decide_variable(m, one, label, site, partial(_compared, wanted, other.value))
    for one, other, mirrored in ((left, right, False), (right, left, True)):
        if pieces.is_count(one) and isinstance(other, Const):
            return pieces.compares(m, MIRROR.get(sign, sign) if mirrored else sign, other, site)
    for one, other, mirrored in ((left, right, False), (right, left, True)):
        if is_cursor(m, one):
            wanted = MIRROR.get(sign, sign) if mirrored else sign
            return _with_cursor(m, wanted, one, other, site)
    known = at_cursor.compares(m, sign, left, right)
    known = last.compares(m, sign, left, right) if known is None else known
    return known if known is not None else _other(m, sign, left, right, site)


def is_cursor(m: Machine, value: Value) -> bool:
    """Whether the cursor had a say in a value; objects of the tree are looked into once."""
    if mentions_cursor(value):
        return True
    if isinstance(value, Ref) and m.object(value).kind == "instance":
        return any(map(mentions_cursor, m.overlay.attributes_of(value).values()))
    return False


def carries(part: Value, given: Value) -> bool:
    """Whether a part of the cursor is what the client asks for in any case (`channel:number`, of its own channels):
    whoever made the id has put there what this request names too."""
    shape = part.shape if isinstance(part, Cursor) else None
    if shape is None or not all(isinstance(leaf, Input | Const) for leaf in leaves(shape)):
        return False
    return any(isinstance(leaf, Input) and leaf in leaves(shape) for leaf in leaves(given))


def _compared(sign: str, right: Any, left: Any) -> bool:
    return _constants(sign, left, right)


def _constants(sign: str, left: Any, right: Any) -> bool:
    try:
        if sign == "==":
            return bool(left == right)
        if sign == "!=":
            return bool(left != right)
        return bool(ORDER[sign](left, right))
    except (TypeError, KeyError):
        return False


def _in_order(sign: str, left: Sequence[Value], right: Sequence[Value]) -> bool | None:
    """Whether one tuple comes before another, by the first elements that differ; None where these are not known."""
    for one, other in zip(left, right, strict=False):
        if not isinstance(one, Const) or not isinstance(other, Const):
            return None
        if one.value != other.value:
            return _constants(sign, one.value, other.value)
    return _constants(sign, len(left), len(right))


def _identical(m: Machine, left: Value, right: Value, site: Site) -> bool:
    if isinstance(left, Const) and isinstance(right, Const):
        return left.value is right.value or left.value == right.value
    for one, other in ((left, right), (right, left)):
        if isinstance(other, Const) and other.value is None:
            if isinstance(one, Variable):
                return m.world.decide_variable(m, one, "is None", site, lambda v: v is None)
            if isinstance(one, Reply) and one.is_there:
                return False  # the answer itself is there; and a store without any entry has none to send
            if isinstance(one, Reply | Unknown) or (isinstance(one, Input) and not is_given(one)):
                kind = "opaque" if isinstance(one, Unknown) and one.cursor else "condition"
                first, label = (one.first, one.name) if isinstance(one, Input) else (0, "whether there is an answer")
                return m.once(2, ("none", site), kind, label, site, first) == 1
            return False
    if isinstance(left, Ref) and isinstance(right, Ref):
        return left == right
    if isinstance(left, External | ClassValue | Function) and isinstance(right, External | ClassValue | Function):
        return left == right
    return _ask(m, left, right, site)


def _with_cursor(m: Machine, sign: str, cursor: Value, other: Value, site: Site) -> bool:
    """`cursor sign other`."""
    if m.hypothesis is Hypothesis.BUILD:
        return m.choose(2, ("cursor", site), "condition", "what the cursor is", site) == 0
    m.note("compare", site, other=other, phase=m.phase())
    if m.hypothesis is Hypothesis.MALFORMED:
        return (
            sign == "!="
            if sign in ("==", "!=")
            else m.once(2, ("order", site), "condition", "how a malformed cursor compares", site) == 0
        )
    if sign in ("==", "!="):
        return _equals(m, cursor, other, site) == (sign == "==")
    phase = m.phase()
    if isinstance(other, Const) and not isinstance(other, Remembered) and not _in_table(m):
        if isinstance(cursor, Cursor) and cursor.back:
            return _distance(m, sign, cursor, other, site)
        return _against_number(m, sign, other, site)
    if phase and (not isinstance(other, Length | Cursor | Position) or _was_stored(other)):
        return bool(ORDER[sign](0, RANK[phase])) if phase in RANK else True
    return _against_bound(m, sign, cursor, other, site)


def _was_stored(value: Value) -> bool:
    """Whether a length is the number that an element was given when it was put away, not the end of what is here."""
    return isinstance(value, Length) and any(step.note == STORED for step in value.trail)


def _equals(m: Machine, cursor: Value, other: Value, site: Site) -> bool:
    if is_cursor(m, other):
        return not (m.hypothesis is Hypothesis.FOREIGN and (_of_process(cursor) or _of_process(other)))
    if isinstance(cursor, Position) and isinstance(other, Length):  # a place that something stands at is no end
        return cursor.after and m.once(2, ("end", site), "condition", "whether that is the newest", site) == 0
    shape = cursor.shape if isinstance(cursor, Cursor) else None
    if isinstance(other, Const) and other.value not in ("", None) and _in_table(m):
        return m.hypothesis is Hypothesis.KNOWN and m.phase() == "at"
    if isinstance(other, Const) and not isinstance(other, Remembered):
        if isinstance(shape, Const):
            return _constants("==", str(shape.value), str(other.value))
        if (
            isinstance(cursor, Cursor)
            and cursor.part is not None
            and shape is None
            and other.value not in ("", None, 0)
        ):
            return m.once(2, ("part", site), "opaque", "what that part of the cursor is", site) == 0
        if isinstance(cursor, Unknown) and other.value not in ("", None):
            return m.once(2, ("made", site), "opaque", cursor.why, site) == 0
        if rings.is_place(cursor) and other.value is not None:
            return m.once(2, ("made", site), "opaque", rings.PLACE, site) == 0
        return False
    if isinstance(other, Unknown):
        return m.once(2, ("equal", site), "opaque", other.why, site) == 0
    phase = m.phase()
    if m.hypothesis is Hypothesis.KNOWN and not phase and oldest.is_oldest(other):
        return False  # a search that counts goes on from there
    if m.hypothesis is Hypothesis.KNOWN and not phase and _is_position(cursor) and _of_store(other):
        return m.once(2, ("newest", site), "condition", "whether that is the newest", site) == 0
    if m.hypothesis is Hypothesis.KNOWN:
        return phase == "at" if phase in RANK else True
    if phase in RANK and not isinstance(other, Variable):
        return False
    return is_shared(other) and not (_is_position(cursor) and _of_store(other))


def _of_process(value: Value) -> bool:
    """Whether this process put something into a value that no other has, such as the key of a signature."""
    return any(isinstance(leaf, Minted) and leaf.boot and leaf.kind != "store" for leaf in leaves(value))


def _is_position(cursor: Value) -> bool:
    """Whether a cursor was made a number of: then it names a place, and no life of a server."""
    return isinstance(cursor, Cursor) and cursor.number


def _of_store(value: Value) -> bool:
    return any(isinstance(leaf, Reply | Minted) for leaf in leaves(value))


def _in_table(m: Machine) -> bool:
    """Whether the element that is looked at is one of a table that is written down."""
    return bool(m.phase()) and m.current[-1].selection == iteration.TABLE


def is_shared(value: Value) -> bool:
    """Whether a value is the same on every process: written down, from the environment, or out of a shared store."""
    return all(
        (isinstance(leaf, Const | Variable | Reply) and not isinstance(leaf, Remembered))
        or (isinstance(leaf, Minted) and leaf.kind == "store")
        for leaf in leaves(value)
    )


def names_another(m: Machine, asked: Value, site: Site) -> bool:
    """Whether a text that the cursor is asked for is one of this process, and the cursor is another one's."""
    m.note("compare", site, other=asked, phase="")
    return m.hypothesis is Hypothesis.FOREIGN and not is_shared(asked)


def _against_number(m: Machine, sign: str, other: Const, site: Site) -> bool:
    if isinstance(other.value, int | float) and abs(other.value) < FAR:
        return bool(ORDER[sign](FAR, other.value))
    return m.once(2, ("order", site), "condition", f"whether the cursor is {sign} {other.value!r}", site) == 0


def _distance(m: Machine, sign: str, cursor: Cursor, other: Const, site: Site) -> bool:
    """How far a cursor is behind: one that is known may be far behind and is not beyond, one that is unknown here is
    beyond what was counted; a clock says nothing of the kind."""
    if m.hypothesis is Hypothesis.FOREIGN and cursor.back in COUNTING and isinstance(other.value, int | float):
        return bool(ORDER[sign](-FAR, other.value))
    if m.hypothesis is Hypothesis.KNOWN and other.value == 0 and sign in ("<", ">="):
        return sign == ">="
    return oldest.on_either_side(m, site)


def _against_bound(m: Machine, sign: str, cursor: Value, other: Value, site: Site) -> bool:
    """Against the end of what is here: a cursor that is unknown here lies beyond it, one that is known does
    not. A clock says nothing of the kind."""
    kinds = {leaf.kind for leaf in leaves(other) if isinstance(leaf, Minted)}
    if isinstance(other, Length | Reply | Remembered) or kinds & {*COUNTING, "store"}:
        m.note("bound", site, other=other)
        if oldest.is_oldest(other):
            return oldest.against(m, sign, site)
        if m.hypothesis is Hypothesis.KNOWN and oldest.counts_otherwise(cursor, other):
            return oldest.on_either_side(m, site)
        beyond = m.hypothesis is Hypothesis.FOREIGN and not isinstance(cursor, Position)
        return bool(ORDER[sign](1, 0)) if beyond else bool(ORDER[sign](0, 1))
    kind = "opaque" if isinstance(other, Unknown) and other.cursor else "condition"
    return m.once(2, ("order", site), kind, "how the cursor compares", site) == 0


def _other(m: Machine, sign: str, left: Value, right: Value, site: Site) -> bool:
    if sign == "==" and left == right and not isinstance(left, Unknown | Reply | Minted):
        return True
    if sign == "!=" and left == right and not isinstance(left, Unknown | Reply | Minted):
        return False
    if sign in ("==", "!=") and _never(left, right):
        return sign == "!="
    if isinstance(left, Tuple) and isinstance(right, Tuple) and len(left.items) != len(right.items):
        return sign == "!="
    return _ask(m, left, right, site)


def _never(left: Value, right: Value) -> bool:
    """Whether two values surely differ: what was minted is neither nothing nor empty."""
    for one, other in ((left, right), (right, left)):
        if (
            isinstance(one, Const)
            and one.value in (None, "", b"", False)
            and isinstance(other, Minted | Join | Ref | Cursor | Position)
        ):
            return True
        if isinstance(one, Const) and one.value is None and isinstance(other, Input) and is_given(other):
            return True
    return False


def is_given(value: Input) -> bool:
    """Whether no request comes without it: a part of its path, or what the protocol demands."""
    return value.name.startswith(GIVEN)


def _ask(m: Machine, left: Value, right: Value, site: Site) -> bool:
    kind = "opaque" if mentions_cursor(left) or mentions_cursor(right) else "condition"
    named = next((v.name for v in (left, right) if isinstance(v, Input)), "a comparison")
    return m.once(2, ("compare", site, m.phase() if m.building else ""), kind, named, site) == 0


__all__ = ["Collection", "Item", "Join", "Wrapped", "holds", "is_cursor", "is_shared"]
