"""Regular expressions: whether the cursor matches, and the parts that the groups of a match stand for."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from sselint.read.python.interpreter import compare, text
from sselint.read.python.interpreter.machine import Arguments, Hypothesis, Machine
from sselint.read.python.interpreter.values import (
    Const,
    Cursor,
    Join,
    Minted,
    Tuple,
    Unknown,
    Value,
    Wrapped,
    leaves,
    mentions_cursor,
)
from sselint.read.python.source.modules import Site


def matched(m: Machine, pattern: Value, subject: Value, site: Site) -> Value:
    """`re.fullmatch(pattern, subject)` and its like: a match, or None."""
    written = "".join(text.spelled(leaf.value) for leaf in leaves(pattern) if isinstance(leaf, Const))
    source = written if text.is_text(pattern) else ""
    if isinstance(subject, Const):  # a default that the author wrote is well formed
        return Wrapped(f"match:{source}", subject)
    if isinstance(subject, Cursor):
        m.note("parse", site)
        made = any(isinstance(leaf, Minted) for leaf in leaves(pattern))
        if m.hypothesis is Hypothesis.MALFORMED or (made and compare.names_another(m, pattern, site)):
            return Const.of(None)
        return Wrapped(f"match:{source}", replace(subject, shape=_without(subject.shape, leaves(pattern))))
    if m.once(2, ("match", site), "condition", "whether the text matches", site) == 1:
        return Const.of(None)
    return Wrapped(f"match:{source}", subject)


def _without(shape: Value | None, asked: Sequence[Value]) -> Value | None:
    """What the groups of a pattern stand for: what the pattern itself names is in none of them."""
    if not isinstance(shape, Join):
        return shape
    return replace(shape, parts=tuple(part for part in shape.parts if isinstance(part, Const) or part not in asked))


def method(m: Machine, match: Wrapped, name: str, a: Arguments) -> Value:
    """A method of a match."""
    if name == "groups":
        return groups(m, match, a.site)
    if name != "group":
        return Unknown(f"{name} of a match", mentions_cursor(match))
    if len(a.positional) > 1:
        return Tuple(tuple(group(m, match, index, a.site) for index in a.positional))
    return group(m, match, a.positional[0] if a.positional else Const.of(0), a.site)


def group(m: Machine, match: Value, index: Value, site: Site | None) -> Value:
    """A group of a match, as the part of the text that it stands for."""
    if not isinstance(match, Wrapped):
        return text.piece(match)
    inner = match.inner
    name = index.value if isinstance(index, Const) else 1
    if name == 0:
        return inner
    number = name if isinstance(name, int) else _group_number(match.form.removeprefix("match:"), str(name))
    if not isinstance(inner, Cursor):
        return text.piece(inner)
    variable = [leaf for leaf in leaves(inner.shape) if not isinstance(leaf, Const)] if inner.shape is not None else []
    shape = variable[number - 1] if number <= len(variable) else None
    return replace(inner, part=number - 1, shape=shape)


def _group_number(pattern: str, name: str) -> int:
    names = re.findall(r"\(\?P<(\w+)>|\((?!\?)", pattern)
    return names.index(name) + 1 if name in names else 1


def groups(m: Machine, match: Value, site: Site) -> Value:
    """All groups of a match."""
    pattern = match.form.removeprefix("match:") if isinstance(match, Wrapped) else ""
    count = len(re.findall(r"\(\?P<\w+>|\((?!\?)", pattern)) or 1
    return Tuple(tuple(group(m, match, Const.of(n + 1), site) for n in range(count)))
