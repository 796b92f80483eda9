"""Serves a request on paper: middleware, injected arguments, the handler, its response, and refusals on the way."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any

from sselint.read.python.interpreter import calls, classes, containers, iteration, text
from sselint.read.python.interpreter.machine import Answered, Ended, Hypothesis, Machine, Passing, Raised, Signal
from sselint.read.python.interpreter.oracle import Explorer, Oracle, OutOfBudget
from sselint.read.python.interpreter.values import (
    Callback,
    ClassValue,
    Const,
    Descriptor,
    Exceptional,
    External,
    Function,
    Generator,
    Method,
    Partial,
    Ref,
    Tuple,
    Value,
)
from sselint.read.python.libraries import inject, library, prebuilt, wire
from sselint.read.python.rules import Entry
from sselint.read.python.server import broadcast, class_based, first_piece
from sselint.read.python.server.endpoint import Endpoint
from sselint.read.python.source.modules import Site

REFUSING = range(300, 600)
NO_CONTENT = 204
MIDDLEWARE_PATHS, MIDDLEWARE_STEPS = 8, 6_000


def serve(m: Machine, endpoint: Endpoint) -> None:
    """Runs one request to an endpoint. What happened is in the trace; the last event says how it ended."""
    m.serving = endpoint
    if endpoint.application > 0:
        m.request["application"] = Ref(endpoint.application)
    try:
        try:
            response = _through(m, endpoint, middleware_of(m, endpoint), 0)
            m.ways.answered(response)
            deliver(m, response, endpoint)
        except Raised as raised:
            if m.begun:
                raise
            _refused(m, endpoint, raised)
        _end(m, "closed", None)
    except Ended as ended:
        _end(m, "closed" if isinstance(ended, Answered) else "open", None)
    except Raised as raised:
        _end(m, "aborted", raised.site, status=status_of(m, raised.exception))
    except (Signal, Passing):
        _end(m, "closed", None)
    except (OutOfBudget, RecursionError):
        _end(m, "budget", None)


def _end(m: Machine, how: str, site: Site | None, **data: Any) -> None:
    wire.flush(m, site)
    if how in ("open", "closed") and (broadcast.hear(m) or m.goes_on):
        how = "open"  # it stays to hear what others write
    m.note("end", site, how=how, **data)


# -- middleware ----------------------------------------------------------------------------------------------------


def middleware_of(m: Machine, endpoint: Endpoint) -> list[Value]:
    """What stands in front of the handler, outermost first."""
    found: list[Value] = []
    for number in endpoint.routers:
        for item in containers_of(m, library.use(m, Ref(number), "middleware")):
            found.append(library.use(m, item, "handler") or item if isinstance(item, Ref) else item)
        for registration in m.world.registrations.of("middleware", Ref(number)):
            handler = registration.handler or registration.values.get("target")
            if handler is not None:
                found.append(handler)
    return found


def containers_of(m: Machine, value: Value | None) -> list[Value]:
    """The elements of a list that is written down."""
    if value is None:
        return []
    if isinstance(value, Ref) and m.object(value).kind in containers.KINDS:
        return list(m.object(value).elements)
    return list(value.items) if isinstance(value, Tuple) else []


def _through(m: Machine, endpoint: Endpoint, middleware: list[Value], position: int) -> Value:
    if position == len(middleware):
        return _handle(m, endpoint)
    current = middleware[position]
    site = endpoint.site or m.world.nowhere
    if not _matters(m, endpoint, current):
        return _through(m, endpoint, middleware, position + 1)

    def rest(*_: Value) -> Value:
        return _through(m, endpoint, middleware, position + 1)

    following = Callback("continue", rest)
    if isinstance(current, ClassValue):
        made = classes.instantiate(m, current, (following,), {}, site, None)
        method = classes.find_method(m, made, "dispatch")
        if method is not None:
            return calls.awaited(
                m, calls.call(m, method, (inject.request(m, endpoint), following), {}, site, None), site
            )
        method = classes.find_method(m, made, "__call__") if speaks_asgi(m, made) else None
        if method is not None:
            before = len(m.trace)
            _asgi(m, made, endpoint, rest)
            if any(e.kind == "start" for e in m.trace[before:]):
                return Callback("answered")
            return m.request.pop("response", Callback("answered"))
        return rest()
    if isinstance(current, Function | Partial):
        named = current.node.parameters if isinstance(current, Function) else ()
        given: tuple[Value, ...] = (inject.request(m, endpoint), following)[: len(named)]
        if len(named) >= 2:
            return calls.awaited(m, calls.call(m, current, given, {}, site, None), site)
        value = calls.awaited(m, calls.call(m, current, given, {}, site, None), site)
        if not isinstance(value, Const) and value is not None and _is_response(m, value):
            return value
    return rest()


def _matters(m: Machine, endpoint: Endpoint, middleware: Value) -> bool:
    """Whether a middleware has to do with the cursor at all: what does authentication or logging is left out."""
    known = m.world.middleware.get(middleware)
    if known is not None:
        return known
    runs = looked_at(m, endpoint, middleware, m.request.get("application"))
    reads = any(e.kind == "cursor" for inner in runs for e in inner.trace)
    m.world.middleware[middleware] = reads
    return reads


def looked_at(m: Machine, endpoint: Endpoint, middleware: Value, application: Value | None) -> list[Machine]:
    """The runs of a middleware by itself, in front of a handler of an application that does nothing."""
    before = m.world.middleware.get(middleware)
    m.world.middleware[middleware] = True  # while it is looked at

    def path(oracle: Oracle) -> Machine:
        inner = Machine(m.world, oracle, Hypothesis.BUILD)
        bare = replace(endpoint, handler=Callback("input", "a response"), kind="bare")
        if application is not None:
            inner.request["application"] = application
        with suppress(Signal, Passing, OutOfBudget, RecursionError):
            _through(inner, bare, [middleware], 0)
        return inner

    explorer = Explorer(m.world.budget, MIDDLEWARE_PATHS, cover=True, steps=MIDDLEWARE_STEPS, total=MIDDLEWARE_STEPS)
    found = [inner for inner, _ in explorer.run(path)]
    if before is not None:
        m.world.middleware[middleware] = before
    return found


def speaks_asgi(m: Machine, value: Value) -> bool:
    """Whether an object of the tree is called with scope, receive and send."""
    from sselint.read.python.server.endpoint import speaks

    return speaks(m, value) == "asgi"


def _is_response(m: Machine, value: Value) -> bool:
    return (isinstance(value, Ref) and library.role_of(m, value) == "response") or isinstance(value, Tuple | Callback)


# -- the handler ---------------------------------------------------------------------------------------------------


def _handle(m: Machine, endpoint: Endpoint) -> Value:
    handler, site = endpoint.handler, endpoint.site or m.world.nowhere
    if endpoint.kind == "bare":
        return Callback("answered")
    if endpoint.kind == "wsgi":
        environ = inject.made(m, "sselint.environ", site)
        m.media = ""
        value = calls.call(m, handler, (environ, Callback("start_response")), {}, site, None)
        return _wsgi_body(m, value, site)
    if endpoint.is_free:
        from sselint.read.python.server import free

        return free.serve_free(m, endpoint)
    if isinstance(handler, Descriptor):
        handler = handler.function
    rendering = library.entry_of(m, handler) if isinstance(handler, Ref) else None
    if isinstance(handler, Ref) and rendering is not None and rendering.options.get("renders"):
        return _rendered(m, handler, rendering, endpoint, site)
    if (
        isinstance(handler, Ref)
        and library.role_of(m, handler) in ("application", "router")
        and endpoint.kind != "asgi"
    ):
        return Callback("answered")
    if endpoint.kind == "asgi" or (isinstance(handler, Ref) and speaks_asgi(m, handler)):
        _asgi(m, handler, endpoint, None)
        return Callback("answered")
    if isinstance(handler, External):
        return _library(m, handler, site)
    cls = class_based.class_of_handler(m, handler)
    if cls is not None:
        return class_based.answer(m, handler, cls, endpoint, site)
    inject.dependencies(m, endpoint)
    positional, keywords = inject.arguments(m, endpoint, handler)
    value = calls.call(m, handler, positional, keywords, site, None)
    return calls.awaited(m, value, site)


def _library(m: Machine, handler: External, site: Site) -> Value:
    entry = m.rules.entry(handler.name)
    if entry is not None and entry.role == "endpoint":
        prebuilt.serve(m, entry, site)
    return Callback("answered")


def _wsgi_body(m: Machine, value: Value, site: Site) -> Value:
    if m.media == "text/event-stream":
        m.note("stream", site)
        iteration.iterate(m, value, site, lambda chunk: _chunk(m, chunk, site))
    return Callback("answered")


def _asgi(m: Machine, handler: Value, endpoint: Endpoint, app: Callable[..., Value] | None) -> None:
    site = endpoint.site or m.world.nowhere
    given = tuple(give(m, site) for give in inject.ASGI.values())
    if app is not None and isinstance(handler, Ref):

        def inner(*_: Value) -> Value:
            m.request["response"] = app()
            return Const.of(None)

        for name in ("app", "_app", "next", "inner"):
            m.overlay.attributes[(handler, name)] = Callback("continue", inner)
    calls.awaited(m, calls.call(m, handler, given, {}, site, None), site)
    if app is None and m.media == "text/event-stream":
        m.note("stream", site)


def _rendered(m: Machine, handler: Ref, entry: Entry, endpoint: Endpoint, site: Site) -> Value:
    """An object that answers requests by methods of fixed names: for GET on paper, any while the program is built."""
    names = list(map(str, entry.options.get("renders", ())))
    if m.building:
        names = names[m.choose(len(names), ("method", site), "condition", "the request's method", site) :]
    found = (classes.find_method(m, handler, name) for name in names)
    method = next((bound for bound in found if bound is not None), None)
    if method is None:
        return Callback("answered")
    value = calls.call(m, method, (inject.request(m, endpoint),), {}, site, None)
    calls.awaited(m, value, site)
    return Callback("answered")


# -- the response --------------------------------------------------------------------------------------------------


def deliver(m: Machine, value: Value, endpoint: Endpoint) -> None:
    """Sends what a handler returned."""
    site = endpoint.site
    if isinstance(value, Callback):
        return
    if isinstance(value, Generator):
        _generated(m, value, endpoint)
        return
    if first_piece.is_error(m, value, endpoint):
        raise Raised(value, site)
    if isinstance(value, Tuple) and len(value.items) >= 2:
        _with_status_or_headers(m, value, endpoint)
        return
    if isinstance(value, Ref):
        method = classes.find_method(m, value, "__call__")
        entry = library.entry_of(m, value)
        if entry is not None and entry.role == "response":
            respond(m, value, entry, endpoint.site)
            return
        if method is not None and speaks_asgi(m, value):
            _asgi(m, value, endpoint, None)
            return
    if not m.begun:
        m.note("plain", site)


def _with_status_or_headers(m: Machine, value: Tuple, endpoint: Endpoint) -> None:
    """What Flask and its like make of `body, status, headers`, of which the last two may be left out."""
    body, *rest = value.items
    code = next((v.value for v in rest if isinstance(v, Const) and isinstance(v.value, int)), 200)
    if code in REFUSING or code == NO_CONTENT:
        m.note("refuse", value.trail[-1].site if value.trail else endpoint.site, status=code)
    elif any(wire.says_event_stream(m, v) for v in rest):
        entry, site = inject.framework(m, endpoint), endpoint.site
        m.note("stream", site)
        m.begun = entry is None or entry.options.get("starts", "before_body") == "before_body"
        _send_body(m, entry, body, site, events=False)
    else:
        deliver(m, body, endpoint)


def _option(endpoint: Endpoint, name: str) -> Value | None:
    return endpoint.options.get(f"with {name}")


def _generated(m: Machine, value: Generator, endpoint: Endpoint) -> None:
    """A handler that is a generator: the route says how its events are framed."""
    named = _option(endpoint, "response_class") or _option(endpoint, "media_type")
    entry = m.rules.entry(named.name) if named is not None and hasattr(named, "name") else None
    site = endpoint.site
    if entry is None and first_piece.is_drawn(m, endpoint):
        iteration.iterate(m, value, site, lambda chunk: first_piece.sent(m, chunk, endpoint, _chunk))
        return
    if entry is None:
        stream = named is not None and wire.says_event_stream(m, named)
        if stream:
            m.note("stream", site)
        m.begun = True
        iteration.iterate(m, value, site, lambda chunk: _chunk(m, chunk, site, events=True) if stream else None)
        return
    m.note("stream", site)
    m.begun = entry.options.get("starts", "before_body") == "before_body"
    iteration.iterate(
        m, value, site, lambda event: _chunk(m, event, site, events=entry.options.get("stream") == "events")
    )


def respond(m: Machine, ref: Ref, entry: Entry, where: Site | None) -> None:
    """A response object: its status, and the body if it is an event stream."""
    site = m.object(ref).site or where
    code = _status(m, library.use(m, ref, "status"), entry)
    if code in REFUSING or code == NO_CONTENT:
        m.note("refuse", site, status=code)
        return
    events = entry.options.get("stream") == "events"
    if not events and not wire.is_event_stream(m, ref):
        m.note("plain", site)
        return
    m.note("stream", site)
    body = library.use(m, ref, "body")
    m.begun = entry.options.get("starts", "before_body") == "before_body"
    writing = library.use(m, ref, "streaming")
    if isinstance(writing, Function | Partial | Method):  # it is handed the response, and writes the body itself
        calls.awaited(m, calls.call(m, writing, (ref,), {}, site, None), site)
        return
    if body is None or isinstance(body, Const):
        return
    sender = library.use(m, ref, "runs")
    if isinstance(sender, Function | Partial | Method):
        calls.run_apart(m, sender, site)
    if isinstance(body, Function | Partial | Method):
        body = calls.awaited(m, calls.call(m, body, (), {}, site, None), site)
    _send_body(m, entry, body, site, events)


def _send_body(m: Machine, entry: Entry | None, body: Value, site: Site | None, events: bool) -> None:
    """Sends a body piece by piece. Where the head leaves with the first piece, what is raised before that is still a
    status: the rules' own number if the framework is not there any more to make one of the exception."""
    options = entry.options if entry is not None else {}
    if text.is_text(body):
        _chunk(m, body, site, events)
        return
    try:
        iteration.iterate(m, body, site, lambda chunk: _chunk(m, chunk, site, events))
    except Raised as raised:
        if m.begun or "unsent" not in options:
            raise
        m.note("refuse", raised.site, status=int(options["unsent"]), raised=True)


