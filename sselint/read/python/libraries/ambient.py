"""What a library keeps for the whole process or for the request at hand: an application of its own, a response."""

from __future__ import annotations

from sselint.read.python.interpreter.machine import Arguments, Machine
from sselint.read.python.interpreter.values import External, Ref, Value
from sselint.read.python.libraries.context import Context
from sselint.read.python.source.modules import Site


def assigned(m: Machine, external: External, name: str, value: Value, site: Site) -> None:
    """`library.object.name = value`: what the rules say under `name=`."""
    from sselint.read.python.libraries import effects

    entry = m.rules.entry(external.name)
    effect = entry.methods.get(f"{name}=") if entry is not None else None
    if entry is not None and effect is not None:
        effects.apply(m, effect, Context(external, entry, Arguments((value,), {}, site, None)))


def the_one(m: Machine, name: str, site: Site) -> Ref:
    """The only object of its kind in a process, which a library makes for itself: its default application."""
    made = m.heap.make(("one", name), "library", name, site, True)
    made.boot, made.of = True, m.rules.entry(name)
    return Ref(made.id)
