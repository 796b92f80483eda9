"""Streams that no application of the tree mounts: library code. They are facts without a verdict."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from sselint.read.python.interpreter import calls, classes, iteration
from sselint.read.python.interpreter.machine import Arguments, Frame, Hypothesis, Machine
from sselint.read.python.interpreter.oracle import Explorer, Oracle
from sselint.read.python.interpreter.values import (
    ClassValue,
    Const,
    Descriptor,
    External,
    Function,
    Generator,
    Input,
    Ref,
    Scope,
    Unknown,
    Value,
)
from sselint.read.python.libraries import described, inject, library, mcp, wire
from sselint.read.python.server import by_annotation, handed_on, order
from sselint.read.python.server.endpoint import Endpoint
from sselint.read.python.server.world import World
from sselint.read.python.source import ir
from sselint.read.python.source.deployed import NOT_DEPLOYED
from sselint.read.python.source.modules import Site

PATHS = 6
STEPS = 4_000
TOTAL = 12_000
CONSTRUCTORS = 3
"""How deep constructors that nobody calls may need one another."""


def candidates(world: World, evident: set[str], ran: set[object], sent: set[object]) -> Iterator[Endpoint]:
    """Functions, methods and event stores of the files that mention streams which no endpoint reached: of the functions
    none that `ran` for one, of the stores none that ran while one `sent` events."""
    for path in [p for p in world.loaded if p in evident]:
        for values in list(world.globals.get(path, {}).values()):
            for value in list(values):
                if isinstance(value, Function) and value.module.path == path and _open(world, value, ran):
                    yield Endpoint(value, None, (), Site(value.module, value.node.cst), kind="free")
                elif isinstance(value, ClassValue) and value.module.path == path:
                    yield from _of_class(world, value, ran, sent)
    for function in list(world.taken.values()):
        if function.module.path in evident and _open(world, function, ran):
            yield Endpoint(function, None, (), Site(function.module, function.node.cst), kind="free")


SENDS = re.compile(
    r"""(id|data|event)["']?\s*:|event[-_]stream|ServerSentEvent|EventSource|\byield\b.*(sse|event|frame|format)""",
    re.IGNORECASE,
)


def _open(world: World, function: Function, ran: set[object]) -> bool:
    node = function.node
    if described.defines(world.rules, function) or order.makes(world, function):
        return False  # what puts an application together answers nobody itself
    if not SENDS.search(function.module.code(node.cst)):
        return False
    if not isinstance(node, ir.FunctionNode) or node in ran or (node in world.called and node not in world.standalone):
        return False
    world.standalone.add(node)
    return True


def _of_class(world: World, cls: ClassValue, ran: set[object], sent: set[object]) -> Iterator[Endpoint]:
    m = Machine(world, Oracle(), Hypothesis.BUILD)
    site = Site(cls.module, cls.node.cst)
    if described.defines(world.rules, cls) and not is_store(m, cls):
        return
    if is_store(m, cls):
        inner = classes.class_attribute(m, cls, "store_event")
        if inner is None or not isinstance(inner[0], Function) or inner[0].node not in sent:
            yield Endpoint(cls, None, (), site, kind="store")
        return
    entries = [world.rules.entry(base.name) for base in classes.library_bases(m, cls)]
    if any(e is not None and e.role == "handler_class" for e in entries):
        yield Endpoint(cls, None, (), site, kind="route")
        return
    for value in list(cls.attributes.values()):
        function = value.function if isinstance(value, Descriptor) else value
        if isinstance(function, Function) and function.module is cls.module and _open(world, function, ran):
            yield Endpoint(function, None, (), Site(function.module, function.node.cst), kind="free")


def is_store(m: Machine, cls: ClassValue) -> bool:
    """Whether a class is an event store: it names an SDK's interface, or has the methods that the SDK waits for."""
    entries = (m.rules.entry(base.name) for base in classes.library_bases(m, cls))
    named = any(e is not None and e.role == "event_store" for e in entries)
    if named:
        return classes.class_attribute(m, cls, "store_event") is not None
    marks = m.rules.known_stores
    return any(_has(m, cls, known) for known in marks) and not by_annotation.is_interface(m, cls)