def _chunk(m: Machine, chunk: Value, site: Site | None, events: bool = False) -> None:
    where = site
    if events:
        wire.send_event(m, chunk, where)
    else:
        if isinstance(chunk, Ref) and m.object(chunk).kind == "instance":
            chunk = text.as_text(m, chunk, where or m.world.nowhere, None)
        wire.send_text(m, chunk, where)


def _status(m: Machine, value: Value | None, entry: Entry) -> int:
    if isinstance(value, Const) and isinstance(value.value, int):
        return value.value
    if isinstance(value, Const) and isinstance(value.value, str) and value.value[:3].isdigit():
        return int(value.value[:3])
    return int(entry.options.get("status", 200))


# -- refusals ------------------------------------------------------------------------------------------------------


def _refused(m: Machine, endpoint: Endpoint, raised: Raised) -> None:
    """An exception that nobody caught: a handler registered for it answers, else its status."""
    handler = _exception_handler(m, endpoint, raised.exception)
    site = raised.site or endpoint.site
    if handler is not None:
        m.note("handled", site)
        given: tuple[Value, ...] = (inject.request(m, endpoint), raised.exception)
        if (
            isinstance(handler, Function)
            and len([p for p in handler.node.parameters if p.kind == "positional" and p.name != "self"]) == 1
        ):
            given = (raised.exception,)
        deliver(m, calls.awaited(m, calls.call(m, handler, given, {}, site, None), site or m.world.nowhere), endpoint)
        return
    m.note("refuse", site, status=status_of(m, raised.exception), raised=True)


