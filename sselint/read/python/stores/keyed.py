"""Entries of stores that are asked for by their key: `HGET index id`, `objects.get(pk=id)`, `EXISTS id`.

An id that a store never gave out is not there, and neither is one that it dropped. One that another process put there
is: then the store goes on behind it for all, so that it is no foreign one (`outcome` leaves such paths out).
"""

from __future__ import annotations

from collections.abc import Sequence

from sselint.read.python.interpreter.heap import Object
from sselint.read.python.interpreter.machine import Hypothesis, Machine, Raised
from sselint.read.python.interpreter.values import Const, Exceptional, Value
from sselint.read.python.rules import Effect
from sselint.read.python.source.modules import Site
from sselint.read.python.stores import stores

FALSE = Const.of(False)


def holds(m: Machine, effect: Effect, store: Object, named: Sequence[tuple[str, Value]], site: Site) -> bool:
    """Whether the store has the entry. That of another key than the cursor may be there or not: the answer says so,
    unless the rules say that one which is missing raises, and the tree is prepared for it."""
    told = [name for name, value in named if stores.told_cursor(m, (value,))]
    if not told:
        prepared = effect.get("missing") is not None and any(m.prepared)
        return not prepared or m.once(2, ("there", site), "condition", "whether there is such an entry", site) == 0
    if any(name.endswith(tuple(map(str, effect.get("orders", ())))) for name in told):
        return True  # it asks for what compares, not for one
    return is_there(m, store, site)


def is_there(m: Machine, store: Object, site: Site) -> bool:
    """Whether the store has the entry that the cursor names: one that all share may have it, whoever put it there."""
    if m.building:
        return m.choose(2, ("stored", site), "condition", f"whether {store.label} knows the cursor", site) == 0
    hit = m.hypothesis is Hypothesis.KNOWN
    if not hit and store.where != "process":
        hit = m.once(2, ("stored", site), "condition", f"whether {store.label} knows the cursor", site) == 0
    m.note("lookup", site, container=store.id, hit=hit, stored=True)
    return hit


def missing(effect: Effect, site: Site) -> Value:
    """What asking for an entry gives that is not there."""
    what = effect.get("missing")
    if isinstance(what, bool):
        return FALSE
    if isinstance(what, int):
        raise Raised(Exceptional("refusal", (Const.of(what),)), site)
    if what is not None:
        raise Raised(Exceptional(str(what)), site)
    return Const.of(None)
