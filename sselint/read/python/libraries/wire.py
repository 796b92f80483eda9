"""What goes over the wire: text, dicts and event objects, as frames with or without an id."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sselint.read.python.interpreter import as_json, at_cursor, classes, containers, text
from sselint.read.python.interpreter.machine import Machine
from sselint.read.python.interpreter.values import (
    Collection,
    Const,
    Cursor,
    Item,
    Join,
    Minted,
    Ref,
    Remembered,
    Reply,
    Tuple,
    Unknown,
    Value,
    Wrapped,
    leaves,
    parts_of,
)
from sselint.read.python.libraries import framed, library
from sselint.read.python.rules import Effect
from sselint.read.python.source.modules import Site
from sselint.read.python.stores import stores

if TYPE_CHECKING:
    from sselint.read.python.libraries.context import Context

REDIRECT, NO_CONTENT = 300, 204
EVENT_STREAM = "text/event-stream"
WRITTEN = frozenset({"text", "chunk", "event", "object"})
FIELDS = ("id", "event", "data", "retry", "comment")


KINDS = ("type", "event", "kind")
KIND = re.compile(rf'"(?:{"|".join(KINDS)})" *: *"([^"]+)"')
"""The keys under which the data of a message says what it is."""


@dataclass(frozen=True)
class Frame:
    """One event on the wire: its fields, where it was sent, and which element of which container it was made of."""

    fields: dict[str, Value]
    site: Site | None
    item: Item | None
    live: bool
    framed: bool = True
    """False where what was sent is not known to be the text of an event."""
    literal: bool = False
    """True where the names of the fields stand in the text that is sent: an `id:` line, whatever follows it."""
    made: Site | None = None
    """Where the event was put together, which may be far from where it is sent."""
    inside: tuple[Unknown, ...] = ()
    """What the cursor had a say in of what stands in the lists and dicts that are sent, and is not known."""
    state: tuple[int, ...] = ()
    """The lists and dicts of the process that it holds as they are when it is sent, and that others change."""
    later: bool = False
    """Whether it holds, all in one, events that stand behind the cursor."""
    kind: str = ""
    """What its data says that it is, where that is written down: `{"type": "reset"}`."""

    @property
    def id(self) -> Value | None:
        """The id, None if the frame carries none."""
        return self.fields.get("id")

    @property
    def is_event(self) -> bool:
        """Whether it is more than a comment, a retry time or a name: what a heartbeat sends is not."""
        return bool(set(self.fields) - {"comment", "retry", "event"}) or not self.framed


def emit(
    m: Machine,
    fields: dict[str, Value],
    site: Site | None,
    framed: bool = True,
    literal: bool = False,
    made: Site | None = None,
) -> None:
    """Records a frame."""
    item = next((i for i in _looked_at(m, fields) if not _stands_aside(i, fields)), None)
    live = item is not None and item.phase == "live"
    if "id" in fields:
        fields = {**fields, "id": as_json.spelled(m, fields["id"])}
    inside, state, later = _unknown_inside(m, fields), _state(m, fields), _later(m, fields)
    frame = Frame(fields, site, item, live, framed, literal, made, inside, state, later, _kind(m, fields))
    m.note("frame", site, frame=frame)
    m.begun = True


def _looked_at(m: Machine, fields: dict[str, Value]) -> Iterator[Item]:
    """The elements of which a frame may be made, the nearest first: those that loops are at, then what was taken."""
    yield from (i for i in reversed(m.current) if i.phase or i.source)
    if m.live is not None and not _only_describes(m, m.live, fields):
        yield m.live


def _stands_aside(item: Item, fields: dict[str, Value]) -> bool:
    """Whether an element that is looked at is a number or text of which nothing is sent: how long to wait until what
    sends is tried again."""
    if not isinstance(item.value, Const):
        return False
    told = (str(leaf.value) for value in fields.values() for leaf in leaves(value) if isinstance(leaf, Const))
    return not any(str(item.value.value) in text for text in told)


def _kind(m: Machine, fields: dict[str, Value]) -> str:
    """What a message without an id says that it is, in a dict put together for it or in text."""
    sent = leaves(fields["data"]) if "data" in fields and "id" not in fields else []
    for leaf in sent:
        if isinstance(leaf, Const) and (told := KIND.search(str(leaf.value))):
            return told.group(1)
        pairs = m.overlay.pairs.get(leaf, ()) if isinstance(leaf, Ref) and m.own(leaf) else ()
        names = [v.value for k, v in pairs if isinstance(k, Const) and k.value in KINDS and isinstance(v, Const)]
        if names:
            return str(names[0])
    return ""


def _unknown_inside(m: Machine, fields: dict[str, Value]) -> tuple[Unknown, ...]:
    held = [leaf for value in fields.values() for leaf in leaves(value) if isinstance(leaf, Ref | Collection)]
    found = (part for value in held for whole in stores.parts(m, value) for part in leaves(whole))
    return tuple(dict.fromkeys(part for part in found if isinstance(part, Unknown) and part.cursor))


def _state(m: Machine, fields: dict[str, Value]) -> tuple[int, ...]:
    held = [leaf for leaf in leaves(fields["data"]) if isinstance(leaf, Ref)] if "data" in fields else []
    for ref in [ref for ref in held if m.own(ref)]:  # put together for this event
        inside = [*(v for _, v in m.overlay.pairs.get(ref, ())), *(i.value for i in m.overlay.items.get(ref, ()))]
        held += [value for value in inside if isinstance(value, Ref)]
    whole = (ref.id for ref in held if not m.own(ref) and m.object(ref).kind in containers.KINDS)
    return tuple(number for number in dict.fromkeys(whole) if m.heap[number].grows)


def _later(m: Machine, fields: dict[str, Value]) -> bool:
    stack = [fields["data"]] if "data" in fields else []
    while stack:
        value = stack.pop()
        items: Sequence[Item] = value.items if isinstance(value, Collection) else ()
        if isinstance(value, Ref) and m.own(value):
            items = m.overlay.items.get(value, [])
        if items and all(item.source and item.phase in at_cursor.LATER for item in items):
            return True
        stack.extend(() if isinstance(value, Collection) else parts_of(value))
    return False


def _only_describes(m: Machine, item: Item, fields: Mapping[str, Value]) -> bool:
    """Whether an entry only says what an event means: the event goes under a number that the connection counts for
    itself, and the entry was picked by something else. What the cursor finds is an event where it is sent."""
    found, sent = leaves(item.value), {leaf for value in fields.values() for leaf in leaves(value)}
    if isinstance(item.at, Const):  # it may have been looked at for its number alone
        parts = {leaf for whole in stores.parts(m, item.value) for leaf in (whole, *leaves(whole))}
        telling = {leaf for leaf in parts if not isinstance(leaf, Const) or isinstance(leaf, Remembered)}
        told = set(leaves(fields["data"])) if "data" in fields else sent  # the number is that of the newest as well
        whole = bool(told) and sent <= parts  # its data is a constant text, and stands in it beside its number
        return not whole and told.isdisjoint(telling or parts)
    if isinstance(item.at, Cursor):
        return sent.isdisjoint(found) and not any(isinstance(leaf, Ref) for leaf in found)
    numbers = _counts(fields.get("id"))
    own = bool(numbers) and all(number.local for number in numbers)
    return own and item.at is not None and not {n.about for n in numbers} & {n.about for n in _counts(item.at)}


def _counts(value: Value | None) -> list[Minted]:
    """The numbers in a value; of a cursor, those that its id was made of."""
    found = list(leaves(value)) if value is not None else []
    shapes = [leaf.shape for leaf in found if isinstance(leaf, Cursor) and leaf.shape is not None]
    return [leaf for part in (*found, *shapes) for leaf in leaves(part) if isinstance(leaf, Minted)]


def send_text(m: Machine, value: Value, site: Site | None) -> None:
    """Text or bytes of an event stream; a frame may come in several pieces."""
    m.begun = True
    if not m.pending and not m.frame_fields:
        m.frame_made = value.trail[0].site if isinstance(value, Join) and value.trail else None
    for part in value.parts if isinstance(value, Join) else (value,):
        _piece(m, part, site)


def _piece(m: Machine, part: Value, site: Site | None) -> None:
    if isinstance(part, Wrapped) and part.form in ("slice", "json"):
        part = part.inner
    if isinstance(part, Const) and isinstance(part.value, str | bytes):
        raw = part.value.decode("utf-8", "replace") if isinstance(part.value, bytes) else part.value
        _constant(m, raw.replace("\r\n", "\n").replace("\r", "\n"), site)
    elif isinstance(part, Ref) and library.role_of(m, part) == "event" and not m.pending:
        send_event(m, part, site)  # the text that it says it is
    elif isinstance(part, Reply) and not m.pending:
        stored = framed.as_sent(m, part) or stores.reply_text(m, part)
        if stored is not None:
            send_text(m, stored, site)
        else:
            emit(m, {"id": part, "data": part} if m.raw_replies else {"data": part}, site, framed=False)
    else:
        m.pending.append(part)


def _constant(m: Machine, raw: str, site: Site | None) -> None:
    lines = raw.split("\n")
    for number, line in enumerate(lines):
        if line:
            m.pending.append(Const.of(line))
        if number == len(lines) - 1:
            break
        _end_of_line(m, site)


def _end_of_line(m: Machine, site: Site | None) -> None:
    if m.pending:
        line = tuple(m.pending)
        m.pending.clear()
        name, value = _field(line)
        m.frame_fields[name] = value
        m.frame_site = m.frame_site or site
        return
    if m.frame_fields:
        fields = dict(m.frame_fields)
        m.frame_fields.clear()
        where, m.frame_site = m.frame_site or site, None
        if _says_stream(m) or fields.keys() & set(FIELDS):  # any page has lines, and lines without anything on them
            emit(m, fields, where, literal=True, made=m.frame_made)


def _lines_before(m: Machine) -> dict[str, Value]:
    """The fields written by hand in front of an event that frames itself: they belong to it."""
    before, m.frame_site = dict(m.frame_fields), None
    m.frame_fields.clear()
    return before


def _field(line: tuple[Value, ...]) -> tuple[str, Value]:
    head = line[0]
    if not isinstance(head, Const):
        return "text", text.join(line)
    name, colon, rest = str(head.value).partition(":")
    if not colon:
        return "text", text.join(line)
    return name.strip() or "comment", text.join([Const.of(rest.lstrip(" ")), *line[1:]])


def flush(m: Machine, site: Site | None) -> None:
    """The end of a chunk of which nobody knows how it ends. What nothing says of that it is part of an event stream is
    the text of some other answer."""
    if not _says_stream(m):
        m.pending.clear()
        return
    if m.pending and "id" in m.frame_fields and not isinstance(m.pending[0], Const):
        rest = m.pending[0]  # a field of the event has been written by hand, and what frames the others is out of sight
        m.pending.clear()
        where = m.frame_site or site
        emit(m, {**_lines_before(m), "text": rest}, where, literal=True)
    elif m.pending and not m.frame_fields and not any(isinstance(p, Const) for p in m.pending):
        value = m.pending[0]
        m.pending.clear()
        emit(m, {"text": value}, site, framed=False)
    elif not m.pending and m.frame_fields.keys() == {"text"} and _is_any_line(m.frame_fields["text"]):
        emit(m, {"text": m.frame_fields.pop("text")}, site, framed=False)


def _is_any_line(value: Value) -> bool:
    """Whether a line may be one of any kind: a field of an event, and as well the empty one behind it."""
    return isinstance(value, Unknown)


def _says_stream(m: Machine) -> bool:
    """Whether something has said so far that the answer is an event stream."""
    return any(event.kind in ("stream", "frame", "start") for event in m.trace)


def send_event(m: Machine, value: Value, site: Site | None, entry_fields: dict[str, str] | None = None) -> None:
    """An event as an object: a dict, an event of a library, or data alone."""
    if isinstance(value, Tuple) and value.items:
        value = value.items[0]
    if isinstance(value, Ref):
        target = m.object(value)
        if target.kind == "dict":
            entries = containers.known_entries(m, value)
            emit(m, _present({k: v for k, v in entries.items() if k in FIELDS}), site, made=target.site)
            return
        entry = library.entry_of(m, value)
        if entry is not None and entry.role == "event":
            found = {name: library.use(m, value, name) for name in FIELDS}
            told = _present({k: v for k, v in found.items() if v is not None})
            emit(m, {**_lines_before(m), **told}, site, made=target.site)
            return
        if target.kind == "instance":
            held = {name: m.read_attribute(value, name, site) for name in FIELDS}
            emit(
                m, _present({k: v for k, v in held.items() if v is not None}) or {"data": value}, site, made=target.site
            )
            return
    if text.is_text(value) and _looks_framed(value):
        send_text(m, value, site)
        return
    known = not isinstance(value, Unknown) and not (isinstance(value, Reply) and value.turned)
    emit(m, {"data": value}, site, framed=known)


def looks_like_event(m: Machine, value: Value) -> bool:
    """Whether a value is an event on its own evidence: framed text, or an object or dict with the fields of one."""
    if isinstance(value, Ref):
        entry = library.entry_of(m, value)
        if entry is not None and entry.role == "event":
            return True
        if m.object(value).kind == "dict":
            entries = containers.known_entries(m, value)
            return "data" in entries and bool({"id", "event", "retry"} & set(entries)) and set(entries) <= set(FIELDS)
        return False
    return text.is_text(value) and _looks_framed(value)


def _looks_framed(value: Value) -> bool:
    first = value.parts[0] if isinstance(value, Join) else value
    raw = first.value if isinstance(first, Const) else ""
    head = raw.decode("utf-8", "replace") if isinstance(raw, bytes) else str(raw)
    return head.lstrip("\r\n").startswith(("id:", "data:", "event:", "retry:", ": ", ":\n"))


def _present(fields: dict[str, Value]) -> dict[str, Value]:
    """Fields that are not None: a None is left out by every library."""
    return {k: v for k, v in fields.items() if not (isinstance(v, Const) and v.value is None)}


def send(m: Machine, effect: Effect, c: Context) -> None:
    """A call that sends: text, an event object, or the fields of an event; perhaps to another connection."""
    from sselint.read.python.server import broadcast

    other = broadcast.connection_of(m, c.receiver) if effect.what in WRITTEN else None
    if other is None:
        _send(m, effect, c)
    else:
        broadcast.keep(m, other, lambda: _send(m, effect, c))


def _send(m: Machine, effect: Effect, c: Context) -> None:
    bound = c.bound(effect)
    if effect.what in ("text", "chunk") and m.media not in ("", EVENT_STREAM):
        m.begun = m.begun or effect.what == "text"  # the body of an answer that says that it is something else
        return
    if effect.what == "text":
        send_text(m, bound.get(str(effect.get("of", "0")), Const.of("")), c.arguments.site)
        return
    if effect.what == "chunk":
        begun = m.begun
        send_text(m, bound.get(str(effect.get("of", "0")), Const.of("")), c.arguments.site)
        m.begun = begun  # it is collected, and another call begins the response
        return
    if effect.what.startswith("mcp_"):
        from sselint.read.python.libraries import mcp

        if isinstance(c.receiver, Ref):
            mcp.exchange(m, effect.what, c.receiver, c.arguments)
        return
    if effect.what == "published":
        from sselint.read.python.libraries import prebuilt

        prebuilt.publish(m, effect, c.entry, bound, c.arguments.site)
        return
    if effect.what == "event":
        named = {name: bound.get(str(effect.get(name))) for name in FIELDS if effect.get(name)}
        m.begun = True
        emit(m, _present({k: v for k, v in named.items() if v is not None}), c.arguments.site)
        return
    if effect.what == "object":
        send_event(m, bound.get(str(effect.get("of", "0")), Const.of(None)), c.arguments.site)
        return
    if effect.what == "status":
        status = bound.get(str(effect.get("of", "0")), Const.of(200))
        code = status.value if isinstance(status, Const) and isinstance(status.value, int) else 200
        m.note("refuse" if code >= REDIRECT or code == NO_CONTENT else "begin", c.arguments.site, status=code)
        return
    if effect.what == "header":
        value = bound.get(str(effect.get("value", "1")), Const.of(""))
        if says_event_stream(m, value):
            m.media = EVENT_STREAM
            m.note("stream", c.arguments.site)
            return
        told = _media_type(bound.get(str(effect.get("key"))), value)
        m.media = m.media if told is None else told
        return
    asgi_message(m, bound.get("0", Const.of(None)), c.arguments.site)


def _media_type(name: Value | None, value: Value) -> str | None:
    """What a header says, in words, that the body is; None where it is another header."""
    named = isinstance(name, Const) and str(name.value).lower() == "content-type"
    return value.value if named and isinstance(value, Const) and isinstance(value.value, str) else None


def asgi_message(m: Machine, message: Value, site: Site) -> None:
    """A message to an ASGI server."""
    entries = containers.known_entries(m, message)
    kind = entries.get("type")
    if not isinstance(kind, Const):
        return
    if kind.value == "http.response.start":
        start(m, entries.get("status", Const.of(200)), entries.get("headers"), site)
    elif kind.value == "http.response.body":
        body = entries.get("body")
        if body is not None and m.media == "text/event-stream":
            send_text(m, body, site)


def start(m: Machine, status: Value, headers: Value | None, site: Site) -> None:
    """The head of a response leaves: from here on there is no other status."""
    code = status.value if isinstance(status, Const) and isinstance(status.value, int) else 200
    if headers is not None and says_event_stream(m, headers):
        m.media = "text/event-stream"
    m.note("start", site, status=code, stream=m.media == "text/event-stream")
    m.begun = True


def is_event_stream(m: Machine, ref: Ref) -> bool:
    """Whether a response object is one by its media type or its headers, given or written afterwards."""
    kinds = [library.use(m, ref, what) for what in ("media_type", "content_type", "headers")]
    cls = classes.class_of(m, ref)
    found = classes.class_attribute(m, cls, "media_type") if cls is not None else None
    kinds.append(found[0] if found else None)
    kinds.append(m.read_attribute(ref, "[headers]") or m.overlay.attributes.get((ref, "['Content-Type']")))
    kinds.extend(m.overlay.attributes.get((ref, name)) for name in ("content_type", "mimetype", "media_type"))
    entry = library.entry_of(m, ref)
    events = entry is not None and entry.options.get("stream") == "events"
    named = any(says_event_stream(m, kind) for kind in kinds if kind is not None)
    return events or m.media == EVENT_STREAM or named


def says_event_stream(m: Machine, value: Value, depth: int = 0) -> bool:
    """Whether a media type or a set of headers names event streams."""
    for leaf in leaves(value):
        if isinstance(leaf, Const):
            raw = leaf.value.decode("latin-1") if isinstance(leaf.value, bytes) else str(leaf.value)
            if raw.lower().startswith("text/event-stream"):
                return True
        if isinstance(leaf, Ref) and depth < 3 and m.object(leaf).kind in containers.KINDS:
            held: list[Any] = [v for _, v in containers.all_pairs(m, leaf)]
            held.extend(i.value for i in m.overlay.items.get(leaf, []))
            if not m.own(leaf):
                held.extend(m.object(leaf).elements)
            if any(says_event_stream(m, v, depth + 1) for v in held):
                return True
    return False
