"""Rows that are put into a table column by column: by keyword, by a statement, or through another row.

`Event.objects.create(seq=n)`, `session.execute(insert(Event).values(seq=n))` and `job.events.append(Event(seq=n))` put
the same into the column as a record that is added whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from sselint.read.python.interpreter import calls, classes, containers
from sselint.read.python.interpreter.heap import Object
from sselint.read.python.interpreter.machine import Arguments, Machine
from sselint.read.python.interpreter.values import COUNTING, Const, Method, Minted, Ref, Reply, Tuple, Value
from sselint.read.python.libraries import library
from sselint.read.python.source.modules import Site
from sselint.read.python.stores import asked, stores, tables, unique, writers

FILED = "pod_disk"


def put(m: Machine, store: Object, columns: Sequence[tuple[str, Value]], about: Iterable[Value], site: Site) -> None:
    """Records the columns of a row. `about` is what the call is made with: a class of the tree among it says which
    table the row goes into."""
    if not m.building or not columns:
        return
    cls = tables.row_class(part for value in about for part in stores.parts(m, value))
    into = tables.of_class_line(m, cls) if cls is not None else ("",)
    if cls is not None and any(isinstance(v, Minted) and v.kind in COUNTING for _, v in columns):
        unique.by_class(m, store, cls)
    for (name, _), kept in zip(columns, writers.fields(m, columns, writers.Filing()), strict=True):
        for table in into:
            stores.put_field(m, store, name, stores.in_table(store, kept), site, table)
    store.grows = store.grows or site


def by_keyword(m: Machine, store: Object, keywords: Mapping[str, Value], about: Iterable[Value], site: Site) -> None:
    """Records the columns that a call names, and those of mappings among them (`defaults={"seq": n}`)."""
    within = (column for value in keywords.values() for column in _columns(m, value))
    put(m, store, [*keywords.items(), *within], list(about), site)


def by_statement(m: Machine, store: Object, given: Sequence[Value], site: Site) -> None:
    """Records what a statement that the tree puts together from calls puts into a table, with the rows beside it."""
    statement = given[0] if given else None
    if not isinstance(statement, Ref) or not _puts(m, statement):
        return
    made_with = asked.made_with(m, statement)
    columns = [(name, value) for name, value in made_with if name not in asked.PARTS and name.isidentifier()]
    about = [value for _, value in made_with]
    if _replaces(m, statement):
        unique.replaces(m, store, tables.asked_for(m, (part for value in about for part in stores.parts(m, value))))
    for value in (*about, *given[1:]):
        columns += _columns(m, value)
    put(m, store, columns, about, site)


def selected(m: Machine, statement: Value) -> tuple[str, tuple[tuple[str, str], ...]]:
    """The one table, "" where that is not said, and the columns in order that a statement made of calls asks for: none
    where it asks for whole rows, or for what is not understood."""
    first = statement
    while isinstance(first, Ref) and m.object(first).kind == "library":
        parent = library.argument(m, first, "parent")
        if not isinstance(parent, Ref) or library.role_of(m, parent) != library.role_of(m, statement):
            break
        first = parent
    if not isinstance(first, Ref) or m.object(first).kind != "library":
        return "", ()
    given = [library.argument(m, first, name) for name in m.object(first).arguments if name != "rows"]
    found = [tables.column(m, _within(m, value)) for value in given if value is not None]
    known = [one for one in found if one is not None]
    of = {table for table, _ in known}
    return of.pop() if len(of) == 1 else "", tuple((n, n) for _, n in known) if len(known) == len(found) else ()


def _within(m: Machine, value: Value) -> Value:
    """The column that the newest or oldest value is asked for of, else the value itself."""
    entry = library.entry_of(m, value) if isinstance(value, Ref) else None
    if entry is None or not isinstance(value, Ref) or not entry.options.get("end"):
        return value
    return library.argument(m, value, "of") or value


def _puts(m: Machine, statement: Ref) -> bool:
    entry = library.entry_of(m, statement)
    return entry is not None and bool(entry.options.get("puts"))


def _replaces(m: Machine, statement: Ref) -> bool:
    """Whether a statement, or one that it was made from, writes over what is there."""
    for _ in range(8):
        entry = library.entry_of(m, statement)
        parent = library.argument(m, statement, "parent")
        if entry is None or not isinstance(parent, Ref):
            break
        if entry.options.get("replaces"):
            return True
        statement = parent
    return False


def _columns(m: Machine, value: Value, depth: int = 0) -> Iterator[tuple[str, Value]]:
    """The entries of a mapping, or of all mappings of a list."""
    if isinstance(value, Tuple):
        for item in value.items:
            yield from _columns(m, item, depth + 1)
    elif isinstance(value, Ref) and m.object(value).kind == "dict":
        for key, entry in containers.all_pairs(m, value):
            if isinstance(key, Const):
                yield str(key.value), entry
    elif isinstance(value, Ref) and m.object(value).kind == "list" and depth < 2:
        for row in m.overlay.items.get(value, []):
            yield from _columns(m, row.value, depth + 1)


# -- through another row -------------------------------------------------------------------------------------------


def taken_up(m: Machine, reply: Reply, given: Iterable[Value], site: Site) -> None:
    """Records the rows that a row of the store is given for its own (`job.events.append(Event(...))`), and what is put
    to that which a file holds: who does that writes it all into the file again."""
    store = m.heap[reply.source]
    rows = [value for value in given if holds_rows(m, value) or (store.where == FILED and _is_record(m, value))]
    if rows and store.where in stores.SHARED_PLACES:
        stores.write(m, store, rows, site)


def assigned(m: Machine, reply: Reply, name: str, value: Value, site: Site) -> None:
    """Records what a row of the store, or all that belongs to it, is set to (`event.seq = n`): it is saved later. What
    stood there before that is beside it."""
    if m.heap[reply.source].where not in stores.SHARED_PLACES:
        return
    taken_up(m, reply, [value], site)
    about = [reply.row] if reply.row is not None else []
    put(m, m.heap[reply.source], [(name, value), (name, Const.of(None))], about, site)


def _is_record(m: Machine, value: Value) -> bool:
    return isinstance(value, Ref) and m.object(value).kind == "dict"


def holds_rows(m: Machine, value: Value) -> bool:
    """Whether a value is an object of a mapped class, or a list of some."""
    return any(_is_row(m, one) for one in _each(m, value))


def _each(m: Machine, value: Value) -> Iterator[Value]:
    yield value
    if isinstance(value, Ref) and m.object(value).kind in containers.KINDS:
        yield from (item.value for item in m.overlay.items.get(value, []))


def _is_row(m: Machine, value: Value) -> bool:
    cls = classes.class_of(m, value) if isinstance(value, Ref) else None
    return cls is not None and library.is_mapped(m, cls)


def of_row(
    m: Machine, reply: Reply, name: str, positional: tuple[Value, ...], keywords: Mapping[str, Value], site: Site
) -> Value | None:
    """A method of what belongs to a row (`job.events.filter(...)`), which is asked like the table itself; None where
    the method is none that only such a thing has."""
    store = m.heap[reply.source]
    entry = m.rules.asked_like_tables.get(str(store.of)) if reply.table else None
    effect = entry.methods.get(name) if entry is not None else None
    if entry is None or effect is None or not effect.get("of_row"):
        return None
    asking = library.make_object(m, entry, Arguments((), {}, site, None))
    if not isinstance(asking, Ref):
        return None
    m.object(asking).where = store.where
    m.overlay.attributes[(asking, "argument given")] = reply
    return calls.call(m, Method(asking, name), positional, dict(keywords), site, None)
