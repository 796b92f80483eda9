"""Services that code out of sight puts where a stream finds them, known by the class that an annotation names."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from sselint.read.python.interpreter import classes
from sselint.read.python.interpreter.machine import Machine
from sselint.read.python.interpreter.values import ClassValue, External, Function, Ref, Unknown, Value
from sselint.read.python.source.modules import Site

if TYPE_CHECKING:
    from sselint.read.python.server.world import World

_held: WeakKeyDictionary[World, dict[ClassValue, tuple[int, Value]]] = WeakKeyDictionary()
"""What was found for each class, and how much was known then: where no program makes one, the one that was made for
it."""


def known(m: Machine, value: Value, kind: Value | None, name: str) -> Value:
    """A value of which nothing is known as an object of the class that its annotation names, where the tree has but one
    class that can be it, and what it is asked is that class's own."""
    if not isinstance(value, Unknown) or value.cursor or not isinstance(kind, ClassValue) or not _serves(m, kind):
        return value
    from sselint.read.python.server import build, free

    held = _held.setdefault(m.world, {})
    made = any(ref.id not in m.world.stand_ins for ref in build.instances(m.world, kind))
    known_then, found = held.get(kind, (-1, value))
    if made or (not isinstance(found, Ref) and known_then != m.world.heap.version):
        found = free.given(m, kind, name, Site(kind.module, kind.node.cst))
        held[kind] = m.world.heap.version, found
    return found if isinstance(found, Ref) else value


def _serves(m: Machine, cls: ClassValue) -> bool:
    """Whether a class has methods and nothing of a library's: it is no record, and no row."""
    return bool(_methods(cls)) and all(base.name in m.rules.word_list("interfaces") for base in _bases(m, cls))


def _bases(m: Machine, cls: ClassValue) -> Iterator[External]:
    return (base for base in classes.library_bases(m, cls) if not base.name.startswith("builtins."))


def _methods(cls: ClassValue) -> list[str]:
    return [name for name, value in cls.attributes.items() if isinstance(value, Function) and not name.startswith("_")]


def implementers(m: Machine, interface: ClassValue) -> list[ClassValue]:
    """The classes of the tree, tests left out, that have each method of an interface and do not name it as their base:
    that is all that a protocol asks (PEP 544)."""
    methods = _methods(interface)
    found: dict[ClassValue, None] = {}
    for path in m.world.table.defining_methods(tuple(methods)) if methods else ():
        module = m.world.table.at(path)
        m.world.load(module)
        for values in list(m.world.globals.get(path, {}).values()):
            found.update(dict.fromkeys(v for v in values if isinstance(v, ClassValue) and v.module is module))
    return [c for c in found if c != interface and set(methods) <= set(_methods(c)) and not is_interface(m, c)]


def is_interface(m: Machine, cls: ClassValue) -> bool:
    """Whether a class only says what others do: an object of it tells nothing."""
    names = m.rules.word_list("interfaces")
    return any(isinstance(base, External) and base.name in names for base in cls.bases)
