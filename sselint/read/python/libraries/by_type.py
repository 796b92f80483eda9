"""Parameters that a container fills by their type: `hub: Inject[Hub]` is the one `Hub` that the program holds."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from sselint.read.python.interpreter import expressions
from sselint.read.python.interpreter.machine import Arguments, Frame, Machine
from sselint.read.python.interpreter.values import ClassValue, External, Ref, Unknown, Value
from sselint.read.python.libraries import library
from sselint.read.python.source import ir
from sselint.read.python.source.modules import Site

if TYPE_CHECKING:
    from sselint.read.python.rules import Entry


def handed(m: Machine, node: ir.Expression | None, name: str, home: Frame, site: Site) -> Value | None:
    """What a parameter gets whose annotation is a library's mark around a type, or None where it is no such mark. A
    mark that no rule describes says that somebody else than the client fills the parameter, and no more."""
    if not isinstance(node, ir.Subscript):
        return None
    from sselint.read.python.server import world

    mark = expressions.evaluate(m, node.value, home)
    if not isinstance(mark, External) or _is_plain(m, mark.name.partition(".")[0]):
        return None
    entry = m.rules.entry(mark.name)
    if entry is None and world.plain(name) in m.world.cursor_words:
        return None
    if entry is None:
        return Unknown(f"{name}, which {mark.name} fills, and which no rule describes")
    if entry.role != "dependency":
        return None
    kind = expressions.evaluate(m, node.index, home)
    return _of_type(m, kind, name, site)


def _is_plain(m: Machine, library_name: str) -> bool:
    """Whether a parameter that the client fills may be annotated with what is of a library. Any other's brackets are a
    mark."""
    return library_name in sys.stdlib_module_names or library_name in m.rules.word_list("plain_annotations")


def _of_type(m: Machine, kind: Value, name: str, site: Site) -> Value:
    """The object of a type that the program holds: the one that the tree makes, else one that is made for it."""
    from sselint.read.python.server import free

    if isinstance(kind, ClassValue):
        return free.given(m, kind, name, Site(kind.module, kind.node.cst))
    entry = m.rules.entry(kind.name) if isinstance(kind, External) else None
    if entry is None or entry.role in ("annotation", "value"):
        return Unknown(f"{name}, which a container fills")
    made = _made(m, entry)
    if len(made) == 1:
        return made[0]
    return library.make_object(m, entry, Arguments((), {}, site, None))


def _made(m: Machine, entry: Entry) -> list[Ref]:
    """The objects of a library's class that start-up makes."""
    return [Ref(o.id) for o in m.heap.objects.values() if o.of is entry and o.boot]
