"""An exchange over MCP streamable HTTP, as the rules describe it: session first, then the cursor, then the store."""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn

from sselint.read.python.interpreter import calls, classes, containers
from sselint.read.python.interpreter.machine import Answered, Arguments, Ended, Hypothesis, Machine, Raised
from sselint.read.python.interpreter.values import (
    Callback,
    Const,
    Function,
    Input,
    Minted,
    Ref,
    Unknown,
    Value,
    Variable,
)
from sselint.read.python.libraries import library, wire
from sselint.read.python.rules import Entry
from sselint.read.python.source.modules import Site
from sselint.read.python.stores import stores

SESSION = Input("header mcp-session-id")
TRUE = frozenset({"1", "true", "yes", "on"})


def exchange(m: Machine, what: str, ref: Ref, a: Arguments) -> None:
    """A request that reaches a session manager or a transport of the SDK."""
    m.note("mcp", a.site)
    HANDLERS[what](m, ref, a)


def setting(m: Machine, ref: Ref, what: str) -> Value | None:
    """What an object of the SDK was made with, or the server that it was made by."""
    holder: Value | None = ref
    for _ in range(4):
        if not isinstance(holder, Ref):
            return None
        entry = library.entry_of(m, holder)
        found = _set_later(m, holder, entry, entry.uses[what]) if entry is not None and what in entry.uses else None
        found = library.use(m, holder, what) if found is None else found
        if found is not None and not (isinstance(found, Const) and found.value is None):
            return found
        variable = entry.options.get("environment", {}).get(what) if entry is not None else None
        if variable is not None:
            return Variable(str(variable), Const.of(None))
        holder = library.argument(m, holder, "parent")
    return None


def _set_later(m: Machine, holder: Ref, entry: Entry, name: str) -> Value | None:
    """What is set on an object when it has been made: on itself, or among the settings that it carries."""
    places: list[Value | None] = [holder]
    if "settings" in entry.attributes:
        places.append(library.object_attribute(m, holder, "settings", m.world.nowhere))
    for place in places:
        for written in (name, f"_{name}"):
            found = m.read_attribute(place, written) if isinstance(place, Ref) else None
            if found is not None:
                return found
    return None


def option(m: Machine, ref: Ref, name: str, otherwise: int) -> int:
    """A number that the rules give for an object of the SDK."""
    entry = library.entry_of(m, ref)
    return int(entry.options.get(name, otherwise)) if entry is not None else otherwise


def _manager(m: Machine, ref: Ref, a: Arguments) -> None:
    stateless = setting(m, ref, "stateless")
    entry = library.entry_of(m, ref)
    if stateless is not None and _is_true(m, stateless, a.site):
        names, what = (entry.options.get("stateless_handlers", ()) if entry else ()), "mcp_stateless"
    else:
        names, what = (entry.options.get("handlers", ()) if entry else ()), "mcp_session"
    for name in names:
        method = classes.find_method(m, ref, str(name))
        if method is not None:
            calls.awaited(
                m, calls.call(m, method, a.positional or _asgi(m, a.site), a.keywords, a.site, a.frame), a.site
            )
            return
    HANDLERS[what](m, ref, a)


def _asgi(m: Machine, site: Site) -> tuple[Value, ...]:
    from sselint.read.python.libraries import inject

    return inject.made(m, "sselint.scope", site), Callback("input"), Callback("send")


def _is_true(m: Machine, value: Value, site: Site) -> bool:
    if isinstance(value, Variable):
        return m.world.decide_variable(m, value, "is on", site, lambda v: str(v).lower() in TRUE)
    return m.truth(value, site)


def sessions(m: Machine, ref: Ref) -> Ref:
    """The sessions that a manager knows: their names are minted at random by the process."""
    made = m.heap.make(("sessions", ref.id), "dict", "sessions", m.object(ref).site, True)
    made.boot, made.label, made.grows = True, "the sessions of this process", m.object(ref).site
    if not made.pairs:
        made.pairs[(Minted("random"), Unknown("a transport of a session"))] = None
    return Ref(made.id)


def _session(m: Machine, ref: Ref, a: Arguments) -> None:
    """The stock manager in stateful mode: a session that it does not know is refused before anything else."""
    held = sessions(m, ref)
    adopted = next(
        (
            v
            for _, v in reversed(m.overlay.pairs.get(held, []))
            if isinstance(v, Ref) and library.role_of(m, v) == "transport"
        ),
        None,
    )
    if adopted is not None:
        _transport(m, adopted, a)
        return
    if not containers.has_key(m, held, SESSION, a.site):
        _refuse(m, option(m, ref, "without_session", 404), a.site)
    _serve(m, ref, setting(m, ref, "store"), a)


def _stateless(m: Machine, ref: Ref, a: Arguments) -> None:
    """A transport for each request: no session, no store, and a GET with a cursor is an error."""
    if _cursor(m, a.site) is not None:
        _refuse(m, option(m, ref, "stateless_status", 500), a.site)
    _live(m, None, a)


