"""What is merged into a dict whole: whoever asks for one of its keys may be told yes for what was brought along.

The entries themselves are looked up among those that are written down (`containers.known_entries`). This only keeps
where the others come from, for the question who can know a key.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sselint.read.python.interpreter.heap import Heap, Object
from sselint.read.python.interpreter.machine import Machine
from sselint.read.python.interpreter.values import Const, Ref, Value, settled

CONTAINERS = ("list", "dict", "set")


def take_over(m: Machine, into: Value, sources: Iterable[Value]) -> None:
    """Notes that what these hold is put into a container, as `update`, `|` and `**` do."""
    if not m.building or not isinstance(into, Ref):
        return
    for source in sources:
        own = m.overlay.pairs.get(source, []) if isinstance(source, Ref) else []  # not yet seen by anybody else
        for value in (source, *(key for key, _ in own)):
            if not isinstance(value, Const):
                m.heap.add(m.object(into).taken_over, settled(value))


def keys_of(heap: Heap, target: Object, seen: frozenset[int] = frozenset()) -> Iterator[Value]:
    """The keys of a dict or the elements of anything else, with those of what it took over, or that thing itself where
    it is no container of the process."""
    yield from (key for key, _ in target.pairs)
    if target.kind != "dict":
        yield from target.elements
    seen |= {target.id}
    for source in target.taken_over:
        if not isinstance(source, Ref) or heap[source].kind not in CONTAINERS:
            yield source
        elif source.id not in seen:
            yield from keys_of(heap, heap[source], seen)
