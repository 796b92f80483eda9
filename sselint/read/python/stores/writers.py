"""Who counts: all that a process does, or one run of it, which keeps its events under a name that no other one has.

A run of an agent counts its own events and puts them into a store for all, under the random name that it got. Whatever
another process counts stands under another name. A number that belongs to the process itself is counted by each.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sselint.read.python.interpreter.values import COUNTING, Join, Minted, Value, leaves

if TYPE_CHECKING:
    from sselint.read.python.interpreter.heap import Heap
    from sselint.read.python.interpreter.machine import Machine

ONE, SOME, LOG, TABLE = "one", "some", "log", "table"
"""One process writes under the name, how many do is not known, or the log or the table takes no number twice, whoever
writes."""


def is_name(values: Iterable[Value]) -> bool:
    """Whether something among these is a random name that the process made while it ran."""
    return any(isinstance(v, Minted) and v.kind == "random" and not v.boot for v in values)


@dataclass(frozen=True)
class Filing:
    """Under what something is put into a store: a random name of the process, or a place that it is given there."""

    named: bool = False
    place: tuple[Value, ...] = ()


def fields(m: Machine, named: Sequence[tuple[str, Value]], filing: Filing) -> list[Value]:
    """The values of an entry's fields as they are put into a store, each marked with the names of runs beside it."""
    names = [name for name, value in named if name and is_name(leaves(value))]
    return [marked(m, value, filing, [other for other in names if other != name]) for name, value in named]


def marked(m: Machine, value: Value, filing: Filing, beside: Sequence[str]) -> Value:
    """What is put into a store, its numbers with what is known of who else writes there. `beside` names the fields next
    to it that hold a random name. A log takes no place twice: it says who counts what is its place, too."""
    if isinstance(value, Join):
        return replace(value, parts=tuple(marked(m, part, filing, beside) for part in value.parts))
    if not isinstance(value, Minted) or value.kind not in COUNTING:
        return value
    if any(isinstance(v, Minted) and v.kind in COUNTING and v.about == value.about for v in filing.place):
        return replace(value, writers=LOG)
    if _of_process(m.heap, value.about):
        return value
    if filing.named:
        return replace(value, writers=ONE)
    names = tuple(beside)
    if not names and _is_known(m, value.about):
        return value
    return replace(value, writers=ONE if names else SOME, under=names)


def seen_by(made: Value, narrowed: Iterable[str]) -> Value:
    """The number as an answer shows it: of one run, if the answer is narrowed to the name of one."""
    if not isinstance(made, Minted) or not made.under or set(made.under) & set(narrowed):
        return made
    return replace(made, writers=SOME, under=())


def _of_process(heap: Heap, about: int) -> bool:
    """Whether what counts is the process's own: a global, a class, or an object that was made when it started."""
    holder = _holder(heap, about)
    if isinstance(holder, int):
        return holder not in heap.objects or heap[holder].boot
    return holder != "local"


def _is_known(m: Machine, about: int) -> bool:
    """Whether the object that counts is kept where other requests find it: then it counts for all of them."""
    holder = _holder(m.heap, about)
    return isinstance(holder, int) and any(ref.id == holder for ref in m.overlay.escaped)


def _holder(heap: Heap, about: int) -> int | str:
    """The object whose attribute counts, or which counts itself; "local" for a variable of a function."""
    if about in heap.objects:
        return about
    key = heap.key_of(about)
    if key is None or key[0] == "class":
        return "class"
    if key[0] == "counter":
        return key[1] if isinstance(key[1], int) else "global"
    return "local"
