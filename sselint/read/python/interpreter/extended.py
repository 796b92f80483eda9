"""Classes of the tree that extend a list, dict or set, or stand in for one: the object is such a container, and has
what its class defines."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from sselint.read.python.interpreter import builtin_calls, calls, classes, containers, membership, methods
from sselint.read.python.interpreter.machine import Arguments, Frame, Machine
from sselint.read.python.interpreter.values import (
    ClassValue,
    Const,
    External,
    Function,
    Method,
    Ref,
    Scope,
    Value,
)
from sselint.read.python.source.modules import Site

LANGUAGE = {"builtins.dict": "dict", "builtins.list": "list", "builtins.set": "set"}
AS_BUILTINS = {"__len__": "len", "__iter__": "iter", "__reversed__": "reversed"}
NOTHING = Const.of(None)


def base_of(m: Machine, cls: ClassValue) -> tuple[External, str] | None:
    """The container's class that a class extends, and which kind of container its objects are; None where it extends
    none."""
    for base in classes.library_bases(m, cls):
        entry = m.rules.entry(base.name)
        made = entry.call.what if entry is not None and entry.call is not None else LANGUAGE.get(base.name)
        if made in containers.KINDS:
            return base, made
    return None


def allocated(m: Machine, cls: ClassValue, site: Site, frame: Frame | None) -> Ref:
    """A new object of a class, not yet initialised."""
    base = base_of(m, cls)
    ref = m.make(base[1] if base is not None else "instance", cls, site, frame, cls.name)
    m.object(ref).label = m.object(ref).label or cls.name
    return ref


def filled(m: Machine, ref: Ref, base: External, a: Arguments) -> None:
    """What the container's own constructor does with its arguments."""
    made = calls.call(m, base, a.positional, a.keywords, a.site, a.frame)
    target = m.object(ref)
    if isinstance(made, Ref):
        target.default = m.object(made).default
        target.bounded = m.object(made).bounded
    if a.positional and (target.kind != "dict" or target.default is None):
        methods.call(m, ref, "extend", replace(a, keywords={}))
    if a.keywords and target.kind == "dict":
        methods.call(m, ref, "update", replace(a, positional=()))


def is_bare(m: Machine, ref: Ref) -> bool:
    """Whether an object is a list, dict or set of no class of the tree."""
    return m.object(ref).kind in containers.KINDS and classes.class_of(m, ref) is None


def is_plain(m: Machine, ref: Ref, names: Iterable[str]) -> bool:
    """Whether an object is a list, dict or set whose class, if it has one, defines none of these operations."""
    return m.object(ref).kind in containers.KINDS and all(defined(m, ref, name) is None for name in names)


def attribute(m: Machine, ref: Ref, name: str) -> Value | None:
    """What a container gives to the class that extends it, None where that is nothing of the name. A wrapped one is
    the object itself (`self.data`): what tells them apart is the methods of the class, which are not asked from within
    themselves."""
    cls = classes.class_of(m, ref)
    if cls is None or m.object(ref).kind not in containers.KINDS:
        return None
    for base in classes.library_bases(m, cls):
        entry = m.rules.entry(base.name)
        if entry is not None and entry.options.get("contents") == name:
            return ref
    return Method(ref, name) if name in methods.METHODS or name.startswith("__") else None


def defined(m: Machine, ref: Ref, name: str) -> Value | None:
    """The method that the object's class of the tree defines for an operation, None where there is none or it is that
    method which asks."""
    cls = classes.class_of(m, ref)
    found = classes.class_attribute(m, cls, name) if cls is not None else None
    if found is None or (isinstance(found[0], Function) and found[0].node in m.calls):
        return None
    return classes.bind(m, found[0], ref, found[1])


def inherited(m: Machine, ref: Ref, name: str, a: Arguments) -> Value | None:
    """What the container's own method gives, past all that the class defines; None where it has none of the name."""
    if m.object(ref).kind not in containers.KINDS:
        return None
    if name == "__getitem__":
        frame = a.frame or Frame(a.site.module, Scope(a.site.module, {}))
        return containers.entry(m, ref, a.first(), a.site, frame)
    if name == "__setitem__":
        containers.put(m, ref, a.first(), a.get(1) or NOTHING, a.site)
        return NOTHING
    if name == "__delitem__":
        containers.remove_item(m, ref, a.first(), a.site)
        return NOTHING
    if name == "__contains__":
        return Const.of(membership.is_held(m, ref, a.first(), a.site))
    if name in AS_BUILTINS:
        return builtin_calls.run(m, AS_BUILTINS[name], (ref,), {}, a.site, a.frame)
    return methods.call(m, ref, name, a)
