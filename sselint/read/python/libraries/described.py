"""A tree that holds the source of a library which the rules describe: the library's own repository, or a copy of it.

Where a class or function there only says how a thing is framed, the rules are taken, so that the examples beside it are
read as applications of the library. What decides (a session manager, a store) is the tree's own code.
"""

from __future__ import annotations

from sselint.read.python.interpreter.values import ClassValue, External, Function, Value
from sselint.read.python.rules import Entry, Rules
from sselint.read.python.source.modules import Module

FRAMING = frozenset({
    "response", "event", "event_message", "http_error", "parameter", "dependency", "request", "headers", "application",
    "router", "route", "mount", "middleware", "event_store",
})  # fmt: skip


def as_described(rules: Rules, module: Module, name: str, value: Value) -> Value:
    """What `module.name` is: the value of the tree, or the library's name where the rules say what that frames."""
    if not isinstance(value, ClassValue | Function):
        return value
    if value.module is not module and not _exports(module, value.module):
        return value
    dotted = f"{module.name}.{value.name if value.module is module else name}"
    while dotted.count("."):  # a copy may stand in a folder of its own
        if frames(rules, rules.entry(dotted), value):
            return External(dotted)
        dotted = dotted.partition(".")[2]
    return value


def frames(rules: Rules, entry: Entry | None, value: Value) -> bool:
    """Whether a described class, or what a described function makes, only says how a thing is framed."""
    if entry is not None and isinstance(value, Function):
        entry = rules.entry(entry.call.what) if entry.call is not None and entry.call.verb == "makes" else None
    return entry is not None and entry.role in FRAMING


def defines(rules: Rules, value: ClassValue | Function) -> bool:
    """Whether a class or function of the tree is the source of what the rules say, in a module of its package."""
    parts = value.module.name.split(".")
    names = (".".join([*parts[:count], value.name]) for count in range(len(parts), 0, -1))
    return any(frames(rules, rules.entry(name), value) for name in names)


def _exports(package: Module, inner: Module) -> bool:
    """Whether a package shows what one of its own modules defines."""
    return package.is_package and inner.path.startswith(package.path.removesuffix("__init__.py"))
