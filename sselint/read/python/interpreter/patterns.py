"""Whether a `case` pattern matches, and what it binds. Patterns are libcst nodes, read by their type names."""

from __future__ import annotations

import ast
from typing import Any

from sselint.read.python.interpreter import (
    classes,
    compare,
    iteration,
    membership,
    pieces,
    subscripts,
    text,
)
from sselint.read.python.interpreter.machine import Frame, Machine
from sselint.read.python.interpreter.values import Const, Cursor, Ref, Tuple, Unknown, Value, Wrapped
from sselint.read.python.source import lower
from sselint.read.python.source.modules import Site

Bound = dict[str, Value]


def matches(m: Machine, pattern: Any, subject: Value, site: Site, frame: Frame) -> Bound | None:
    """The names that the pattern binds, or None where it does not match."""
    kind = type(pattern).__name__
    if kind == "MatchAs":
        inner: Bound | None = {}
        if pattern.pattern is not None:
            inner = matches(m, pattern.pattern, subject, site, frame)
        if inner is None or pattern.name is None:
            return inner
        return {**inner, pattern.name.value: subject}
    if kind == "MatchOr":
        for element in pattern.patterns:
            found = matches(m, element.pattern, subject, site, frame)
            if found is not None:
                return found
        return None
    if kind in ("MatchValue", "MatchSingleton"):
        return _value(m, pattern, subject, site, frame)
    if kind in ("MatchList", "MatchTuple", "MatchSequence"):
        return _sequence(m, pattern, subject, site, frame)
    if kind == "MatchClass":
        return _class(m, pattern, subject, site, frame)
    if kind == "MatchMapping":
        return _mapping(m, pattern, subject, site, frame)
    return {} if m.once(2, ("pattern", site), "condition", "a pattern", site) == 0 else None


def _value(m: Machine, pattern: Any, subject: Value, site: Site, frame: Frame) -> Bound | None:
    from sselint.read.python.interpreter import expressions

    wanted = expressions.evaluate(m, lower.expression(pattern.value), frame)
    sign = "is" if type(pattern).__name__ == "MatchSingleton" else "=="
    return {} if compare.holds(m, sign, subject, wanted, site, frame) else None


def _sequence(m: Machine, pattern: Any, subject: Value, site: Site, frame: Frame) -> Bound | None:
    elements = list(pattern.patterns)
    star = next((i for i, p in enumerate(elements) if type(p).__name__ == "MatchStar"), None)
    if isinstance(subject, Wrapped) and subject.form.startswith("split:") and isinstance(subject.inner, Cursor):
        return _pieces(m, elements, star, subject, site, frame)
    view = iteration.view_of(m, subject)
    values = list(view.items) if view is not None else None
    if values is None:
        if m.once(2, ("pattern", site), "condition", "the form of a value", site) == 1:
            return None
        parts: list[Value] = [Unknown("a part of something that is not understood") for _ in elements]
    elif isinstance(subject, Tuple) and star is None and len(values) != len(elements):
        return None
    else:
        parts = [values[min(i, len(values) - 1)].value if values else Unknown("nothing") for i in range(len(elements))]
    return _bound(m, elements, star, parts, subject, site, frame)


def _pieces(m: Machine, elements: list[Any], star: int | None, cut: Wrapped, site: Site, frame: Frame) -> Bound | None:
    """The pieces of a cursor that was cut up, where it has as many as the pattern."""
    held = pieces.counted(m, cut)
    wanted = Const.of(len(elements) - (star is not None))
    sign = "==" if star is None else ">="
    if held is None or not compare.holds(m, sign, held, wanted, site, frame):
        return None
    parts = [text.item(m, cut, Const.of(n), site) if n != star else cut for n in range(len(elements))]
    return _bound(m, elements, star, parts, cut, site, frame)


def _bound(
    m: Machine,
    elements: list[Any],
    star: int | None,
    parts: list[Value],
    subject: Value,
    site: Site,
    frame: Frame,
) -> Bound | None:
    """What the patterns of the elements bind, None where one does not match."""
    bound: Bound = {}
    for number, (element, part) in enumerate(zip(elements, parts, strict=True)):
        if number == star:
            if element.name is not None:
                bound[element.name.value] = subject
            continue
        found = matches(m, element.value, part, site, frame)
        if found is None:
            return None
        bound.update(found)
    return bound


def _class(m: Machine, pattern: Any, subject: Value, site: Site, frame: Frame) -> Bound | None:
    from sselint.read.python.interpreter import builtin_calls, expressions

    wanted = expressions.evaluate(m, lower.expression(pattern.cls), frame)
    if not builtin_calls.is_instance(m, subject, wanted, site):
        return None
    bound: Bound = {}
    for keyword in pattern.kwds:
        part = classes.attribute(m, subject, keyword.key.value, site, frame)
        found = matches(m, keyword.pattern, part, site, frame)
        if found is None:
            return None
        bound.update(found)
    if pattern.patterns and not isinstance(subject, Ref):
        found = matches(m, pattern.patterns[0].value, subject, site, frame)
        return None if found is None else {**bound, **found}
    return bound


def _mapping(m: Machine, pattern: Any, subject: Value, site: Site, frame: Frame) -> Bound | None:
    bound: Bound = {}
    for element in pattern.elements:
        try:
            key = Const.of(ast.literal_eval(element.key.value))
        except (ValueError, SyntaxError, AttributeError):
            return None
        if not membership.contains(m, subject, key, site, frame):
            return None
        found = matches(m, element.pattern, subscripts.get_item(m, subject, key, site, frame), site, frame)
        if found is None:
            return None
        bound.update(found)
    return bound
