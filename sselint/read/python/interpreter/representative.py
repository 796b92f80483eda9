"""What stands for the elements of a container of the process: a loop meets them where the cursor tells them apart.

A table of code is another thing than a history: it says what is done and when, and no client has read up to a place in
it. A loop over it looks for the one entry that fits.
"""

from __future__ import annotations

from collections.abc import Sequence

from sselint.read.python.interpreter import placeholders
from sselint.read.python.interpreter.heap import MAX_VALUES, Object
from sselint.read.python.interpreter.machine import Machine
from sselint.read.python.interpreter.values import (
    ClassValue,
    Collection,
    Descriptor,
    Function,
    Item,
    Method,
    Partial,
    Ref,
    Value,
    leaves,
)

INBOX = "inbox"
MAX_ENTRIES = 60
"""Entries of a table of code of which a run may take one."""


def view(m: Machine, ref: Ref, options: Sequence[Value]) -> Collection:
    """The elements of a container that holds `options`, as a loop over it meets them."""
    target = m.object(ref)
    if is_code(m, target, options):
        chosen = options[m.once(min(len(options), MAX_ENTRIES), ("entry", ref.id), "value", "which entry", target.site)]
        return Collection(0, (Item(chosen),))
    m.note("read", target.site, container=ref.id, at_start=m.boot)
    return Collection(ref.id, representatives(m, ref, options))


def is_code(m: Machine, target: Object, options: Sequence[Value]) -> bool:
    """Whether a container was filled when the process started, and each of its elements names something to call."""
    return bool(options) and target.boot and target.grows is None and all(_names_code(m, value) for value in options)


def _names_code(m: Machine, value: Value) -> bool:
    return any(isinstance(leaf, Function | ClassValue | Method | Partial | Descriptor) for leaf in leaves(value))


def representatives(m: Machine, ref: Ref, options: Sequence[Value]) -> tuple[Item, ...]:
    """One of the elements, at each of the places where it may stand."""
    target = m.object(ref)
    if not options:
        if target.boot and not target.grows and target.kind != "dict" and target.default is None and m.building:
            return ()
        options = [placeholders.unfilled(target.label or "the container")]
    if m.is_empty(ref, target.site):
        return ()
    options = placeholders.without(m, options)[:MAX_VALUES]
    chosen = options[0]
    if len(options) > 1:
        chosen = options[m.once(len(options), ("element", ref.id), "value", "which kind of element", target.site)]
    chosen = m.as_state(chosen, ref.id)
    if _inbox(m, ref):
        m.note("live", target.site, source=ref.id, fed="")
        return (Item(chosen, ref.id, "live", INBOX),)
    phases = m.phases()
    return tuple(Item(chosen, ref.id, phase) for phase in (reversed(phases) if target.newest_first else phases))


def _inbox(m: Machine, ref: Ref) -> bool:
    """Whether a container was made by the request that reads it and others have put there what it holds: that came
    while the connection was open."""
    if m.building:
        return False
    return ref.serial != 0 or any(item.selection == INBOX for item in m.current)
