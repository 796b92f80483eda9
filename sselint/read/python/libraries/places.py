"""Mappings that belong to an object of a library (`app.extensions`): what the tree puts there, by name. What it does
not put there something out of sight may."""

from __future__ import annotations

from collections.abc import Callable

from sselint.read.python.interpreter import containers
from sselint.read.python.interpreter.machine import Arguments, Machine
from sselint.read.python.interpreter.values import Const, Ref, Unknown, Value


def has(m: Machine, ref: Ref, name: str) -> bool:
    """Whether an object is such a mapping, and a name is one of its methods."""
    key = m.heap.key_of(ref.id)
    return name in METHODS and key is not None and key[0] == "place"


def method(m: Machine, ref: Ref, name: str, a: Arguments) -> Value | None:
    """What a method of such a mapping gives, None where it has none of that name."""
    found = METHODS.get(name)
    return found(m, ref, a) if found is not None else None


def _get(m: Machine, ref: Ref, a: Arguments) -> Value:
    found = m.read_attribute(ref, containers.name_of_key(a.first()), a.site)
    return found if found is not None else Unknown("an entry that nothing in the tree sets")


def _setdefault(m: Machine, ref: Ref, a: Arguments) -> Value:
    """`extensions.setdefault("log", Log())`: an object is there from then on; a setting that has a default is one that
    something out of sight may set."""
    found = m.read_attribute(ref, containers.name_of_key(a.first()), a.site)
    if found is not None:
        return found
    default = a.get(1, "default")
    if not isinstance(default, Ref):
        return Unknown("an entry that nothing in the tree sets")
    m.write_attribute(ref, containers.name_of_key(a.first()), default, a.site)
    return default


def _update(m: Machine, ref: Ref, a: Arguments) -> Value:
    given = {**(containers.known_entries(m, a.first()) if a.positional else {}), **a.keywords}
    for name, value in given.items():
        m.write_attribute(ref, containers.name_of_key(Const.of(name)), value, a.site)
    return Const.of(None)


METHODS: dict[str, Callable[[Machine, Ref, Arguments], Value]] = {
    "get": _get, "setdefault": _setdefault, "update": _update,
}  # fmt: skip
