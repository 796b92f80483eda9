"""Which end of all entries a question is about: the newest, the oldest, or whatever came behind one of them.

A server that does not know a cursor often begins behind the newest entry (`SELECT max(id)`), which loses what the
client has missed, or at the oldest one, which sends everything again. Both look like a question behind a known place.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from sselint.read.python.interpreter.machine import Machine
from sselint.read.python.interpreter.values import NEWEST, OLDEST, SINCE, Const, Ref, Reply, Value, leaves
from sselint.read.python.libraries import library
from sselint.read.python.rules import Effect, Entry
from sselint.read.python.stores.asked import ONE, Query, Term, made_with

ONE_ROW = Const.of(1)
TURNED = {NEWEST: OLDEST, OLDEST: NEWEST}
DEEP = 4


def asked_for(m: Machine, effect: Effect, question: Query | None, named: Sequence[tuple[str, Value]]) -> str:
    """The end that a read asks for, "" for none: by its SQL, by the method, or by what the question is made of."""
    if question is not None:
        return question.statement.end
    statements = (value for _, value in named if isinstance(value, Ref) and library.role_of(m, value) == "object")
    named = [*named, *(part for statement in statements for part in made_with(m, statement))]
    made_of = [entry for _, value in named for entry in _described(m, value)]
    told = next((str(entry.options["end"]) for entry in made_of if entry.options.get("end")), "")
    if told:
        return told
    backwards = effect.get("backwards") or any(entry.options.get("backwards") for entry in made_of) or _backwards(named)
    if effect.get("end") is not None:
        return TURNED[effect.get("end")] if backwards else str(effect.get("end"))
    one = effect.get("rows") == "one" or any(value == ONE_ROW for _, value in named)
    return NEWEST if one and backwards else ""  # without an order, any row may be the first one


def _backwards(named: Sequence[tuple[str, Value]]) -> bool:
    """Whether an order is given as a name with a sign before it (`order_by("-id")`)."""
    given = (leaf.value for _, value in named for leaf in leaves(value) if isinstance(leaf, Const))
    return any(isinstance(text, str) and text[:1] == "-" and text[1:].isidentifier() for text in given)


def _described(m: Machine, value: Value, depth: int = 0) -> Iterator[Entry]:
    """What the rules say of the objects of libraries that a value is made of."""
    for leaf in leaves(value):
        entry = library.entry_of(m, leaf) if isinstance(leaf, Ref) else None
        if entry is None or not isinstance(leaf, Ref) or depth > DEEP:
            continue
        yield entry
        for name in list(m.object(leaf).arguments):
            held = library.argument(m, leaf, name)
            if held is not None and name != "parent":
                yield from _described(m, held, depth + 1)


def behind(made: Reply, among: Sequence[Term], by_column: bool) -> Reply:
    """An answer to what comes behind a place that the store itself gave, by which place that is. Where a question names
    columns, those that only have to be equal to something say nothing of a place; nor does what another table holds."""
    if made.selection != "part" or not any(term.place for term in among):
        return made
    behind_of = [term for term in among if term.place and not (by_column and term.sign in ONE)]
    places = {term.place if term.table in ("", made.table) else "part" for term in behind_of}
    if places & {NEWEST, SINCE}:
        return replace(made, selection=SINCE)
    return replace(made, selection="all") if by_column and places <= {OLDEST} else made
