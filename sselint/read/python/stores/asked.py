"""What a store is asked for: the one entry that the cursor names, or what compares with it; and what the answer is.

`WHERE id = $1`, `select(Event).where(Event.id == last)` and `find_one({"id": last})` ask for an entry, which a foreign
id has none of; `WHERE id > $1` asks for what comes behind, of which there always is some. What a statement of SQL puts
into a column comes out of that column again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from sselint.read.python.interpreter import containers
from sselint.read.python.interpreter.heap import Object
from sselint.read.python.interpreter.machine import Machine
from sselint.read.python.interpreter.values import (
    Const,
    Cursor,
    Input,
    Join,
    Minted,
    Ref,
    Remembered,
    Reply,
    Tuple,
    Value,
    Variable,
    Wrapped,
    leaves,
    mentions_cursor,
)
from sselint.read.python.libraries import library
from sselint.read.python.rules import Effect
from sselint.read.python.source.modules import Site
from sselint.read.python.stores import sql, stores, tables, unique, writers

ASKED = "asked in SQL"
ONE = frozenset({"=", "==", "IN", "ANY", "$eq", "$in"})
DEEP = 9
PARTS = frozenset({"given", "more", "rows"})
"""What the arguments of a statement are called that are no columns: see `parameters` in the rules."""


@dataclass(frozen=True)
class Query:
    """A statement of SQL with the values of its parameters."""

    statement: sql.Statement
    given: dict[sql.Place, Value]


def query(m: Machine, store: Object, values: Sequence[Value]) -> Query | None:
    """The statement that a call is given as its first argument, None where it is no text that is understood."""
    store.details.setdefault(ASKED, Const.of(True))
    found = _text(m, values[0]) if values else None
    if found is not None:
        unique.by_script(m, store, found[0])
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


def made_with(m: Machine, ref: Ref) -> list[tuple[str, Value]]:
    """What a query was put together from, along the chain of calls that made it."""
    found: list[tuple[str, Value]] = []
    for _ in range(8):
        target = m.object(ref)
        if target.kind != "library":
            break
        for name in list(target.arguments):
            value = library.argument(m, ref, name)
            if value is not None and name != "parent":
                found.append((name, value))
        parent = library.argument(m, ref, "parent")
        if not isinstance(parent, Ref):
            break
        ref = parent
    return found


def put(m: Machine, store: Object, asked: Query, site: Site) -> None:
    """Records what a statement puts into which column, or tells whoever listens."""
    if asked.statement.tells:
        for listening in (store, *_same(m, store)):
            stores.write(m, listening, list(asked.given.values()), site, told=True)
    if not m.building or not asked.statement.inserts:
        return
    if asked.statement.replaces:
        unique.replaces(m, store, asked.statement.table)
    columns = [(column, asked.given[place]) for column, place in asked.statement.inserts if place in asked.given]
    for (column, _), kept in zip(columns, writers.fields(m, columns, writers.Filing()), strict=True):
        name = f"{asked.statement.table}.{column}"
        stores.put_field(m, store, name, stores.in_table(store, kept), site)
    store.grows = store.grows or site


def _same(m: Machine, store: Object) -> list[Object]:
    """The database as other libraries of the unit see it: who listens may do so through another one than who tells."""
    return [
        other
        for other in list(m.heap.objects.values())
        if other is not store and other.kind == "shared" and ASKED in other.details
        and other.where == store.where and _unit(other) == _unit(store)
    ]  # fmt: skip


def _unit(store: Object) -> str:
    return store.site.module.source.unit if store.site is not None else ""


# -- one entry, or what comes behind -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Term:
    """A value of a question: what it is held against with, against which column, and whether it is the cursor.
    `place` says which entry of which `table` it is of, where the store gave it: by the selection of that answer.
    `fixed` says that the column has to be equal to it, and that it is the same whichever process asks;
    `of` names the table of that column, where its class does."""

    sign: str
    name: str
    cursor: bool = False
    place: str = ""
    table: str = ""
    fixed: bool = False
    of: str = ""


def terms(
    m: Machine, asked: Query | None, named: Sequence[tuple[str, Value]], orders: Sequence[str] = ()
) -> list[Term]:
    """The values that a question is made of: those of a statement, else whatever a call is given. `orders` are the ends
    of keywords that compare."""
    if asked is not None:
        held = [(sign, column, asked.given.get(place, Const.of(None))) for place, sign, column in asked.statement.held]
        sure = not asked.statement.either
        return [
            Term(sign, column, stores.told_cursor(m, [value]), *_place(value), sure and _is_fixed(sign, value))
            for sign, column, value in held
        ]
    return [term for name, value in named for term in _terms(m, value, _sign(name, orders), _column(name))]


def _place(value: Value) -> tuple[str, str]:
    given = [leaf for leaf in leaves(value) if isinstance(leaf, Reply | Minted)]
    places = ((leaf.selection, leaf.table) if isinstance(leaf, Reply) else ("part", "") for leaf in given)
    return next(places, ("", ""))


def _sign(name: str, orders: Sequence[str]) -> str:
    """What a keyword holds its column against the value with, where the rules say how keywords tell (`id__gt`)."""
    if not orders or not name.isidentifier() or name in PARTS:
        return ""
    return ">" if name.endswith(tuple(orders)) else "" if "__" in name else "=="


def names_entry(asked: Query | None, among: Sequence[Term]) -> bool:
    """Whether the cursor is asked for by being equal to something, and by nothing else."""
    signs = [term.sign for term in among if term.cursor]
    always = asked is not None and asked.statement.sums_up
    return bool(signs) and not always and all(sign in ONE for sign in signs)


def narrowed(among: Sequence[Term]) -> tuple[str, ...]:
    """The columns that have to be equal to what a question gives them."""
    return tuple(term.name for term in among if term.sign in ONE and term.name)


def within(among: Sequence[Term], table: str) -> tuple[str, ...]:
    """The columns of a table that have to be equal to one thing, whichever process asks."""
    return tuple(term.name for term in among if term.fixed and term.name and term.of in ("", table))


def _is_fixed(sign: str, value: Value) -> bool:
    """Whether a column is held to be equal to what each process would have there: what the client chose, what a store
    gave or what is written down; no name and no number of the process."""
    return sign in ("=", "==", "$eq") and all(map(_is_for_all, leaves(value)))


def _is_for_all(leaf: Value) -> bool:
    if isinstance(leaf, Variable):
        return leaf.for_all
    stored = isinstance(leaf, Minted) and leaf.kind == "store"
    return stored or (isinstance(leaf, Const | Input | Cursor | Reply) and not isinstance(leaf, Remembered))


def _column(name: str) -> str:
    """The column that an argument names, none where its name is a position or says how it compares."""
    return name if name.isidentifier() and "__" not in name and name not in PARTS else ""


def _terms(m: Machine, value: Value, sign: str, name: str, depth: int = 0) -> Iterator[Term]:
    """The values inside of one, which is held against a column `name` with `sign`."""
    if depth > DEEP:
        return
    if isinstance(value, Wrapped) and value.form.startswith("condition"):
        _, own, column = [*value.form.split(":"), "", ""][:3]
        of = next((found[0] for leaf in leaves(value.inner) if (found := tables.column(m, leaf)) is not None), "")
        inner = (
            replace(term, of=term.of or of) for term in _terms(m, value.inner, own or sign, column or name, depth + 1)
        )
        yield from (replace(term, fixed=False) for term in inner) if own == "|" else inner
    elif isinstance(value, Tuple):
        for item in value.items:
            yield from _terms(m, item, sign, name, depth + 1)
    elif isinstance(value, Ref) and m.object(value).kind == "dict":
        for key, entry in containers.all_pairs(m, value):
            own = str(key.value) if isinstance(key, Const) else ""
            held = (own, name) if own.startswith("$") else (sign or "==", own)
            yield from _terms(m, entry, *held, depth + 1)
    elif isinstance(value, Ref) and m.object(value).kind == "list":
        for element in m.overlay.items.get(value, []):
            yield from _terms(m, element.value, sign, name, depth + 1)
    elif isinstance(value, Ref) and m.object(value).kind == "library":
        for given in m.object(value).arguments:
            argument = library.argument(m, value, given) or Const.of(None)
            among = _terms(m, argument, sign, name, depth + 1)
            yield from (replace(t, fixed=False) for t in among) if library.role_of(m, value) == "column" else among
        parent = library.argument(m, value, "parent")
        if parent is not None and library.role_of(m, value) == "object":
            yield from _terms(m, parent, sign, name, depth + 1)
    else:
        yield Term(sign, name, mentions_cursor(value), *_place(value), _is_fixed(sign, value))


# -- answers -------------------------------------------------------------------------------------------------------


def rows(effect: Effect, held: Reply) -> Value:
    """An answer as a call gives it: one row of it, all, or the answer itself, which is asked for its rows later."""
    shape = effect.get("rows")
    if not held.is_nothing or shape is None:
        return held
    return Const.of(None) if shape == "one" else Tuple(())
