"""Events that one request sends on the connections of others.

A handler puts its own response (its request, itself) where others find it, and waits; whoever publishes writes to all
of them. So what is written to an object of another request is kept with that object, and the request that made the
object hears it as it happens.
"""

from __future__ import annotations

from collections.abc import Callable

from sselint.read.python.interpreter.machine import Machine
from sselint.read.python.interpreter.values import Const, Item, Ref, Value, settled
from sselint.read.python.libraries import library, wire

Pieces = tuple[list[Value], dict[str, Value]]
"""What was written of an event that is not yet whole."""
CONNECTIONS = frozenset({"response", "request", "handler_class"})


def connection_of(m: Machine, receiver: Value | None) -> Ref | None:
    """The connection of another request that a call writes to, None where it is this one's own."""
    for _ in range(3):
        if not isinstance(receiver, Ref):
            return None
        if library.role_of(m, receiver) in CONNECTIONS:
            return receiver if receiver.serial == 0 and not m.object(receiver).boot else None
        receiver = library.argument(m, receiver, "parent")
    return None


def keep(m: Machine, connection: Ref, send: Callable[[], None]) -> None:
    """Keeps what `send` writes with the connection that it is written to, and takes it out of this run."""
    begun, before = m.begun, len(m.trace)
    mine = _swap(m, m.written_to.pop(connection, ([], {})))
    send()
    frames = [event.data["frame"] for event in m.trace[before:] if event.kind == "frame"]
    del m.trace[before:]
    m.begun = begun
    m.written_to[connection] = _swap(m, mine)  # an event may come in several pieces
    kept = m.object(connection).heard
    for frame in frames:
        key = (frame.site, frame.id is not None)
        if key not in kept:
            m.heap.version += 1
        kept[key] = {name: settled(value) for name, value in frame.fields.items()}


def _swap(m: Machine, pieces: Pieces) -> Pieces:
    """Goes on with what was begun on another connection, and gives what is begun on this one."""
    before = list(m.pending), dict(m.frame_fields)
    m.pending[:] = pieces[0]
    m.frame_fields.clear()
    m.frame_fields.update(pieces[1])
    return before


def hear(m: Machine) -> bool:
    """Sends what others write to the objects of this request that they can see. False if nobody writes to any."""
    heard = False
    for ref in list(m.overlay.escaped):
        for (site, _), fields in m.object(ref).heard.items():
            m.note("stream", site)
            m.note("live", site, source=ref.id, fed="local")
            outer, m.live = m.live, Item(fields.get("data", Const.of(None)), ref.id, "live")
            wire.emit(m, fields, site)
            m.live, heard = outer, True
    return heard