def _has(m: Machine, cls: ClassValue, known: Mapping[str, int]) -> bool:
    """Whether a class has each method as a coroutine of so many arguments: an SDK that awaits them asks no more."""
    for name, count in known.items():
        found = classes.class_attribute(m, cls, name)
        function = found[0] if found is not None else None
        node = function.node if isinstance(function, Function) else None
        if not isinstance(node, ir.FunctionNode) or not node.asynchronous:
            return False
        if sum(p.kind in ("positional", "keyword") for p in node.parameters) != count + 1:
            return False
    return True


def streaming(world: World, candidates: Iterable[Endpoint]) -> list[Endpoint]:
    """The candidates that send events. What another one runs to send its own is a part of that one."""
    ran = {endpoint: nodes for endpoint in candidates if (nodes := _streams(world, endpoint))}

    def is_part(endpoint: Endpoint) -> bool:
        node = endpoint.handler.node if isinstance(endpoint.handler, Function) else None
        return any(node in nodes for other, nodes in ran.items() if other != endpoint and not _within(ran, other, node))

    return [endpoint for endpoint in ran if not is_part(endpoint)]


def _within(ran: dict[Endpoint, set[object]], other: Endpoint, node: object) -> bool:
    """Whether one of two that run each other comes before the other."""
    handler = other.handler
    inner = handler.node if isinstance(handler, Function) else None
    both = (e for e, nodes in ran.items() if isinstance(e.handler, Function) and e.handler.node is node)
    return any(inner in ran[e] for e in both)


def _streams(world: World, endpoint: Endpoint) -> set[object]:
    """A short look: what a candidate runs where it sends events, nothing where it sends none."""
    from sselint.read.python.server import serve

    def path(oracle: Oracle) -> Machine:
        m = Machine(world, oracle, Hypothesis.BUILD)
        serve.serve(m, endpoint)
        return m

    explorer = Explorer(world.budget, PATHS, cover=False, steps=STEPS, total=TOTAL)
    found: set[object] = set()
    for m, _ in explorer.run(path):
        if any(e.begins_stream for e in m.trace):
            found |= {endpoint, *m.ran}
            world.visited |= m.visited
    return found


def serve_free(m: Machine, endpoint: Endpoint) -> Value:
    """Runs a function of library code as if it answered a request; what it gives is looked at by the caller."""
    site = endpoint.site or m.world.nowhere
    if endpoint.kind == "store" and isinstance(endpoint.handler, ClassValue):
        return _store(m, endpoint.handler, site)
    function = endpoint.handler
    if not isinstance(function, Function):
        return Const.of(None)
    if function.owner is not None and function.receiver is None:
        function = _bound(m, function, site)
    parameters = [p for p in function.node.parameters if p.kind in ("positional", "keyword")]
    if function.receiver is not None:
        parameters = parameters[1:]
    given = {p.name: _parameter(m, endpoint, function, p) for p in parameters}
    if any(p.kind == "**" for p in function.node.parameters):
        given["**"] = Unknown(f"what the callers of {function.name} name, who are not in the tree")
    m.alone = function.node
    value = calls.call(m, function, (), given, site, None)
    value = calls.awaited(m, value, site)
    if isinstance(value, Generator):
        if not m.building:
            m.note("stream", site)  # it was seen to send events
        iteration.iterate(m, value, site, lambda chunk: _yielded(m, chunk, site))
        return Const.of(None)
    return value


def _yielded(m: Machine, chunk: Value, site: Site) -> None:
    """What a generator of nobody yields is an event only if it looks like one."""
    if wire.looks_like_event(m, chunk):
        m.note("stream", site)
        m.begun = True
        wire.send_event(m, chunk, site)


