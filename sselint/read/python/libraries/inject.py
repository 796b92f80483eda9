"""What a framework gives to a handler: the request, parts of it, and what dependencies make."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from sselint.read.python.interpreter import calls, classes, containers, expressions, iteration, records
from sselint.read.python.interpreter.machine import Arguments, Frame, Hypothesis, Machine, Raised, Signal
from sselint.read.python.interpreter.values import (
    Body,
    Callback,
    ClassValue,
    Const,
    Cursor,
    Exceptional,
    External,
    Function,
    Generator,
    Input,
    Partial,
    Ref,
    Scope,
    Tuple,
    Unknown,
    Value,
    undecorated,
)
from sselint.read.python.libraries import by_type, library, overrides
from sselint.read.python.rules import Entry
from sselint.read.python.source import ir
from sselint.read.python.source.modules import Site

if TYPE_CHECKING:
    from sselint.read.python.server.endpoint import Endpoint

UNPROCESSABLE = 422
NUMBERS = ("builtins.int", "builtins.float")
HANDED = ("request", "response", "object", "response_builder", "background", "headers")
"""Roles of what a framework hands to a parameter that is annotated with it."""


def made(m: Machine, name: str, site: Site) -> Value:
    """An object that the rules describe by this name; one for the whole request."""
    key = f"made {name}"
    held = m.request.get(key)
    if held is None:
        entry = m.rules.entry(name)
        held = library.make_object(m, entry, Arguments((), {}, site, None)) if entry is not None else Unknown(name)
        m.request[key] = held
    return held


def framework(m: Machine, endpoint: Endpoint) -> Entry | None:
    """The rule that describes the application or router that an endpoint belongs to."""
    for number in endpoint.routers:
        entry = library.entry_of(m, Ref(number))
        if entry is not None and entry.options:
            return entry
    return None


def request(m: Machine, endpoint: Endpoint) -> Value:
    """The request, as the framework of the endpoint shows it."""
    entry = framework(m, endpoint)
    name = str(entry.options.get("request", "sselint.request")) if entry is not None else "sselint.request"
    return made(m, name, _own_site(endpoint) or m.world.nowhere)


def _own_site(endpoint: Endpoint) -> Site | None:
    """Where an endpoint is told from all others: one decorator may register many handlers at one place."""
    handler = endpoint.handler
    if not isinstance(handler, Function) or not isinstance(handler.wrapped, Function):
        return endpoint.site
    handler = undecorated(handler)
    return Site(handler.module, handler.node.cst)


def dependencies(m: Machine, endpoint: Endpoint) -> None:
    """Runs the dependencies that routers and routes name for their refusals alone."""
    given = [library.use(m, Ref(number), "dependencies") for number in endpoint.routers]
    given.append(endpoint.options.get("with dependencies"))
    for several in given:
        if isinstance(several, Ref) and m.object(several).kind in containers.KINDS:
            for item in list(m.object(several).elements):
                _marked(m, endpoint, item, "", "")


def arguments(m: Machine, endpoint: Endpoint, handler: Value) -> tuple[tuple[Value, ...], dict[str, Value]]:
    """The arguments of a handler: injected by name and annotation, or the request and then what the path holds."""
    function = handler.function if isinstance(handler, Partial) else handler
    if not isinstance(function, Function):
        return (request(m, endpoint),), {}
    outer = function
    function = undecorated(function)
    entry = framework(m, endpoint)
    given = {k for k, _ in handler.keywords} if isinstance(handler, Partial) else set()
    parameters = [p for p in function.node.parameters if p.kind in ("positional", "keyword") and p.name not in given]
    if outer.receiver is not None and parameters:
        parameters = parameters[1:]
    if isinstance(handler, Partial):
        parameters = parameters[len(handler.positional) :]
    if entry is not None and entry.options.get("injects"):
        return (), injected(m, endpoint, function, parameters)
    positional: list[Value] = []
    style = entry.options.get("request_first", True) if entry is not None else True
    if style and parameters:
        positional.append(request(m, endpoint))
        parameters = parameters[1:]
    keywords = {p.name: Input(f"path parameter {p.name}") for p in parameters if p.default is None}
    return tuple(positional), dict(keywords)


def injected(m: Machine, endpoint: Endpoint, function: Function, parameters: list[ir.Parameter]) -> dict[str, Value]:
    """Arguments that a framework finds for each parameter by its annotation, default and name."""
    found: dict[str, Value] = {}
    for parameter in parameters:
        found[parameter.name] = _argument(m, endpoint, function, parameter)
    return found


def _argument(m: Machine, endpoint: Endpoint, function: Function, parameter: ir.Parameter) -> Value:
    home = Frame(function.module, Scope(function.module, {}, function.scope))
    site = Site(function.module, parameter.cst)
    kind, marks = annotated(m, parameter.annotation, home)
    default = expressions.evaluate(m, parameter.default, home) if parameter.default is not None else None
    number = isinstance(kind, External) and kind.name in NUMBERS
    for mark in (*marks, default):
        if isinstance(mark, Ref) and library.role_of(m, mark) in ("parameter", "dependency"):
            plain = default if mark is not default else None
            return _marked(m, endpoint, mark, parameter.name, "int" if number else "", plain, kind, site)
    provided = _provided(m, endpoint, parameter.name)
    if provided is None:
        provided = by_type.handed(m, parameter.annotation, parameter.name, home, site)
    if provided is not None:
        return provided
    url = endpoint.url or ""
    if f"{{{parameter.name}" in url or f"<{parameter.name}" in url or f":{parameter.name}>" in url:
        return Input(f"path parameter {parameter.name}")
    if isinstance(kind, External):
        entry = m.rules.entry(kind.name)
        if entry is not None and entry.call is None and entry.role in HANDED:
            return made(m, kind.name, site) if entry.role != "request" else request_of(m, kind.name, site)
    if isinstance(kind, ClassValue):
        return Body(f"the request's body, a {kind.name}", kind)
    of_application = Ref(endpoint.application) if parameter.name == "state" and endpoint.application > 0 else None
    state = library.object_attribute(m, of_application, "state", site) if of_application is not None else None
    if state is not None:
        return state
    if parameter.name == "request" or parameter.name == "state":
        return request(m, endpoint)
    value = m.world.sent(m, "query", Const.of(parameter.name), default if default is not None else Const.of(None), site)
    return _number(m, value, number, site)


def body_field(m: Machine, body: Body, name: str, site: Site) -> Value:
    """A field of a request's body, or of a record of its headers or query: the cursor where it is called so, else the
    client's choice."""
    field = records.fields_of(m, body.of).get(name)
    if field is None:
        return body
    annotation, default, scope, _ = field
    home = Frame(scope.module, Scope(scope.module, {}, scope.parent))
    absent = expressions.evaluate(m, default, home) if isinstance(default, ir.Constant) else Const.of(None)
    value = m.world.sent(m, body.carrier, Const.of(name), absent, site)
    if not isinstance(value, Cursor):
        return value
    kind, _ = annotated(m, annotation, home)
    return _number(m, value, isinstance(kind, External) and kind.name in NUMBERS, site)


