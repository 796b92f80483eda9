"""Handlers that are classes: made for each request, prepared as the framework does, and asked by its method."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sselint.read.python.interpreter import calls, classes, containers
from sselint.read.python.interpreter.machine import Machine
from sselint.read.python.interpreter.values import Callback, ClassValue, Const, Function, Partial, Ref, Value
from sselint.read.python.libraries import inject
from sselint.read.python.rules import Entry
from sselint.read.python.source.modules import Site

if TYPE_CHECKING:
    from sselint.read.python.server.endpoint import Endpoint


def class_of_handler(m: Machine, handler: Value) -> ClassValue | None:
    """The class whose objects answer: the handler itself, or one that is given what its objects are made with."""
    if isinstance(handler, ClassValue):
        return handler
    inner = handler.function if isinstance(handler, Partial) else None
    if not isinstance(inner, ClassValue):
        return None
    entry = _entry(m, inner)
    return inner if entry is not None and entry.role == "handler_class" else None


def views_of(m: Machine, handler: Value) -> list[Value]:
    """What answers under an address: the handler itself or, of a set of views, each of its methods that is given the
    request."""
    entry = _entry(m, handler) if isinstance(handler, ClassValue) else None
    if not isinstance(handler, ClassValue) or entry is None or not entry.options.get("view_set"):
        return [handler]
    lines = [cls for cls in (handler, *classes.ancestors(m, handler)) if isinstance(cls, ClassValue)]
    names = dict.fromkeys(name for cls in lines for name in cls.attributes)
    made = classes.instantiate(m, handler, (), {}, Site(handler.module, handler.node.cst), None)
    methods = (classes.find_method(m, made, name) for name in names if not name.startswith("_"))
    return [method for method in methods if method is not None and _takes_request(method)]


def _takes_request(method: Value) -> bool:
    parameters = method.node.parameters if isinstance(method, Function) else ()
    return len(parameters) > 1 and parameters[1].name == "request"


def _mapped(m: Machine, handler: Value) -> list[str]:
    """The method that a set of views is told to answer with: `as_view({"get": "events"})`."""
    told = handler.positional[0] if isinstance(handler, Partial) and handler.positional else None
    named = containers.known_entries(m, told).get("get") if isinstance(told, Ref) else None
    return [str(named.value)] if isinstance(named, Const) else []


def _entry(m: Machine, cls: ClassValue) -> Entry | None:
    return next((e for e in map(m.rules.entry, (b.name for b in classes.library_bases(m, cls))) if e is not None), None)


def answer(m: Machine, handler: Value, cls: ClassValue, endpoint: Endpoint, site: Site) -> Value:
    """A class whose methods answer requests: the one for GET is run, while the program is built all of them."""
    entry = _entry(m, cls)
    named = list(map(str, entry.options.get("methods", ("get",)))) if entry is not None else ["get"]
    if m.building:
        named = named[m.choose(len(named), ("method", site), "condition", "the request's method", site) :][:1]
    given = (handler.positional, dict(handler.keywords)) if isinstance(handler, Partial) else ((), {})
    if entry is not None and entry.options.get("view_set"):
        named, given = _mapped(m, handler) or named, ((), {})
    made = classes.instantiate(m, cls, *given, site, None)
    if entry is not None and entry.options.get("keeps_keywords") and isinstance(made, Ref):
        for name, value in given[1].items():
            m.write_attribute(made, name, value, site)
    m.request["handler"] = made
    for name in named:
        method = classes.find_method(m, made, name)
        if method is None:
            continue
        _prepare(m, made, entry, endpoint, site)
        positional, keywords = inject.arguments(m, endpoint, method)
        return calls.awaited(m, calls.call(m, method, positional, keywords, site, None), site)
    return Callback("answered")


def _prepare(m: Machine, made: Value, entry: Entry | None, endpoint: Endpoint, site: Site) -> None:
    """Runs what a framework calls of a handler before the method that answers; one of these may be given what the route
    says, and takes it for its configuration."""
    options = entry.options if entry is not None else {}
    for name in map(str, options.get("first", ("prepare", "setup"))):
        method = classes.find_method(m, made, name)
        if method is None:
            continue
        told = endpoint.options.get("with arguments") if name == options.get("configures") else None
        keywords = containers.known_entries(m, told) if told is not None else {}
        calls.awaited(m, calls.call(m, method, (), keywords, site, None), site)
