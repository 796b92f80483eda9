"""What a slice takes of a history, by where its bounds stand to the cursor."""

from __future__ import annotations

from dataclasses import replace

from sselint.read.python.interpreter import at_cursor, compare
from sselint.read.python.interpreter.machine import Machine
from sselint.read.python.interpreter.oldest import EARLIEST
from sselint.read.python.interpreter.values import Collection, Const, Length, Minted, Position, Value
from sselint.read.python.source.modules import Site

LATER = (*at_cursor.LATER, "two")


def up_to(view: Collection, upper: Value | None) -> Collection:
    """What a view holds in front of the place that the cursor was found at."""
    inclusive = isinstance(upper, Position) and upper.after
    found = isinstance(upper, Position) or (isinstance(upper, Minted) and upper.phase == "at")
    place = next((n for n, item in enumerate(view.items) if item.phase == "at"), None)
    if not found or place is None:
        return view
    return replace(view, items=view.items[: place + inclusive], selection="located")


def starting_at(m: Machine, view: Collection, lower: Value | None, site: Site) -> Collection:
    """What a view holds from `lower` on."""
    if lower is None or (isinstance(lower, Const) and not view.source and isinstance(lower.value, int)):
        start = lower.value if isinstance(lower, Const) else None
        return replace(view, items=view.items[start:] if not view.source else view.items)
    if isinstance(lower, Const) or (isinstance(lower, Length) and lower.less):
        return view
    later = tuple(i for i in view.items if i.phase in LATER)
    placed = bool(view.source) or any(i.phase for i in view.items)
    if not placed:
        later = view.items[1:] or view.items  # written down on the spot: what stands behind a place is known by itself
    if isinstance(lower, Position) or (isinstance(lower, Minted) and lower.phase == "at"):
        at = isinstance(lower, Position) and not lower.after
        kept = later if not placed else tuple(i for i in view.items if i.phase in LATER or (at and i.phase == "at"))
        return replace(view, items=kept, selection="located")
    if compare.is_cursor(m, lower):
        m.note("compare", site, other=lower, phase="")
        return replace(view, items=later, selection="compared")
    if isinstance(lower, Minted) and lower.kind == "index" and lower.phase == m.phase() and lower.phase in EARLIEST:
        return view  # the place of what is gone through, which is the first there is
    if isinstance(lower, Length):  # nothing yet; asked again, what has been added since
        since = tuple(replace(i, phase="live") for i in view.items[-1:]) if m.round > 1 else ()
        return replace(view, items=since, selection="head")
    return replace(view, items=later or view.items[-1:], selection=view.selection if m.round > 1 else "part")
