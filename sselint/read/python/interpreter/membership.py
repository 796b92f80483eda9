"""Whether something is in a container: `x in y`, for values that are written down, for the cursor, and for all else."""

from __future__ import annotations

from sselint.read.python.interpreter import calls, compare, containers, extended, iteration, text, variables
from sselint.read.python.interpreter.machine import Frame, Hypothesis, Machine
from sselint.read.python.interpreter.values import (
    Collection,
    Const,
    Cursor,
    Join,
    Method,
    Ref,
    Reply,
    Value,
    Variable,
    Wrapped,
    mentions_cursor,
)
from sselint.read.python.source.modules import Site


def contains(m: Machine, container: Value, item: Value, site: Site, frame: Frame) -> bool:
    """`item in container`."""
    told = variables.is_among(m, item, container, site) if isinstance(item, Variable) else None
    if told is not None:
        return told
    if isinstance(container, Const) and isinstance(item, Const):
        try:
            return item.value in container.value
        except TypeError:
            return False
    if isinstance(container, Cursor | Join | Wrapped) or (
        isinstance(container, Const) and isinstance(container.value, str)
    ):
        return text.contains(m, container, item, site)
    method = extended.defined(m, container, "__contains__") if isinstance(container, Ref) else None
    if method is not None:
        return m.truth(calls.awaited(m, calls.call(m, method, (item,), {}, site, frame), site), site)
    if isinstance(container, Ref) and m.object(container).kind not in containers.KINDS:
        return _object_contains(m, container, item, site, frame)
    return is_held(m, container, item, site)


def is_held(m: Machine, container: Value, item: Value, site: Site) -> bool:
    """Whether a list, dict or set, a view of one or an answer of a store has an element."""
    if isinstance(container, Ref) and not m.own(container):
        if m.object(container).kind == "dict" and isinstance(item, Const):
            return containers.find(m, container, item, site) is not None
        if isinstance(item, Const) and m.object(container).elements:
            return _has_constant(m, container, item, site)
        return containers.has_key(m, container, item, site)
    if isinstance(container, Reply) and compare.is_cursor(m, item):
        m.note("lookup", site, container=container.source, hit=m.hypothesis is Hypothesis.KNOWN)
        return m.hypothesis is Hypothesis.KNOWN
    view = iteration.view_of(m, container)
    if view is None:
        kind = "opaque" if mentions_cursor(item) else "condition"
        return m.once(2, ("contains", site), kind, "a membership test", site) == 0
    return _among(m, container, view, item, site)


def _among(m: Machine, container: Value, view: Collection, item: Value, site: Site) -> bool:
    values = [i.value for i in view.items]
    if isinstance(container, Ref) and m.object(container).kind == "dict":
        values = [k for k, _ in containers.all_pairs(m, container)]
    if all(isinstance(v, Const) for v in values) and not view.source:
        if isinstance(item, Const):
            return any(isinstance(v, Const) and v.value == item.value for v in values)
        if values and compare.is_cursor(m, item):
            return False
    if compare.is_cursor(m, item):
        if values and not view.source and not m.building and any(compare.carries(item, v) for v in values):
            return True
        hit = m.hypothesis is Hypothesis.KNOWN and bool(values)
        m.note("lookup", site, container=view.source, hit=hit)
        return hit
    return m.once(2, ("contains", site), "condition", "a membership test", site) == 0


def _has_constant(m: Machine, ref: Ref, item: Const, site: Site) -> bool:
    """Whether a list or set of the process has a value: of those that are written down, and never added to, it is
    known."""
    values = containers.all_elements(m, ref)
    among = any(isinstance(v, Const) and v.value == item.value for v in values)
    if m.object(ref).grows is None and (among or all(isinstance(v, Const) for v in values)):
        return among
    return m.once(2, ("contains", site), "condition", "a membership test", site) == 0


def _object_contains(m: Machine, ref: Ref, item: Value, site: Site, frame: Frame) -> bool:
    from sselint.read.python.libraries import library, proxies

    behind = proxies.behind(m, ref, site)
    if behind is not None:
        return contains(m, behind, item, site, frame)
    if library.describes(m, ref, "__contains__"):
        method = Method(ref, "__contains__")
        return m.truth(calls.awaited(m, calls.call(m, method, (item,), {}, site, frame), site), site)
    return (
        m.once(2, ("contains", site), "opaque" if mentions_cursor(item) else "condition", "a membership test", site)
        == 0
    )
