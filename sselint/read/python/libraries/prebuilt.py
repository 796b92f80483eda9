"""Endpoints that a library brings along (flask-sse, django-eventstream): what they do with ids and cursors is data."""

from __future__ import annotations

from sselint.read.python.interpreter.heap import Object
from sselint.read.python.interpreter.machine import Ended, Hypothesis, Machine
from sselint.read.python.interpreter.values import Const, Item, Reply, Unknown, Value, settled, stepped
from sselint.read.python.libraries import wire
from sselint.read.python.rules import Effect, Entry
from sselint.read.python.source.modules import Site


def channel(m: Machine, entry: Entry) -> Object:
    """What a library's endpoint passes on: the events that the tree publishes through it."""
    found = m.heap.make(("published", entry.library), "shared", entry.library, m.world.nowhere, True)
    found.boot, found.label, found.where = True, entry.library, _place(m, entry, "live")
    return found


def _place(m: Machine, entry: Entry, what: str) -> str:
    """A place that the rules give: always the same, or another where a setting of the project is written."""
    place = entry.options.get(what, "none")
    if isinstance(place, dict):
        setting = str(place.get("setting"))
        given = any(setting in names for names in m.world.globals.values())
        return str(place.get("if_set" if given else "otherwise", "none"))
    return str(place)


def publish(m: Machine, effect: Effect, entry: Entry, bound: dict[str, Value], site: Site) -> None:
    """Records an event that the tree publishes."""
    if not m.building:
        return
    identity = bound.get(str(effect.get("id")), Const.of(None))
    m.heap.add(channel(m, entry).elements, settled(stepped(identity, site, "published here")))


def serve(m: Machine, entry: Entry, site: Site) -> None:
    """A request to such an endpoint."""
    target = channel(m, entry)
    m.note("stream", site)
    m.begun = True
    log = m.heap.make(("log", entry.library), "shared", entry.library, m.world.nowhere, True)
    log.label, log.where = entry.library, _place(m, entry, "replay")
    cursor: Value = Const.of(None)
    if entry.options.get("reads_cursor") and log.where != "none":
        cursor = m.world.sent(m, "header", Const.of("last-event-id"), Const.of(None), site)
    if not isinstance(cursor, Const):
        _replay(m, entry, log, site)
    _live(m, entry, target, log, site)
    raise Ended


def _replay(m: Machine, entry: Entry, log: Object, site: Site) -> None:
    known = m.hypothesis is Hypothesis.KNOWN
    m.note("lookup", site, container=log.id, hit=known)
    if not known and entry.options.get("unknown") == "reset":
        wire.emit(m, {"event": Const.of("stream-reset"), "data": Const.of("")}, site)
        return
    reply = Reply(log.id, "compared")
    for phase in ("after",) if known else ("high",):
        with m.looking_at(Item(reply, log.id, phase, "compared")):
            wire.emit(m, {"id": reply, "data": reply}, site)


def _live(m: Machine, entry: Entry, target: Object, log: Object, site: Site) -> None:
    m.note("live", site, source=target.id, fed="" if target.where == "shared" else "local")
    if entry.options.get("ids") == "store":
        fields: dict[str, Value] = {"data": Unknown("what is published")}
        if log.where != "none":
            fields["id"] = Reply(log.id)
    else:
        options = list(target.elements) or [Const.of(None)]
        identity = options[m.choose(len(options), ("published", entry.library), "value", "what is published", site)]
        fields = {"data": Unknown("what is published")}
        if not (isinstance(identity, Const) and identity.value is None):
            fields["id"] = identity
    m.live = Item(fields["data"], target.id, "live")
    wire.emit(m, fields, site)
