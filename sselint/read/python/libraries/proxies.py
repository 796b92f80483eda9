"""Objects that stand for what a function gives whenever they are asked: `LocalProxy(lambda: current_app.log)`."""

from __future__ import annotations

from sselint.read.python.interpreter.machine import Machine
from sselint.read.python.interpreter.values import Function, Ref, Value
from sselint.read.python.source.modules import Site


def behind(m: Machine, ref: Ref, site: Site | None) -> Value | None:
    """What an object stands for at the moment, None where it stands for itself or what it asks is not in the tree."""
    if m.object(ref).kind != "library":
        return None
    from sselint.read.python.interpreter import calls
    from sselint.read.python.libraries import library

    asked = library.use(m, ref, "stands_for")
    found = calls.call(m, asked, (), {}, site, None) if isinstance(asked, Function) else None
    return None if found == ref else found
