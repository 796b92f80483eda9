"""Whose keys the keys of a container are: for the question which process can know one.

Of what is merged into a dict whole, the entries themselves are looked up among those that are written down
(`containers.known_entries`); here is kept where the others come from. A key of the client's that was found in one
container and is put into another is none that the client chose there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sselint.read.python.interpreter.heap import Heap, Object
from sselint.read.python.interpreter.kept import found_among
from sselint.read.python.interpreter.machine import Machine
from sselint.read.python.interpreter.values import STORED, Const, Ref, Value, settled, stepped
from sselint.read.python.source.modules import Site

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


def put(m: Machine, key: Value, site: Site) -> Value:
    """A key as it is put into a container of the process."""
    return settled(stepped(found_among(m, key), site, STORED))


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
