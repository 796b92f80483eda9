"""Tables of a store: what is written as a record of one class is not read back as one of another."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from sselint.read.python.interpreter import classes
from sselint.read.python.interpreter.heap import Object
from sselint.read.python.interpreter.values import ClassValue, Const, Descriptor, Function, Ref, Reply, Value
from sselint.read.python.libraries import library

if TYPE_CHECKING:
    from sselint.read.python.interpreter.machine import Machine


def name_of(m: Machine, cls: ClassValue) -> str:
    """The name that a class gives its table, else what tells the class from others."""
    found = classes.class_attribute(m, cls, "__tablename__")
    name = found[0].value if found is not None and isinstance(found[0], Const) else None
    return name if isinstance(name, str) else f"{cls.module.path}:{cls.name}"


def of_record(m: Machine, record: Ref) -> tuple[str, ...]:
    """The tables that a record stands in: that of its class of the tree and those that it inherits from."""
    of = m.object(record).of
    if not isinstance(of, ClassValue):
        return ("",)
    return of_class_line(m, of)


def of_class_line(m: Machine, cls: ClassValue) -> tuple[str, ...]:
    """The tables that a record of a class stands in: its own and those of the classes that it inherits from."""
    line = (cls, *(a for a in classes.ancestors(m, cls) if isinstance(a, ClassValue)))
    return tuple(dict.fromkeys(name_of(m, one) for one in line))


def asked_for(m: Machine, given: Iterable[Value]) -> str:
    """The table that a read is about, by the one class of the tree among the parts of what it is asked with; "" where
    that is not said."""
    cls = row_class(given)
    return name_of(m, cls) if cls is not None else ""


def row_class(given: Iterable[Value]) -> ClassValue | None:
    """The one class of the tree among the parts of what a read is asked with, None where there are none or several."""
    found = {part for part in given if isinstance(part, ClassValue)}
    return found.pop() if len(found) == 1 else None


def of_class(m: Machine, cls: ClassValue, asked: Value) -> Value:
    """What asks for rows, or an answer, that a mapped class gave: its rows are objects of that class."""
    if isinstance(asked, Reply):
        return replace(asked, row=cls)
    if isinstance(asked, Ref) and m.object(asked).kind == "library":
        m.overlay.attributes[(asked, "argument rows")] = cls
        m.object(asked).arguments.setdefault("rows", cls)
    return asked


def column(m: Machine, value: Value) -> tuple[str, str] | None:
    """The table and the name of a column that stands for itself (`Event.seq`, `events.c.seq`), the table "" where that
    is not said; None where a value is no such column."""
    if not isinstance(value, Ref) or not library.is_column(m, value):
        return None
    details = m.object(value).details
    owner, name = details.get(classes.OWNER), details.get(classes.NAME) or library.argument(m, value, "name")
    if not isinstance(name, Const):
        return None
    return (name_of(m, owner) if isinstance(owner, ClassValue) else "", str(name.value))


def own_member(m: Machine, reply: Reply, name: str, kinds: tuple[str, ...]) -> Value | None:
    """What the class of a row itself defines under a name, bound to the row: a descriptor of one of the kinds, or a
    method where "method" is one of them."""
    found = classes.class_attribute(m, reply.row, name) if reply.row is not None and not reply.is_nothing else None
    if found is None:
        return None
    kind = found[0].kind if isinstance(found[0], Descriptor) else "method" if isinstance(found[0], Function) else ""
    return classes.bind(m, found[0], reply, found[1]) if kind in kinds else None


def place_of(name: str, table: str) -> str:
    """The attribute of a store that holds what was written into a field, of a record of a table where it is one."""
    return f"record {table}.{name}" if table else f"field {name}"


def written(store: Object, name: str, reply: Reply) -> list[Value]:
    """What the tree writes under a name (`id`, `events.id`). What is written without a table may be of any, and what is
    read without one likewise; but a statement that names its columns says which they are."""
    places = [f"field {name}", f"record {name}"]
    if not reply.table:
        places += [n for n in store.attributes if n.startswith("record ") and n.endswith(f".{name}")]
    elif not reply.columns:
        places.append(f"field {name.rpartition('.')[2]}")
    return list(dict.fromkeys(v for place in places for v in store.attributes.get(place, ())))
