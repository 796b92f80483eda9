"""Values as the process keeps them, for whoever comes later: without what holds for one run alone."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sselint.read.python.interpreter.values import (
    Found,
    Input,
    Join,
    Length,
    Minted,
    Position,
    Tuple,
    Value,
    leaves,
    settled,
)

if TYPE_CHECKING:
    from sselint.read.python.interpreter.machine import Machine


def as_kept(m: Machine, value: Value) -> Value:
    """A value that goes where others find it. What the client chose, and a container of the process was seen to have,
    is one of its keys where it stands in front of a number: the name of a run, with the events of that run."""
    value = settled(value)
    if isinstance(value, Tuple):
        return replace(value, items=tuple(as_kept(m, item) for item in value.items))
    if not isinstance(value, Join) or not any(isinstance(leaf, Minted | Length | Position) for leaf in leaves(value)):
        return value
    return replace(value, parts=tuple(found_among(m, part) for part in value.parts))


def found_among(m: Machine, value: Value) -> Value:
    """A value that the client chose, marked as a key of the container that was seen to have it."""
    if not isinstance(value, Input):
        return value
    lookups = (k for k, hit in m.overlay.known.items() if hit == 0 and isinstance(k, tuple) and len(k) == 3)
    among = next((number for what, number, asked in lookups if what == "lookup" and asked == value), None)
    return Found(value.name, among) if among is not None else value
