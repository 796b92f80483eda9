"""What a table takes once: keys of its columns, by which a number that processes count is in it only once.

Two processes may count the same number for one run. Where a key covers the run and the number, the table refuses the
second one, and whoever asks for the run finds the same entry under the number. A write that replaces what is there
(`INSERT OR REPLACE`, `merge`) is not refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from sselint.read.python.interpreter import classes, containers, records
from sselint.read.python.interpreter.heap import Object
from sselint.read.python.interpreter.machine import Machine
from sselint.read.python.interpreter.values import COUNTING, ClassValue, Const, Minted, Ref, Reply, Tuple, Value
from sselint.read.python.libraries import library
from sselint.read.python.stores import schema, tables, writers

Key = schema.Key
KEYS, REPLACED = "keys of ", "replaced in "
COMMON = ("shared", "pod_disk")


def by_script(m: Machine, store: Object, text: str) -> None:
    """Keeps the keys that a script of SQL gives the tables of a store."""
    for table, key in schema.keys(text):
        _keep(m, store, table, key)


def by_class(m: Machine, store: Object, cls: ClassValue) -> None:
    """Keeps the keys that a mapped class gives its table."""
    for key in _of_class(m, cls):
        _keep(m, store, tables.name_of(m, cls), key)


def replaces(m: Machine, store: Object, table: str) -> None:
    """Remembers that something writes over what is in a table; "" where it is open in which one."""
    m.heap.add(store.attributes.setdefault(REPLACED + table, {}), Const.of(True))


def classes_of(m: Machine, given: Iterable[Value]) -> Iterator[Value]:
    """The classes that objects among these are of, and those that stand there themselves."""
    for value in given:
        of = m.object(value).of if isinstance(value, Ref) else None
        yield of if isinstance(of, ClassValue) else value


def seen(store: Object, reply: Reply, name: str, value: Value) -> Value:
    """A number that comes out of a column, marked where its table takes it once for what the answer is limited to."""
    if not isinstance(value, Minted) or value.kind not in COUNTING or value.writers in (writers.ONE, writers.LOG):
        return value
    if store.where not in COMMON or REPLACED in store.attributes or REPLACED + reply.table in store.attributes:
        return value
    fixed = {_plain(name.rpartition(".")[2]), *map(_plain, reply.within)}
    held = (_text(key) for key in store.attributes.get(KEYS + reply.table, ()))
    covered = bool(reply.table) and any(set(map(_plain, key.split())) <= fixed for key in held)
    return replace(value, writers=writers.TABLE) if covered else value


def _text(value: Value) -> str:
    return str(value.value) if isinstance(value, Const) else ""


def _plain(name: str) -> str:
    """The name of a column, the same for what refers to another row and for the number of that row."""
    return name.lower().removesuffix("_id") or name


def _keep(m: Machine, store: Object, table: str, key: Key) -> None:
    m.heap.add(store.attributes.setdefault(KEYS + table, {}), Const.of(" ".join(sorted(key))))


# -- mapped classes ------------------------------------------------------------------------------------------------


def _of_class(m: Machine, cls: ClassValue) -> Iterator[Key]:
    primary: set[str] = set()
    for name, uses in records.keyed(m, cls):
        if "unique" in uses:
            yield frozenset({name})
        if "key" in uses:
            primary.add(name)
    if primary:
        yield frozenset(primary)
    holders: list[ClassValue] = [cls]
    meta = classes.class_attribute(m, cls, "Meta")
    if meta is not None and isinstance(meta[0], ClassValue):
        holders.append(meta[0])
    for holder in holders:
        for word in m.rules.word_list("keys_as_objects"):
            yield from _objects(m, _held(m, holder, word))
        for word in m.rules.word_list("keys_as_names"):
            yield from _names(m, _held(m, holder, word))
        for word in m.rules.word_list("keys_as_pairs"):
            yield from _pairs(m, _held(m, holder, word))


def _held(m: Machine, cls: ClassValue, name: str) -> Value | None:
    found = classes.class_attribute(m, cls, name)
    return found[0] if found is not None else None


def _objects(m: Machine, value: Value | None) -> Iterator[Key]:
    """The keys among the objects that a table is described with (`UniqueConstraint("run", "seq")`)."""
    for one in (value, *_elements(m, value)):
        entry = library.entry_of(m, one) if isinstance(one, Ref) else None
        if entry is None or not isinstance(one, Ref) or entry.role != "unique_key":
            continue
        given = m.object(one).arguments
        wanted = entry.uses.get("if")
        if wanted is not None and given.get(wanted) != Const.of(True):
            continue
        if any(name in given for name in entry.options.get("unless", ())):
            continue
        listed = given.get(entry.uses.get("columns", ""))
        positional = [given[name] for name in sorted(given) if name.isdigit()]
        key = _key(m, _elements(m, listed) if listed is not None else positional)
        if key:
            yield key


def _names(m: Machine, value: Value | None) -> Iterator[Key]:
    """The keys of names alone: one (`("run", "seq")`) or several (`[("run", "seq")]`)."""
    held = _elements(m, value)
    one_key = all(isinstance(one, Const) for one in held)
    for listed in [held] if one_key else [_elements(m, one) for one in held]:
        key = _key(m, listed)
        if key:
            yield key


def _pairs(m: Machine, value: Value | None) -> Iterator[Key]:
    """The keys of indexes that say of themselves whether they are keys (`(("run", "seq"), True)`)."""
    for pair in _elements(m, value):
        held = _elements(m, pair)
        key = _key(m, _elements(m, held[0])) if len(held) == 2 and held[1] == Const.of(True) else frozenset()
        if key:
            yield key


def _elements(m: Machine, value: Value | None) -> list[Value]:
    if isinstance(value, Tuple):
        return list(value.items)
    if not isinstance(value, Ref) or m.object(value).kind not in containers.KINDS:
        return []
    return [item.value for item in m.overlay.items.get(value, [])] or list(m.object(value).elements)


def _key(m: Machine, columns: Iterable[Value]) -> Key:
    """The names of columns, none where one of them is something else."""
    names: set[str] = set()
    for column in columns:
        of = tables.column(m, column)
        if isinstance(column, Const) and isinstance(column.value, str):
            names.add(column.value)
        elif of is not None:
            names.add(of[1])
        else:
            return frozenset()
    return frozenset(names)
