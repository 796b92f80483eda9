"""Tables of a store: what is written as a record of one class is not read back as one of another."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from sselint.read.python.interpreter import classes
from sselint.read.python.interpreter.heap import Object
from sselint.read.python.interpreter.values import ClassValue, Const, Ref, Reply, Value

if TYPE_CHECKING:
    from sselint.read.python.interpreter.machine import Machine


def _named(m: Machine, cls: ClassValue) -> str:
    """The name that a class gives its table, else what tells the class from others."""
    found = classes.class_attribute(m, cls, "__tablename__")
    name = found[0].value if found is not None and isinstance(found[0], Const) else None
    return name if isinstance(name, str) else f"{cls.module.path}:{cls.name}"


def of_record(m: Machine, record: Ref) -> tuple[str, ...]:
    """The tables that a record stands in: that of its class of the tree and those that it inherits from."""
    of = m.object(record).of
    if not isinstance(of, ClassValue):
        return ("",)
    line = (of, *(a for a in classes.ancestors(m, of) if isinstance(a, ClassValue)))
    return tuple(dict.fromkeys(_named(m, cls) for cls in line))


def asked_for(m: Machine, given: Iterable[Value]) -> str:
    """The table that a read is about, by the one class of the tree among the parts of what it is asked with; "" where
    that is not said."""
    found = {_named(m, part) for part in given if isinstance(part, ClassValue)}
    return found.pop() if len(found) == 1 else ""


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