def request_of(m: Machine, name: str, site: Site) -> Value:
    """The request as an object of the class that the annotation names."""
    return made(m, name, site)


def _provided(m: Machine, endpoint: Endpoint, name: str) -> Value | None:
    """A value that is provided by name (`dependencies={"store": Provide(...)}`), by the nearest to the handler."""
    for given in _providers(m, endpoint):
        if isinstance(given, Ref) and m.object(given).kind == "dict":
            for key, value in m.object(given).pairs:
                if isinstance(key, Const) and key.value == name:
                    return _marked(m, endpoint, value, name, "")
    return None


def _providers(m: Machine, endpoint: Endpoint) -> Iterator[Value | None]:
    """What the route, the class whose method answers, the routers and the application provide, in this order."""
    yield endpoint.options.get("with dependencies")
    receiver = endpoint.handler.receiver if isinstance(endpoint.handler, Function) else None
    cls = classes.class_of(m, receiver) if receiver is not None else None
    entry = library.entry_of(m, receiver) if receiver is not None else None
    if cls is not None and entry is not None and "dependencies" in entry.uses:
        found = classes.class_attribute(m, cls, entry.uses["dependencies"])
        yield found[0] if found is not None else None
    for number in reversed(endpoint.routers):
        yield library.use(m, Ref(number), "dependencies")


def annotated(m: Machine, node: ir.Expression | None, home: Frame) -> tuple[Value | None, tuple[Value, ...]]:
    """The type that an annotation names, and what `Annotated` adds to it."""
    if node is None:
        return None, ()
    value = expressions.evaluate(m, node, home)
    if isinstance(value, Const) and isinstance(value.value, str):
        value = m.world.lookup(m, value.value.split("[")[0].split("|")[0].strip(), home)
    if isinstance(value, Tuple) and value.items:
        return value.items[0], value.items[1:]
    return value, ()