def _bound(m: Machine, function: Function, site: Site) -> Function:
    from dataclasses import replace

    return function if function.owner is None else replace(function, receiver=receiver_of(m, function.owner, site))


def receiver_of(m: Machine, cls: ClassValue, site: Site | None = None) -> Value:
    """The object whose method answers: the one that the tree makes, else one that is made for it."""
    from sselint.read.python.server.build import instances

    held = instances(m.world, cls)
    return held[0] if held else _instance(m, cls, site or Site(cls.module, cls.node.cst))


def _instance(m: Machine, cls: ClassValue, site: Site, depth: int = 0) -> Value:
    """An object of a class that nothing in the tree makes: the same one for all who ask, made at start-up."""
    outer, m.boot = m.boot, True
    try:
        found = classes.class_attribute(m, cls, "__init__")
        given: dict[str, Value] = {}
        if found is not None and isinstance(found[0], Function):
            for p in found[0].node.parameters[1:]:
                if p.kind in ("positional", "keyword") and (p.default is None or _is_choice(m, found[0], p)):
                    given[p.name] = _made(m, cls, found[0], p, depth)
        made = classes.instantiate(m, cls, (), given, site, None)
        if isinstance(made, Ref):
            m.world.stand_ins.add(made.id)
        return made
    finally:
        m.boot = outer


def _is_choice(m: Machine, function: Function, parameter: ir.Parameter) -> bool:
    """Whether a parameter takes any store of a library's interface: its default is one of many, and who makes the
    object picks."""
    kind, _ = inject.annotated(m, parameter.annotation, Frame(function.module, Scope(function.module, {}, None)))
    entry = m.rules.entry(kind.name) if isinstance(kind, External) else None
    return entry is not None and entry.role == "client" and entry.options.get("where") == "unknown"


def _made(m: Machine, cls: ClassValue, function: Function, parameter: ir.Parameter, depth: int) -> Value:
    """An argument of a constructor that nobody calls: what its annotation says, or the constructor asks whether it is,
    where that is a library's client or a class of the tree that can be made."""
    home = Frame(function.module, Scope(function.module, {}, function.scope))
    kind, _ = inject.annotated(m, parameter.annotation, home)
    kind = handed_on.asked_for(m, function, parameter, home) if kind is None else kind
    entry = m.rules.entry(kind.name) if isinstance(kind, External) else None
    if entry is not None and entry.role in ("client", "queue", "channel"):
        return library.make_object(m, entry, Arguments((), {}, Site(function.module, parameter.cst), None))
    if isinstance(kind, ClassValue) and depth < CONSTRUCTORS:
        return _given(m, cls, kind, parameter.name, Site(function.module, parameter.cst), depth + 1)
    return _unknown(cls.name, parameter.name)


def routed(m: Machine, kind: Value | None, site: Site) -> Value | None:
    """An application or router of a library that a function takes by its annotation: what is put into it there answers
    wherever one is handed over. None where the annotation names none."""
    entry = m.rules.entry(kind.name) if isinstance(kind, External) else None
    if entry is None or entry.role not in ("application", "router"):
        return None
    made = library.make_object(m, entry, Arguments((), {}, site, None))
    if isinstance(made, Ref):
        m.world.stand_ins.add(made.id)
    return made


def _given(m: Machine, owner: ClassValue, cls: ClassValue, name: str, site: Site, depth: int) -> Value:
    """An object of a class of the tree: the one that the tree makes, else one that is made for it. Whose it is of
    several classes nobody can say here."""
    from sselint.read.python.server.build import instances

    made = [ref for ref in instances(m.world, cls) if ref.id not in m.world.stand_ins]
    kinds = list({m.object(ref).of for ref in made}) or _concrete(m, cls)
    if not made and len(kinds) > 1:  # of several that may be it, the one that the tree makes objects of
        asked = (kind for kind in kinds if isinstance(kind, ClassValue))
        made = [ref for kind in asked for ref in instances(m.world, kind) if _is_deployed(m, ref)]
        kinds = list({m.object(ref).of for ref in made})
    if len(kinds) != 1 or not isinstance(kinds[0], ClassValue):
        return _unknown(owner.name, name)
    return made[0] if made else _instance(m, kinds[0], site, depth)