def _exception_handler(m: Machine, endpoint: Endpoint, exception: Value) -> Value | None:
    for number in (*reversed(endpoint.routers), endpoint.application):
        if number <= 0:
            continue
        for registration in m.world.registrations.of("exception_handler", Ref(number)):
            types = registration.values.get("exception")
            if types is not None and (classes.catches(m, types, exception) or _same_status(m, types, exception)):
                return registration.handler
        given = library.use(m, Ref(number), "exception_handlers")
        if isinstance(given, Ref) and m.object(given).kind == "dict":
            for types, handler in m.object(given).pairs:
                if classes.catches(m, types, exception) or _same_status(m, types, exception):
                    return handler
    return None


def _same_status(m: Machine, types: Value, exception: Value) -> bool:
    return isinstance(types, Const) and types.value == status_of(m, exception)


def status_of(m: Machine, exception: Value) -> int:
    """The HTTP status that an exception becomes if nobody handles it."""
    if isinstance(exception, Exceptional):
        if exception.name == "refusal":
            first = exception.arguments[0] if exception.arguments else None
            return first.value if isinstance(first, Const) and isinstance(first.value, int) else 400
        entry = m.rules.entry(exception.name)
        if entry is not None and entry.role == "http_error":
            return _error_status(m, entry, exception.arguments)
        return 500
    if isinstance(exception, Ref):
        entry = library.entry_of(m, exception)
        for name in classes.STATUS_NAMES:
            value = m.read_attribute(exception, name)
            cls = classes.class_of(m, exception)
            found = classes.class_attribute(m, cls, name) if value is None and cls is not None else None
            value = value if value is not None else found[0] if found is not None else None
            if entry is not None and isinstance(value, Const) and isinstance(value.value, int):
                return value.value
        return int(entry.options.get("status", 500)) if entry is not None and entry.role == "http_error" else 500
    return 500


def is_http_error(m: Machine, exception: Exceptional) -> bool:
    """Whether a library's exception carries an HTTP status."""
    entry = m.rules.entry(exception.name)
    return exception.name == "refusal" or (entry is not None and entry.role == "http_error")


def named_arguments(arguments: tuple[Value, ...]) -> dict[str, Value]:
    """The arguments that an exception of a library was given by name."""
    return {
        str(a.items[0].value): a.items[1]
        for a in arguments
        if isinstance(a, Tuple) and len(a.items) == 2 and isinstance(a.items[0], Const)
    }


def _error_status(m: Machine, entry: Entry, arguments: tuple[Value, ...]) -> int:
    wanted = entry.uses.get("status")
    position = entry.parameters.index(wanted) if wanted in entry.parameters else None
    plain = [a for a in arguments if not isinstance(a, Tuple)]
    named = named_arguments(arguments)
    value = named.get(str(wanted)) or (plain[position] if position is not None and position < len(plain) else None)
    if isinstance(value, Const) and isinstance(value.value, int):
        return value.value
    return int(entry.options.get("status", 500))
