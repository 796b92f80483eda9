"""Calls of what is not understood: what they are handed is theirs from then on, and may be filled by them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sselint.read.python.interpreter.machine import Machine
from sselint.read.python.interpreter.values import Item, Ref, Unknown, Value, leaves
from sselint.read.python.libraries import library
from sselint.read.python.stores import stores

NESTING = 3


def handed(m: Machine, given: Iterable[Value], why: str) -> bool:
    """What a call of something that is not understood is given: others may see it now. Whether the cursor is among it.

    A queue that is handed over together with the cursor may be filled with what the client missed.
    """
    values = list(given)
    for value in values:
        m.escape(value)
    told = stores.told_cursor(m, values)
    if told:
        for queue in dict.fromkeys(queue for value in values for queue in _queues(m, value)):
            filled = Item(Unknown(why, cursor=True), queue.id, "live")
            m.overlay.items.setdefault(queue, []).append(filled)
    return told


def _queues(m: Machine, value: Value, depth: int = 0) -> Iterator[Ref]:
    """The queues that this run made, in a value and in what its objects and containers hold."""
    for ref in (leaf for leaf in leaves(value) if isinstance(leaf, Ref) and leaf.serial):
        entry = library.entry_of(m, ref)
        if entry is not None and entry.role == "queue":
            yield ref
        elif depth < NESTING:
            for held in _held(m, ref):
                yield from _queues(m, held, depth + 1)


def _held(m: Machine, ref: Ref) -> list[Value]:
    """What this run has put into an object or a container."""
    pairs = [value for _, value in m.overlay.pairs.get(ref, ())]
    return [*m.overlay.attributes_of(ref).values(), *pairs, *(item.value for item in m.overlay.items.get(ref, ()))]
