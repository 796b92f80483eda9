"""`setattr`: what is put on an object under a name, also where the name is known only as the program runs.

Rows are made into records so: a record is made with nothing in it, and then each column is put on it under its name.
"""

from __future__ import annotations

from collections.abc import Iterator

from sselint.read.python.interpreter import carried, classes, records
from sselint.read.python.interpreter.machine import Arguments, Machine
from sselint.read.python.interpreter.values import Const, Function, Ref, Reply, Unknown, Value
from sselint.read.python.stores import stores


def of_call(m: Machine, a: Arguments) -> Value:
    """`setattr(holder, name, value)`."""
    holder, name, value = a.first(), a.get(1), a.get(2)
    if value is None:
        return Const.of(None)
    if isinstance(name, Const) and isinstance(holder, Ref):
        m.write_attribute(holder, str(name.value), value, a.site)
    elif isinstance(name, Const) and isinstance(holder, Function):
        carried.write(m, holder, str(name.value), value, a.site)
    elif isinstance(name, Reply | Unknown) and isinstance(holder, Ref) and m.own(holder):
        for field in _as_it_was_made(m, holder):
            m.write_attribute(holder, field, _column(m, value, field), a.site)
    return Const.of(None)


def _as_it_was_made(m: Machine, ref: Ref) -> Iterator[str]:
    """The fields of an object that hold what is written down, such as nothing: any of them may be the one."""
    cls = classes.class_of(m, ref)
    names = dict.fromkeys([*(records.fields_of(m, cls) if cls is not None else ()), *m.overlay.attributes_of(ref)])
    for name in names:
        if isinstance(m.read_attribute(ref, name), Const | None):
            yield name


def _column(m: Machine, value: Value, field: str) -> Value:
    """What the column of that name holds, where the value is one of a row."""
    return stores.reply_item(m, value, Const.of(field)) if isinstance(value, Reply) else value