def _marked(
    m: Machine,
    endpoint: Endpoint,
    mark: Value,
    name: str,
    number: str,
    default: Value | None = None,
    kind: Value | None = None,
    site: Site | None = None,
) -> Value:
    """The value for a parameter that is marked as a header, a query parameter, a body or a dependency."""
    if not isinstance(mark, Ref):
        return Unknown("a dependency that is not understood")
    where = site or m.object(mark).site or m.world.nowhere
    if library.role_of(m, mark) == "dependency":
        function = library.use(m, mark, "function")
        if function is None or (isinstance(function, Const) and function.value is None):
            function = kind
        from sselint.read.python.server import by_annotation

        return by_annotation.known(m, _dependency(m, endpoint, function, where), kind, name)
    entry = library.entry_of(m, mark)
    carrier = str(entry.options.get("carrier", "query")) if entry is not None else "query"
    fields = records.fields_of(m, kind) if isinstance(kind, ClassValue) and carrier != "body" else {}
    if fields and isinstance(kind, ClassValue):
        asked = Body(f"what the request says, a {kind.name}", kind, carrier)
        for field in fields:  # all are looked at before the handler is called
            body_field(m, asked, field, where)
        return asked
    alias = library.use(m, mark, "alias")
    spelled = alias.value if isinstance(alias, Const) and alias.value else name
    held = library.use(m, mark, "default")
    if held is not None and not (isinstance(held, Const) and held.value is ...):
        default = held
    value = m.world.sent(m, carrier, Const.of(spelled), default if default is not None else Const.of(None), where)
    pattern = library.use(m, mark, "pattern")
    if isinstance(value, Cursor) and pattern is not None and m.hypothesis is Hypothesis.MALFORMED:
        raise Raised(Exceptional("refusal", (Const.of(UNPROCESSABLE),)), where)
    return _number(m, value, bool(number), where)


def _number(m: Machine, value: Value, number: bool, site: Site) -> Value:
    if number and isinstance(value, Cursor):
        if m.hypothesis is Hypothesis.MALFORMED:
            raise Raised(Exceptional("refusal", (Const.of(UNPROCESSABLE),)), site)
        return Cursor(value.part, True, value.shape, trail=value.trail)
    return value


class _First(Signal):
    def __init__(self, value: Value) -> None:
        self.value = value


def _dependency(m: Machine, endpoint: Endpoint, function: Value | None, site: Site) -> Value:
    """What a dependency gives, made once for each request."""
    if function is None:
        return Unknown("a dependency that is not understood")
    key = ("dependency", function)
    held = m.overlay.known.get(key)
    if isinstance(held, Value):
        return held
    value = _depend(m, endpoint, overrides.instead(m, endpoint, function, site), site)
    m.overlay.known[key] = value
    return value


def _passed_on(m: Machine, endpoint: Endpoint, function: Function) -> dict[str, Value]:
    """What a dependency takes and passes on to the function that it stands in front of, as its signature says."""
    inner, found = function.wrapped, {}
    takes_all = any(p.kind == "**" for p in function.node.parameters)
    if takes_all and isinstance(inner, Function):
        own = {p.name for p in function.node.parameters}
        wanted = [p for p in inner.node.parameters if p.kind in ("positional", "keyword") and p.name not in own]
        found = injected(m, endpoint, inner, wanted)
    return found


def _depend(m: Machine, endpoint: Endpoint, function: Value, site: Site) -> Value:
    target: Value = function
    if isinstance(function, Ref):
        method = classes.find_method(m, function, "__call__")
        target = method if method is not None else function
    if isinstance(function, ClassValue):
        found = classes.class_attribute(m, function, "__init__")
        if found is not None and isinstance(found[0], Function):
            given = injected(m, endpoint, found[0], list(found[0].node.parameters[1:]))
            return classes.instantiate(m, function, (), given, site, None)
        return calls.call(m, function, (), {}, site, None)
    keywords: dict[str, Value] = {}
    from sselint.read.python.interpreter.values import Callback

    inner = target.data if isinstance(target, Callback) and target.name == "cached" else target
    if isinstance(inner, Function):
        parameters = list(inner.node.parameters)
        keywords = injected(m, endpoint, inner, parameters[1:] if inner.receiver is not None else parameters)
        keywords |= _passed_on(m, endpoint, inner)
    value = calls.call(m, target, (), keywords, site, None)
    if isinstance(value, Generator) and value.kind == "function":

        def first(element: Value) -> None:
            raise _First(element)

        try:
            iteration.iterate(m, value, site, first)
        except _First as found_first:
            return found_first.value
        return Const.of(None)
    return calls.awaited(m, value, site)


ASGI: dict[str, Callable[[Machine, Site], Value]] = {
    "scope": lambda m, site: made(m, "sselint.scope", site),
    "receive": lambda m, site: Callback("input", "the request's body"),
    "send": lambda m, site: Callback("send"),
}
"""What a function of the protocol's parameters is handed (ASGI specification, HTTP connection scope)."""
