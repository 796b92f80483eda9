"""Text of an event stream that is put into a store by one request, and sent by another as it comes out."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sselint.read.python.interpreter.values import STORED, Const, Join, Reply, Value, settled, stepped

if TYPE_CHECKING:
    from sselint.read.python.interpreter.heap import Object
    from sselint.read.python.interpreter.machine import Machine
    from sselint.read.python.source.modules import Site

FIELD = re.compile(r"(?:^|[\r\n])(?:data|id|event|retry) ?:")
KEPT = "framed"
MAX_KINDS = 8


def is_framed(value: Value) -> bool:
    """Whether text begins a line with the name of a field of an event."""
    parts = value.parts if isinstance(value, Join) else (value,)
    begins = True
    for part in parts:
        written = _written(part)
        if written is not None and FIELD.search(written if begins else f" {written}"):
            return True
        begins = written is not None and written.endswith("\n")
    return False


def _written(part: Value) -> str | None:
    if not isinstance(part, Const) or not isinstance(part.value, str | bytes):
        return None
    return part.value.decode("utf-8", "replace") if isinstance(part.value, bytes) else part.value


def keep(m: Machine, store: Object, value: Value, site: Site) -> None:
    """Records what is put into a store where it is the text of an event."""
    if is_framed(value):
        m.heap.add(store.attributes.setdefault(KEPT, {}), settled(stepped(value, site, STORED)))


def as_sent(m: Machine, reply: Reply) -> Value | None:
    """What an answer is that goes over the wire as it is: one of the events that the tree puts into the store; None
    where it puts none there."""
    kinds = list(m.heap[reply.source].attributes.get(KEPT, ()))[:MAX_KINDS]
    if not kinds:
        return None
    if len(kinds) == 1:
        return kinds[0]
    return kinds[m.once(len(kinds), (KEPT, reply.source), "value", "which of the events comes")]
