"""What a process tells its own listeners and puts into a shared store as well, so that the others can tell theirs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from sselint.read.python.interpreter.heap import Message
from sselint.read.python.interpreter.values import Const, Ref, Value, leaves
from sselint.read.python.stores import stores

if TYPE_CHECKING:
    from sselint.read.python.interpreter.heap import Object
    from sselint.read.python.interpreter.machine import Machine

DEPTH = 4


def kept(m: Machine, target: Object, value: Value) -> None:
    """Notes that something is put into a container of the process, and where it comes from."""
    place = stores.feeding(m, value)
    if place != "local":
        target.fed_by.add(place)
        return
    target.own_puts += 1
    m.overlay.own_puts.append((target, value))
    _match(m)


def published(m: Machine, store: Object, values: Iterable[Value]) -> None:
    """Notes what is put into a shared store, also where that may fail: a store that is down is another question."""
    if not m.building or store.where not in stores.COMMON:
        return
    parts = frozenset(part for value in values for part in _reached(m, value))
    m.overlay.published.append(Message(parts))
    _match(m)


def _match(m: Machine) -> None:
    for target, value in list(m.overlay.own_puts):
        if any(_is_copy(m, message, target, value) for message in m.overlay.published):
            m.overlay.own_puts.remove((target, value))
            target.published_puts += 1


def _is_copy(m: Machine, message: Message, target: Object, value: Value) -> bool:
    """Whether all that a value says was put into the store with this message, and nothing else is a copy of it."""
    if target.id not in message.copies and _holds(m, message, value):
        message.copies[target.id] = value
    return message.copies.get(target.id) == value


def _holds(m: Machine, message: Message, value: Value) -> bool:
    said = {part for part in _reached(m, value) if not isinstance(part, Ref)}
    return value in message.parts or (bool(said) and said <= message.parts)


def _reached(m: Machine, value: Value, depth: int = 0) -> Iterator[Value]:
    for leaf in leaves(value):
        if isinstance(leaf, Ref) and depth < DEPTH:
            yield leaf
            for part in stores.parts(m, leaf):
                if part != leaf:
                    yield from _reached(m, part, depth + 1)
        elif not isinstance(leaf, Const):
            yield leaf
