"""Callables of the interpreter's own: decorators that register, ASGI's `send`, WSGI's `start_response`, caches."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from sselint.read.python.interpreter import calls
from sselint.read.python.interpreter.machine import Machine
from sselint.read.python.interpreter.values import Callback, Const, Function, Input, Ref, Unknown, Value
from sselint.read.python.libraries import library, options, wire
from sselint.read.python.source.modules import Site


def call(
    m: Machine, callback: Callback, positional: tuple[Value, ...], keywords: dict[str, Value], site: Site
) -> Value:
    """Calls one of them."""
    return CALLBACKS[callback.name](m, callback.data, positional, keywords, site)


def _register(m: Machine, data: Any, positional: tuple[Value, ...], keywords: dict[str, Value], site: Site) -> Value:
    effect, receiver, values, where = data
    handler = positional[0] if positional else Unknown("a handler")
    m.world.register(m, effect.what, receiver, handler, values, effect, where)
    return handler


def _decorate(m: Machine, data: Any, positional: tuple[Value, ...], keywords: dict[str, Value], site: Site) -> Value:
    function = positional[0] if positional else Unknown("a function")
    return m.world.decorated(m, data[0], function)


def _described(m: Machine, data: Any, positional: tuple[Value, ...], keywords: dict[str, Value], site: Site) -> Value:
    return options.mark(m, positional[0] if positional else Unknown("a function"), data)


def _wrap(m: Machine, data: Any, positional: tuple[Value, ...], keywords: dict[str, Value], site: Site) -> Value:
    wrapper = positional[0] if positional else Unknown("a function")
    return replace(wrapper, wrapped=data) if isinstance(wrapper, Function) else wrapper


def _cached(m: Machine, data: Any, positional: tuple[Value, ...], keywords: dict[str, Value], site: Site) -> Value:
    key = ("cached", data, positional)
    held = m.overlay.known.get(key)
    if isinstance(held, Value):
        return held
    outer, m.boot = m.boot, True
    try:
        value = calls.awaited(m, calls.call(m, data, positional, keywords, site, None), site)
    finally:
        m.boot = outer
    m.overlay.known[key] = value
    return value


def _send(m: Machine, data: Any, positional: tuple[Value, ...], keywords: dict[str, Value], site: Site) -> Value:
    wire.asgi_message(m, positional[0] if positional else Const.of(None), site)
    return Const.of(None)


def _start_response(
    m: Machine, data: Any, positional: tuple[Value, ...], keywords: dict[str, Value], site: Site
) -> Value:
    status = positional[0] if positional else Const.of("200 OK")
    head = str(status.value).split(" ")[0] if isinstance(status, Const) else "200"
    begun = m.begun
    wire.start(m, Const.of(int(head) if head.isdigit() else 200), positional[1] if len(positional) > 1 else None, site)
    m.begun = begun  # WSGI sends the head with the first chunk
    return Callback("write")


def _write(m: Machine, data: Any, positional: tuple[Value, ...], keywords: dict[str, Value], site: Site) -> Value:
    wire.send_text(m, positional[0] if positional else Const.of(""), site)
    return Const.of(None)


def _continue(m: Machine, data: Any, positional: tuple[Value, ...], keywords: dict[str, Value], site: Site) -> Value:
    result: Value = data(*positional)
    return result


def _event(m: Machine, data: Any, positional: tuple[Value, ...], keywords: dict[str, Value], site: Site) -> Value:
    message = positional[0] if positional else Const.of(None)
    found = library.use(m, message, "id") if isinstance(message, Ref) else None
    fields = {"data": message}
    if found is not None and not (isinstance(found, Const) and found.value is None):
        fields["id"] = found
    wire.emit(m, fields, site)
    return Const.of(None)


def _input(m: Machine, data: Any, positional: tuple[Value, ...], keywords: dict[str, Value], site: Site) -> Value:
    return Input(str(data or "the request's body"))


CALLBACKS: dict[str, Callable[..., Value]] = {
    "register": _register,
    "decorate": _decorate,
    "described": _described,
    "wrap": _wrap,
    "cached": _cached,
    "send": _send,
    "start_response": _start_response,
    "write": _write,
    "continue": _continue,
    "event": _event,
    "input": _input,
}