def _is_deployed(m: Machine, ref: Ref) -> bool:
    """Whether the tree makes an object, and not in its tests or examples."""
    site = m.object(ref).site
    return ref.id not in m.world.stand_ins and site is not None and not NOT_DEPLOYED.search(site.module.path)


def _concrete(m: Machine, cls: ClassValue) -> list[ClassValue]:
    """The classes that an object of a class may be of."""
    if not by_annotation.is_interface(m, cls):
        return [cls, *_heirs(m, cls)]
    return _heirs(m, cls) or by_annotation.implementers(m, cls)


def given(m: Machine, cls: ClassValue, name: str, site: Site) -> Value:
    """An object of a class of the tree that somebody hands in under a name: a container, by its type."""
    return _given(m, cls, cls, name, site, 0)


def _heirs(m: Machine, cls: ClassValue) -> list[ClassValue]:
    """The classes that inherit from a class."""
    several = [
        value
        for names in m.world.globals.values()
        for values in names.values()
        for value in values
        if isinstance(value, ClassValue) and value != cls and cls in list(classes.ancestors(m, value))
    ]
    return list(dict.fromkeys(several))


def _some(m: Machine, cls: ClassValue, site: Site) -> Value:
    """An object of a class or, where others inherit from it, of one of these: who injects it decides."""
    options = _heirs(m, cls) or [cls]
    label = f"which {cls.name} it is given"
    return _instance(m, options[m.once(len(options), ("injected", cls.node), "environment", label, site)], site)


def _unknown(owner: str, name: str) -> Value:
    return Unknown(f"{name} of {owner}, which whoever makes it gives")


def _parameter(m: Machine, endpoint: Endpoint, function: Function, parameter: ir.Parameter) -> Value:
    from sselint.read.python.server.world import plain

    site = Site(function.module, parameter.cst)
    words = {plain(word) for word in m.rules.word_list("cursor_parameters")}
    if plain(parameter.name) in m.world.cursor_words | words:
        home = Frame(function.module, Scope(function.module, {}, function.scope))
        from sselint.read.python.interpreter import expressions

        given = expressions.evaluate(m, parameter.default, home) if parameter.default is not None else Const.of(None)
        return m.world.cursor(m, f"parameter {parameter.name}", given, site)
    home = Frame(function.module, Scope(function.module, {}, function.scope))
    kind, _ = inject.annotated(m, parameter.annotation, home)
    if isinstance(kind, External):
        entry = m.rules.entry(kind.name)
        if entry is not None and entry.role == "request":
            return inject.made(m, kind.name, site)
        if entry is not None and entry.role in ("client", "queue", "channel"):
            return library.make_object(m, entry, Arguments((), {}, site, None))
    if parameter.name in ("request", "req"):
        return inject.made(m, "sselint.request", site)
    if parameter.name in inject.ASGI and {"scope", "send"} <= {p.name for p in function.node.parameters}:
        return inject.ASGI[parameter.name](m, site)
    if isinstance(kind, ClassValue):
        from sselint.read.python.server.build import instances

        held = instances(m.world, kind)
        return held[0] if held else _some(m, kind, site)
    if parameter.default is not None:
        from sselint.read.python.interpreter import expressions

        return expressions.evaluate(m, parameter.default, home)
    return handed_on.handler(m, function, parameter, site) or Input(f"parameter {parameter.name}")


def _store(m: Machine, cls: ClassValue, site: Site) -> Value:
    from sselint.read.python.server.build import instances

    held = instances(m.world, cls)
    store = held[0] if held else _instance(m, cls, site)
    m.note("mcp", site)
    if isinstance(store, Ref):
        mcp.serve_store(m, store, Arguments((), {}, site, None))
    return Const.of(None)
