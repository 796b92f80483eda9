"""The numbers of a range that goes up to a number which was given out: to the newest event, by its number.

`for number in range(after + 1, newest + 1)` names the events behind a cursor without a list of them.
"""

from __future__ import annotations

from dataclasses import replace

from sselint.read.python.interpreter import iteration, slices
from sselint.read.python.interpreter.machine import Machine
from sselint.read.python.interpreter.values import (
    COUNTING,
    Collection,
    Const,
    Item,
    Minted,
    Reply,
    Value,
    mentions_cursor,
)
from sselint.read.python.source.modules import Site


def given_out(m: Machine, lower: Value, upper: Value, site: Site | None) -> Collection | None:
    """The numbers from `lower` on that stand for all up to `upper`, where a counter or a store gave that out: those
    behind the cursor where it begins there. None where the range is of something else."""
    if _is_empty(lower, upper):
        return Collection(0, ())
    behind = mentions_cursor(lower)
    if isinstance(upper, Reply) and (behind or _begins_a_count(lower)):
        view = iteration.reply_view(m, replace(upper, selection="compared" if behind else "all"))
    elif isinstance(upper, Minted) and upper.kind in COUNTING:
        phases = [phase for phase in m.phases() if not behind or phase in slices.LATER]
        view = Collection(0, tuple(Item(replace(upper, phase=phase)) for phase in phases))
    else:
        return None
    if behind:
        m.note("compare", site, other=lower, phase="")
    return view


def _begins_a_count(lower: Value) -> bool:
    """Whether a range begins at one, or behind a number of the store: what a store says may as well be how many there
    are of something, and places are counted from zero."""
    return isinstance(lower, Reply) or (isinstance(lower, Const) and lower.value == 1)


def _is_empty(lower: Value, upper: Value) -> bool:
    """Whether a range holds nothing: so it is up to a number of which none was given out so far."""
    if not isinstance(upper, Const) or not isinstance(upper.value, int):
        return False
    least = lower.value if isinstance(lower, Const) else 1
    return isinstance(least, int) and upper.value <= least
