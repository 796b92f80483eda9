"""What a store is asked for: the one entry that the cursor names, or what compares with it; and what the answer is.

`WHERE id = $1`, `select(Event).where(Event.id == last)` and `find_one({"id": last})` ask for an entry, which a foreign
id has none of; `WHERE id > $1` asks for what comes behind, of which there always is some. What a statement of SQL puts
into a column comes out of that column again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from sselint.read.python import containers, library, sql, stores, writers
from sselint.read.python.heap import Object
from sselint.read.python.machine import Machine
from sselint.read.python.modules import Site
from sselint.read.python.rules import Effect
from sselint.read.python.values import Const, Join, Ref, Reply, Tuple, Value, Wrapped, leaves, mentions_cursor

ONE = frozenset({"=", "==", "IN", "ANY", "$eq", "$in"})
DEEP = 5


@dataclass(frozen=True)
class Query:
    """A statement of SQL with the values of its parameters."""

    statement: sql.Statement
    given: dict[sql.Place, Value]


def query(m: Machine, values: Sequence[Value]) -> Query | None:
    """The statement that a call is given as its first argument, None where it is no text that is understood."""
    found = _text(m, values[0]) if values else None
    statement = sql.parse(found[0]) if found is not None else None
    if found is None or statement is None:
        return None
    return Query(statement, {**found[1], **_parameters(m, values[1:], len(statement.held))})


def _text(m: Machine, value: Value, depth: int = 0) -> tuple[str, dict[sql.Place, Value]] | None:
    """The text of a statement, with what is not known put in as parameters."""
    if isinstance(value, Const) and isinstance(value.value, str):
        return value.value, {}
    if isinstance(value, Join):
        texts: list[str] = []
        given: dict[sql.Place, Value] = {}
        for number, part in enumerate(value.parts):
            known = isinstance(part, Const)
            texts.append(str(part.value) if isinstance(part, Const) else f"\x00{number}")
            given.update({} if known else {f"\x00{number}": part})
        return "".join(texts), given
    if isinstance(value, Ref) and m.object(value).kind == "library" and depth < DEEP:
        inner = library.argument(m, value, "given") or library.argument(m, value, "parent")
        return _text(m, inner, depth + 1) if inner is not None else None
    return None


def _parameters(m: Machine, values: Sequence[Value], wanted: int) -> dict[sql.Place, Value]:
    """The values of the parameters by place: given one by one, or all in one list or mapping."""
    if len(values) == 1:
        spread = _spread(m, values[0])
        if spread is not None and wanted > 1 and len(spread) == 1:  # `executemany`: a list of rows
            spread = _spread(m, next(iter(spread.values()))) or spread
        if spread is not None:
            return spread
    return dict(enumerate(values))


def _spread(m: Machine, value: Value) -> dict[sql.Place, Value] | None:
    if isinstance(value, Tuple):
        return dict(enumerate(value.items))
    if not isinstance(value, Ref):
        return None
    if m.object(value).kind == "dict":
        return {str(key.value): entry for key, entry in containers.all_pairs(m, value) if isinstance(key, Const)}
    if m.object(value).kind == "list":
        return dict(enumerate(item.value for item in m.overlay.items.get(value, [])))
    return None


def put(m: Machine, store: Object, asked: Query, site: Site) -> None:
    """Records what a statement puts into which column, or tells whoever listens."""
    if asked.statement.tells:
        stores.write(m, store, list(asked.given.values()), site)
    if not m.building or not asked.statement.inserts:
        return
    put = {column: asked.given[place] for column, place in asked.statement.inserts if place in asked.given}
    names = [column for column, value in put.items() if writers.is_name(leaves(value))]
    for column, value in put.items():
        kept = stores.in_table(store, writers.marked(m, value, writers.Filing(), [n for n in names if n != column]))
        stores.put_field(m, store, f"{asked.statement.table}.{column}", kept, site)
    store.grows = store.grows or site


# -- one entry, or what comes behind -------------------------------------------------------------------------------


def names_entry(m: Machine, asked: Query | None, named: Sequence[tuple[str, Value]]) -> bool:
    """Whether the cursor is asked for by being equal to something, and by nothing else."""
    if asked is not None and asked.statement.sums_up:
        return False
    if asked is not None:
        held = asked.statement.held
        signs = [sign for place, sign, _ in held if stores.told_cursor(m, [asked.given.get(place, Const.of(None))])]
    else:
        signs = [term.sign for term in _terms_of(m, named) if mentions_cursor(term.value)]
    return bool(signs) and all(sign in ONE for sign in signs)


def narrowed(m: Machine, asked: Query | None, named: Sequence[tuple[str, Value]]) -> tuple[str, ...]:
    """The columns that have to be equal to what a question gives them."""
    if asked is not None:
        return tuple(column for _, sign, column in asked.statement.held if sign in ONE and column)
    return tuple(term.name for term in _terms_of(m, named) if term.sign in ONE and term.name)


@dataclass(frozen=True)
class Term:
    """A value of a question, with what it is held against with, and the column that it is held against."""

    sign: str
    name: str
    value: Value


def _terms_of(m: Machine, named: Sequence[tuple[str, Value]]) -> Iterator[Term]:
    for name, value in named:
        plain = name if name.isidentifier() and "__" not in name and name not in ("given", "more") else ""
        yield from _terms(m, value, Term("", plain, value))


def _terms(m: Machine, value: Value, term: Term, depth: int = 0) -> Iterator[Term]:
    """The values that a question is made of."""
    if depth > DEEP:
        return
    if isinstance(value, Wrapped) and value.form.startswith("condition"):
        _, sign, name = [*value.form.split(":"), "", ""][:3]
        yield from _terms(m, value.inner, Term(sign or term.sign, name or term.name, value), depth + 1)
    elif isinstance(value, Tuple):
        for item in value.items:
            yield from _terms(m, item, term, depth + 1)
    elif isinstance(value, Ref) and m.object(value).kind == "dict":
        for key, entry in containers.all_pairs(m, value):
            name = str(key.value) if isinstance(key, Const) else ""
            inner = Term(name, term.name, entry) if name.startswith("$") else Term(term.sign or "==", name, entry)
            yield from _terms(m, entry, inner, depth + 1)
    elif isinstance(value, Ref) and m.object(value).kind == "list":
        for element in m.overlay.items.get(value, []):
            yield from _terms(m, element.value, term, depth + 1)
    elif isinstance(value, Ref) and m.object(value).kind == "library":
        for name in m.object(value).arguments:
            yield from _terms(m, library.argument(m, value, name) or Const.of(None), term, depth + 1)
        parent = library.argument(m, value, "parent")
        if parent is not None and library.role_of(m, value) == "object":
            yield from _terms(m, parent, term, depth + 1)
    else:
        yield replace(term, value=value)


# -- answers -------------------------------------------------------------------------------------------------------


def rows(effect: Effect, held: Reply) -> Value:
    """An answer as a call gives it: one row of it, all, or the answer itself, which is asked for its rows later."""
    shape = effect.get("rows")
    if not held.is_nothing or shape is None:
        return held
    return Const.of(None) if shape == "one" else Tuple(())
