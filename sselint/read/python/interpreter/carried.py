"""What functions carry with them: attributes that somebody sets on a function (`next_id.count = 0`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sselint.read.python.interpreter.values import Function, Ref, Value
from sselint.read.python.source.modules import Site

if TYPE_CHECKING:
    from sselint.read.python.interpreter.machine import Machine


def write(m: Machine, function: Function, name: str, value: Value, site: Site) -> None:
    """Sets an attribute of a function: of one of those that a decorator made of others."""
    own = Site(function.module, function.node.cst)
    target = m.heap.make(_key(function), "namespace", function.name, own, True)
    target.boot, target.label = True, function.name
    m.write_attribute(Ref(target.id), name, value, site)


def read(m: Machine, function: Function, name: str, site: Site | None = None) -> Value | None:
    """An attribute of a function, None where nothing sets it."""
    number = m.heap.number(_key(function))
    return m.read_attribute(Ref(number), name, site) if number in m.heap.objects else None


def _key(function: Function) -> tuple[object, ...]:
    return "attributes of", function.node, function.wrapped