def _transport(m: Machine, ref: Ref, a: Arguments) -> None:
    """A transport that is wired by hand: no session is asked for if it was made without one."""
    session = library.use(m, ref, "session")
    fixed = isinstance(session, Minted) or (isinstance(session, Unknown) and not session.cursor)
    if fixed and not containers.has_key(m, sessions(m, ref), SESSION, a.site):
        _refuse(m, 404, a.site)
    _serve(m, ref, setting(m, ref, "store"), a)


def _refuse(m: Machine, status: int, site: Site) -> NoReturn:
    """The SDK sends the refusal itself: no handler around it can catch it."""
    m.note("refuse", site, status=status)
    m.begun = True
    raise Answered


def _cursor(m: Machine, site: Site) -> Value | None:
    value = m.world.sent(m, "header", Const.of("last-event-id"), Const.of(None), site)
    return None if isinstance(value, Const) else value


def serve_store(m: Machine, store: Ref, a: Arguments) -> None:
    """An exchange over a transport of which nothing is known but its event store."""
    _serve(m, store, store, a)


def _serve(m: Machine, ref: Ref, store: Value | None, a: Arguments) -> None:
    cursor = _cursor(m, a.site)
    if cursor is None:
        _live(m, store, a)
        return
    if store is None:
        _refuse(m, option(m, ref, "without_store", 500), a.site)
    m.note("stream", a.site)
    m.begun = True
    method = _method(m, store, "replay_events_after", a)
    if method is None and isinstance(store, Ref) and library.describes(m, store, "replay_events_after"):
        method = classes.attribute(m, store, "replay_events_after", a.site, a.frame)
        if not _holds(m, store, a.site):
            return  # the library's own store: it logs that it does not know the id
    if method is None:
        wire.emit(
            m,
            {"data": store if isinstance(store, Unknown) else Unknown("what the event store replays", cursor=True)},
            a.site,
            framed=False,
        )
        raise Ended
    try:
        result = calls.awaited(m, calls.call(m, method, (cursor, Callback("event")), {}, a.site, a.frame), a.site)
    except Raised as raised:
        m.note("swallowed", raised.site)
        return  # the SDK logs it; the head is out, and the body is empty
    if isinstance(result, Const) and result.value is None:
        return
    if isinstance(result, Unknown) and result.cursor:  # whoever was handed the cursor may have sent what is behind it
        wire.emit(m, {"data": result}, a.site, framed=False)
    m.note("live", a.site, source=sessions(m, ref).id, fed="local")
    raise Ended


def _method(m: Machine, store: Value, name: str, a: Arguments) -> Value | None:
    """A method of a store of the tree, be it that it hands on what it does not have itself."""
    found = classes.find_method(m, store, name)
    if found is not None or classes.find_method(m, store, "__getattr__") is None:
        return found
    handed = classes.attribute(m, store, name, a.site, a.frame)
    return handed if isinstance(handed, Function) else None


def _holds(m: Machine, store: Ref, site: Site) -> bool:
    """Whether a library's own store knows the cursor."""
    hit = m.hypothesis is Hypothesis.KNOWN
    m.note("lookup", site, container=stores.store_of(m, store).id, hit=hit)
    return hit


def _live(m: Machine, store: Value | None, a: Arguments) -> None:
    """What a stream sends as it happens: each event is named by the store before it goes out."""
    m.note("stream", a.site)
    m.begun = True
    message = Unknown("a message of the protocol")
    outer, m.publishing = m.publishing, True
    fields: dict[str, Value] = {"data": message}
    try:
        if store is not None:
            fields["id"] = _named(m, store, message, a)
    finally:
        m.publishing = outer
    wire.emit(m, {k: v for k, v in fields.items() if not (isinstance(v, Const) and v.value is None)}, a.site)
    if m.building and store is not None:
        method = _method(m, store, "replay_events_after", a)
        if method is not None:
            calls.awaited(
                m,
                calls.call(m, method, (Unknown("a cursor", cursor=True), Callback("event")), {}, a.site, a.frame),
                a.site,
            )
    raise Ended


def _named(m: Machine, store: Value, message: Value, a: Arguments) -> Value:
    method = _method(m, store, "store_event", a)
    if method is None and isinstance(store, Ref) and library.describes(m, store, "store_event"):
        method = classes.attribute(m, store, "store_event", a.site, a.frame)
    if method is None:
        return store if isinstance(store, Unknown) else Unknown("the id that the event store gives")
    stream = Input("the request's id")
    return calls.awaited(m, calls.call(m, method, (stream, message), {}, a.site, a.frame), a.site)


HANDLERS: dict[str, Callable[[Machine, Ref, Arguments], None]] = {
    "mcp_manager": _manager,
    "mcp_session": _session,
    "mcp_stateless": _stateless,
    "mcp_transport": _transport,
}
