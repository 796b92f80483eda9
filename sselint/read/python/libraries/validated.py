"""Records that a model of the tree makes of what it is shown, and what it gives away of itself again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from sselint.read.python.interpreter import classes, columns, containers, records
from sselint.read.python.interpreter.machine import Machine
from sselint.read.python.interpreter.values import (
    ClassValue,
    Const,
    Input,
    Ref,
    Reply,
    Unknown,
    Value,
    Wrapped,
    leaves,
)
from sselint.read.python.libraries import library
from sselint.read.python.source.modules import Site

if TYPE_CHECKING:
    from sselint.read.python.libraries.context import Context
    from sselint.read.python.rules import Effect


def validated(m: Machine, effect: Effect, c: Context) -> Value:
    """A record of the class that is asked, with the fields of a dict, of JSON, of a row or of an object. What stands
    for a type, `of` which the rules say, asks for one of its classes."""
    given, site = c.argument(effect, "of", "0"), c.arguments.site
    if isinstance(given, Wrapped) and given.form == "json":
        given = given.inner
    kinds = _kinds(m, effect, c)
    if isinstance(given, Reply) and len(kinds) != 1 and isinstance(c.receiver, Ref):
        return replace(given, row=_common(m, kinds))  # whichever it is, its fields are those of the row
    if not kinds or given is None:
        return Unknown("a record of a class that is not seen")
    if isinstance(given, Ref) and classes.class_of(m, given) in kinds:
        return given
    which = m.once(len(kinds), ("kind", site), "value", "what kind of record it is", site) if len(kinds) > 1 else 0
    fields = _fields(m, given, kinds[which], site)
    if fields is None:
        return Unknown("a record that is made of something that is not understood")
    return classes.instantiate(m, kinds[which], (), fields, site, c.arguments.frame)


def _kinds(m: Machine, effect: Effect, c: Context) -> list[ClassValue]:
    """The classes of the tree that a record may be of."""
    if isinstance(c.receiver, ClassValue):
        return [c.receiver]
    told = library.argument(m, c.receiver, str(effect.get("type"))) if isinstance(c.receiver, Ref) else None
    return [kind for kind in leaves(told) if isinstance(kind, ClassValue)] if told is not None else []


def _common(m: Machine, kinds: Sequence[ClassValue]) -> ClassValue | None:
    """The nearest class of the tree that all of these inherit from."""
    lines = [[a for a in classes.ancestors(m, kind) if isinstance(a, ClassValue)] for kind in kinds]
    return next((cls for cls in lines[0] if all(cls in line for line in lines)), None) if lines else None


def _fields(m: Machine, given: Value, cls: ClassValue, site: Site) -> dict[str, Value] | None:
    if isinstance(given, Reply):
        return {"**": given}
    if isinstance(given, Input | Unknown):  # what has a default may well be given too
        return dict.fromkeys(records.fields_of(m, cls), given)
    if not isinstance(given, Ref):
        return None
    if m.object(given).kind == "dict":
        return _entries(m, given, cls)
    if m.object(given).kind != "instance":
        return None
    held = {name: m.read_attribute(given, name, site) for name in records.fields_of(m, cls)}
    return {name: value for name, value in held.items() if value is not None}


def _entries(m: Machine, given: Ref, cls: ClassValue) -> dict[str, Value]:
    """The entries of a dict; where it may hold more than those whose keys are seen, what is not seen is not known."""
    found = containers.known_entries(m, given)
    row = columns.copied_into(m, given)
    if isinstance(row, Reply):
        return {**found, "**": row}
    keys = [key for key, _ in containers.all_pairs(m, given)]
    if m.object(given).taken_over or not all(isinstance(key, Const) for key in keys):
        more = Unknown("an entry of a dict of which not all keys are seen")
        return {name: found.get(name, more) for name in records.fields_of(m, cls)}
    return found


def dumped(m: Machine, effect: Effect, c: Context) -> Value:
    """The fields of a record, the receiver or `of` what is given, as a dict, or as JSON where the rules say so."""
    record = c.argument(effect, "of") if effect.get("of") is not None else c.receiver
    cls = classes.class_of(m, record) if record is not None else None
    if cls is None or not isinstance(record, Ref):
        return record if record is not None else Unknown("the fields of a record that is not seen")
    held = {n: m.read_attribute(record, n, c.arguments.site) for n in records.fields_of(m, cls)}
    found = library.make_dict(m, {n: value for n, value in held.items() if value is not None}, c.arguments.site)
    return Wrapped("json", found) if effect.get("as") == "json" else found
