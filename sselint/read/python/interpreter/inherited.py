"""What a class of the tree has from a class of a library: asked for by `super()`, or by the name of that class."""

from __future__ import annotations

from dataclasses import replace

from sselint.read.python.interpreter import classes, extended
from sselint.read.python.interpreter.machine import Arguments, Machine
from sselint.read.python.interpreter.values import ClassValue, Const, Ref, Super, Unknown, Value
from sselint.read.python.libraries import called_response, effects
from sselint.read.python.libraries.context import Context
from sselint.read.python.stores import tables


def of_super(m: Machine, receiver: Super | ClassValue, name: str, a: Arguments) -> Value:
    """A method that a library's class gives to a class of the tree."""
    cls = receiver if isinstance(receiver, ClassValue) else classes.class_of(m, receiver.receiver) or receiver.owner
    target = receiver.receiver if isinstance(receiver, Super) else receiver
    if name == "__init__" and isinstance(target, Ref):
        classes.library_init(m, target, cls, a.positional, a.keywords, a.site)
        return Const.of(None)
    if name == "__call__" and called_response.sent(m, target, a.positional, a.site):
        return Const.of(None)
    for base in classes.library_bases(m, cls):
        entry = m.rules.entry(base.name)
        effect = entry.method(name) if entry is not None else None
        if entry is not None and effect is not None:
            return effects.apply(m, effect, Context(target, entry, a))
        named = m.rules.entry(f"{base.name}.{name}")
        if isinstance(receiver, ClassValue) and named is not None and named.call is not None:
            return tables.of_class(m, receiver, effects.apply(m, named.call, Context(receiver, named, a)))
    given = extended.inherited(m, target, name, a) if isinstance(target, Ref) else None
    if given is not None:
        return given
    if name == "__new__" and isinstance(target, ClassValue):
        return extended.allocated(m, target, a.site, a.frame)
    m.note("super", a.site, name=name)
    return Const.of(None) if name.startswith("__") else Unknown(f"what {name} of a library gives")


def by_language(m: Machine, dotted: str, a: Arguments) -> Value | None:
    """`object.__new__(cls)`, a bare object of a class of the tree, and `dict.__setitem__(self, ...)`."""
    _, _, name = dotted.rpartition(".")
    given = a.positional[0] if a.positional else None
    if name == "__new__" and isinstance(given, ClassValue):
        return extended.allocated(m, given, a.site, a.frame)
    if isinstance(given, Ref) and f"builtins.{dotted.rpartition('.')[0]}" in extended.LANGUAGE:
        return extended.inherited(m, given, name, replace(a, positional=a.positional[1:]))
    return None


def by_name(m: Machine, dotted: str, a: Arguments) -> Value | None:
    """`Base.method(self, ...)` with an object of a class of the tree that has the library's class above it."""
    holder, _, name = dotted.rpartition(".")
    given = a.positional[0] if a.positional else None
    cls = classes.class_of(m, given) if isinstance(given, Ref) else None
    entry = m.rules.entry(holder)
    if given is None or cls is None or entry is None:
        return None
    if not any(m.rules.entry(base.name) is entry for base in classes.library_bases(m, cls)):
        return None
    return of_super(m, Super(given, cls), name, replace(a, positional=a.positional[1:]))
