"""What a request puts into a queue for itself and takes out again, and the rounds of the loop that does so."""

from __future__ import annotations

from collections.abc import Iterator

from sselint.read.python.interpreter.machine import LOOP_ROUNDS, Machine
from sselint.read.python.interpreter.values import Const, Item, Ref, Reply, Unknown, Value, leaves
from sselint.read.python.source.modules import Site

MANY = 8
"""Rounds at most that do not count."""


def rounds(m: Machine) -> Iterator[int]:
    """The numbers of the rounds. Those that only take from a queue what the run had put there itself come before what
    arrives later, and do not count: the first element that is replayed must not stand for all of them."""
    number, left = 0, MANY
    while number < LOOP_ROUNDS:
        before = m.queued
        yield number
        if m.queued > before and left:
            left -= 1
        else:
            number += 1


def received(m: Machine, queue: Ref, item: Item, site: Site | None) -> Value:
    """What this request put into a queue itself: an element of a history stays one on its way through, and what a store
    has told a listener of this request is told to those of every process."""
    source = item.source or _teller(m, item.value)
    m.live = Item(item.value, source or queue.id, item.phase or "live")
    fed = "nothing" if isinstance(item.value, Unknown) and item.value.cursor else "" if source else "local"
    m.note("live", site, source=queue.id, fed=fed, through=source, gave=item.value, mark=isinstance(item.value, Const))
    return item.value


def dropped(m: Machine, value: Value) -> None:
    """Notes that nobody looks at what was waited for, where the value of a statement is just that."""
    if m.trace and m.trace[-1].kind == "live" and m.trace[-1].data.get("gave") is value:
        m.trace[-1].data["mark"] = True


def _teller(m: Machine, value: Value) -> int:
    """The store that something arrived from as it happened, 0 where it is the process's own."""
    told = (leaf.source for leaf in leaves(value) if isinstance(leaf, Reply) and leaf.live)
    return next((source for source in told if source in m.heap.objects), 0)


def first_out(m: Machine, ref: Ref, site: Site | None) -> Value | None:
    """What the run has put into a list of its own first, taken out of it; None where that is not known."""
    waiting = m.overlay.items.get(ref, []) if ref.serial else []
    if not waiting:
        return None
    item = waiting.pop(0)
    m.queued += 1
    return received(m, ref, item, site) if item.source else item.value
