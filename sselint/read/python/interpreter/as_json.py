"""Ids that are JSON: dicts and lists as the text that they are sent as, and what stands in such text under a name."""

from __future__ import annotations

import re
from dataclasses import replace

from sselint.read.python.interpreter import containers, iteration, text
from sselint.read.python.interpreter.machine import Hypothesis, Machine, Raised
from sselint.read.python.interpreter.values import (
    COUNTING,
    Const,
    Cursor,
    Exceptional,
    Join,
    Minted,
    Ref,
    Value,
    Wrapped,
)
from sselint.read.python.source.modules import Site

MAX_DEPTH = 3
CONTAINERS = ("list", "dict")
ENTRY = re.compile(r'[{\[,] ?(?:"([^"]*)": )?"?([^,\]}{"]*)')
"""Where an entry begins in text: its name, if it has one, and what is written of it there."""


def spelled(m: Machine, value: Value, depth: int = 0) -> Value:
    """A value with the dicts and lists of the run in it written out, as JSON is."""
    if isinstance(value, Join):
        return text.join([spelled(m, part, depth) for part in value.parts])
    if isinstance(value, Wrapped):
        inner = spelled(m, value.inner, depth)
        if value.form == "json" and inner is not value.inner:
            return inner
        return replace(value, inner=inner)
    if not isinstance(value, Ref) or depth > MAX_DEPTH or m.object(value).kind not in CONTAINERS:
        return value
    if m.object(value).kind == "dict":
        entries = containers.known_entries(m, value)
        if not entries:
            return value
        parts = [part for name, held in entries.items() for part in (f', "{name}": ', spelled(m, held, depth + 1))]
        return _between("{", parts, "}")
    view = iteration.view_of(m, value)
    if view is None or not view.items or not m.own(value):
        return value
    return _between("[", [part for i in view.items for part in (", ", spelled(m, i.value, depth + 1))], "]")


def _between(begin: str, parts: list[str | Value], end: str) -> Value:
    first, *others = parts
    head = begin + (first.removeprefix(", ") if isinstance(first, str) else "")
    return text.join([Const.of(p) if isinstance(p, str) else p for p in (head, *others, end)])


def entry(m: Machine, cursor: Cursor, name: Value, site: Site | None) -> Value | None:
    """What stands under a name, or at a place, in a cursor that is JSON; None where it is not seen to be."""
    known = _entries(cursor.shape)
    if not known or not isinstance(name, Const):
        return None
    if m.hypothesis is Hypothesis.MALFORMED:
        raise Raised(Exceptional("KeyError"), site)
    place = name.value
    if isinstance(place, str):
        place = next((n for n, (key, _) in enumerate(known) if key == place), None)
    if not isinstance(place, int) or not -len(known) <= place < len(known):
        raise Raised(Exceptional("KeyError" if isinstance(name.value, str) else "IndexError"), site)
    held = known[place][1]
    counted = isinstance(held, Minted) and held.kind in COUNTING
    return replace(cursor, part=place, shape=held, number=cursor.number or counted)


def is_list(cursor: Cursor) -> bool:
    """Whether a cursor is seen to be a list."""
    return bool(_entries(cursor.shape)) and not any(name for name, _ in _entries(cursor.shape))


def _entries(shape: Value | None) -> list[tuple[str, Value]]:
    """The entries of text that is a flat dict or list, by their names."""
    parts = list(shape.parts) if isinstance(shape, Join) else []
    first, last = (parts[0], parts[-1]) if len(parts) > 1 else (None, None)
    if not isinstance(first, Const) or not isinstance(last, Const):
        return []
    if (str(first.value)[:1], str(last.value)[-1:]) not in (("{", "}"), ("[", "]")):
        return []
    found: list[tuple[str, list[Value]]] = []
    for part in parts:
        if not isinstance(part, Const):
            if found:
                found[-1][1].append(part)
            continue
        for match in ENTRY.finditer(str(part.value)):
            found.append((match[1] or "", [Const.of(match[2])] if match[2] else []))
    return [(name, text.join(held)) for name, held in found]
