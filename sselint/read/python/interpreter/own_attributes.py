"""What an object or a class says of itself: `vars(event)`, `event.__dict__`, `fields(Event)`."""

from __future__ import annotations

from sselint.read.python.interpreter import classes, containers, records
from sselint.read.python.interpreter.machine import Arguments, Machine
from sselint.read.python.interpreter.values import ClassValue, Const, Ref, Tuple, Value
from sselint.read.python.source.modules import Site


def as_dict(m: Machine, value: Value, site: Site) -> Value | None:
    """The attributes of an object of the tree by their names, as a dict. None where none is seen."""
    if not isinstance(value, Ref) or m.object(value).kind not in ("instance", "namespace"):
        return None
    names = dict.fromkeys([*m.object(value).attributes, *m.overlay.attributes_of(value)])
    held = {name: m.read_attribute(value, name, site) for name in names}
    if not any(held.values()):
        return None
    made = m.make("dict", "dict", site)
    for name, found in held.items():
        if found is not None:
            containers.put(m, made, Const.of(name), found, site, growing=False)
    return made


def of_call(m: Machine, a: Arguments) -> Value:
    """`vars(value)`; where nothing is seen of it, the value itself."""
    return as_dict(m, a.first(), a.site) or a.first()


def fields(m: Machine, value: Value) -> Value | None:
    """The fields of a record, or of its class, each with its name. None where they are not seen."""
    cls = value if isinstance(value, ClassValue) else classes.class_of(m, value)
    names = records.fields_of(m, cls) if cls is not None else {}
    return Tuple(tuple(_field(m, cls, name) for name in names)) if cls is not None and names else None


def _field(m: Machine, cls: ClassValue, name: str) -> Value:
    """What describes one field: the same for all who ask."""
    made = m.heap.make(("field", cls.node, name), "namespace", "field", None, True)
    made.attributes.setdefault("name", {Const.of(name): None})
    return Ref(made.id)
