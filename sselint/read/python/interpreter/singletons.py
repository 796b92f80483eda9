"""What code puts into a class while it runs: counters, and the one object that is made when it is first asked for."""

from __future__ import annotations

from sselint.read.python.interpreter import choices
from sselint.read.python.interpreter.machine import Machine
from sselint.read.python.interpreter.values import STORED, ClassValue, Const, Ref, Value, settled, stepped
from sselint.read.python.source.modules import Site

NOTHING = Const.of(None)


def write(m: Machine, cls: ClassValue, name: str, value: Value, site: Site) -> None:
    """`Class.name = value`."""
    place = ("class", cls.node, name)
    m.overlay.known[place] = value
    m.escape(value)
    if not m.building:
        return
    kept = settled(stepped(value, site, STORED))
    held = cls.flags.setdefault("held", {}).setdefault(name, {})
    m.heap.add(held, kept)
    m.world.choices.wrote(place, kept, m.oracle.decisions)
    cls.flags.setdefault("rewritten", set()).add(name)
    cls.attributes[name] = kept


def read(m: Machine, cls: ClassValue, name: str, site: Site) -> Value:
    """`Class.name`, of a name that code sets: what this run has put there, else what others may have."""
    place = ("class", cls.node, name)
    number = m.heap.number(place)
    own = m.overlay.known.get(place)
    if isinstance(own, Value):
        return m.as_state(own, number)
    unmade = m.building and m.world.choices.is_open(place)
    if unmade and m.once(2, ("unmade", place), "value", "whether it is made yet", site) == 1:
        return NOTHING
    objects = [value for value in cls.flags["held"][name] if isinstance(value, Ref)]
    if not objects:
        return m.as_state(cls.attributes[name], number)
    chosen = choices.picked(m, place, objects, name, site) if len(objects) > 1 else objects[0]
    return m.as_state(chosen, number)
