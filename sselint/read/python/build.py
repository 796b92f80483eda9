"""Builds the world: runs what start-up runs, then everything that may be called later, until nothing new turns up."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from sselint.read.python import calls, classes, free, inject, ir, iteration, library, serve
from sselint.read.python.discover import Endpoint, Endpoints
from sselint.read.python.evidence import mentions_stream
from sselint.read.python.machine import Ended, Frame, Hypothesis, Machine, Passing, Raised, Signal
from sselint.read.python.modules import Module, Site
from sselint.read.python.oracle import Budget, Explorer, Oracle, OutOfBudget
from sselint.read.python.values import (
    ClassValue,
    Const,
    Descriptor,
    Function,
    Generator,
    Partial,
    Ref,
    Scope,
    Unknown,
    Value,
)
from sselint.read.python.world import Registration, World

ROUNDS = 3
ENTRY_PATHS = 24
ENTRY_STEPS = 8_000
ENTRY_TOTAL = 40_000
OTHER_TOTAL = 8_000
NEIGHBOURS = 60
PROBE_STEPS, LOOSE_STEPS, ROUND_STEPS, RUN_STEPS = 600_000, 250_000, 500_000, 1_500_000
"""What each stage may take: so the one before cannot starve the next."""


def build(world: World, modules: Sequence[Module], evident: set[str]) -> list[Endpoint]:
    """Runs the modules and what may be called later of the code around the streams; the endpoints that stream.

    `evident` are the files that mention streams: what streams there although no application mounts it comes last.
    """
    for module in modules:
        world.load(module)
    _startup(world)
    world.budget = Budget(PROBE_STEPS)
    endpoints = Endpoints(world).find()
    streaming, visited = _probe(world, endpoints)
    world.budget = Budget(LOOSE_STEPS)
    mounted = {endpoint.handler for endpoint in endpoints}
    loose = [e for e in _loose(world, evident) if e.handler not in mounted]
    world.budget = Budget(ROUND_STEPS)
    near = _near(world, visited | world.visited | {_module_of(e) for e in loose} | _unseen(evident, visited))
    for _ in range(ROUNDS):
        before = world.heap.version
        core = visited | world.visited | {_module_of(e) for e in (*streaming, *loose)}
        _round(world, [*endpoints, *loose], {*streaming, *loose}, core, near)
        if world.heap.version == before or world.budget.spent:
            break
        endpoints = Endpoints(world).find()
        streaming, visited = _probe(world, endpoints)
        loose = [e for e in loose if not _ran(world, e)]
        near |= visited
    world.budget = Budget(RUN_STEPS)
    return [*streaming, *loose]


def _round(
    world: World, endpoints: Sequence[Endpoint], streaming: set[Endpoint], core: set[str], near: set[str]
) -> None:
    """Runs everything once that may put something where the streams find it: what stands in their own files first."""
    _startup(world)
    for function in _uncalled(world, core):
        _explore(world, partial(_run, function, Site(function.module, function.node.cst)))
    for endpoint in endpoints:
        if endpoint in streaming or _module_of(endpoint) in near:
            _explore(world, partial(_serve, endpoint))
    for function in _uncalled(world, near - core):
        _explore(world, partial(_run, function, Site(function.module, function.node.cst)))


def _startup(world: World) -> None:
    """Runs what applications run when they start."""
    for application, handler in _lifespans(world):
        _explore(world, partial(_lifespan, application, handler))
    for registration in list(world.registrations):
        if registration.kind in ("lifespan", "task") and registration.handler is not None:
            _explore(world, partial(_start, registration))


def _loose(world: World, evident: set[str]) -> list[Endpoint]:
    """What streams although no application mounts it."""
    ran = {node for m in world.probes for node in m.ran}
    return [e for e in free.candidates(world, evident, ran) if free.streams(world, e)]


def _ran(world: World, endpoint: Endpoint) -> bool:
    """Whether an endpoint of an application has reached a loose function in the meantime."""
    handler = endpoint.handler
    return isinstance(handler, Function) and any(handler.node in m.ran for m in world.probes)


def _probe(world: World, endpoints: Sequence[Endpoint]) -> tuple[list[Endpoint], set[str]]:
    """The endpoints that answer with an event stream on some path, and the files whose functions run for them."""
    streaming: list[Endpoint] = []
    visited: set[str] = set()
    world.probes.clear()
    for endpoint in sorted(endpoints, key=lambda e: not _promising(e)):
        found: set[str] = set()
        streams = False
        machines = _explore(world, partial(_serve, endpoint), ENTRY_TOTAL if _promising(endpoint) else OTHER_TOTAL)
        for m in machines:
            found |= m.visited
            streams = streams or any(
                e.kind in ("stream", "frame") or (e.kind == "start" and e.data["stream"]) for e in m.trace
            )
        if streams:
            streaming.append(endpoint)
            world.probes.extend(machines)
            visited |= {*found, _module_of(endpoint)}
    return streaming, visited


def _promising(endpoint: Endpoint) -> bool:
    """Whether the handler itself mentions streams: those are looked at first, and longer."""
    handler = endpoint.handler
    while isinstance(handler, Partial | Descriptor):
        handler = handler.function
    if not isinstance(handler, Function | ClassValue):
        return True
    return mentions_stream(handler.module.code(handler.node.cst)) or "stream" in (endpoint.url or "")


def _module_of(endpoint: Endpoint) -> str:
    handler = endpoint.handler
    if isinstance(handler, Partial):
        handler = handler.function
    if isinstance(handler, Function | ClassValue):
        return handler.module.path
    return endpoint.site.module.path if endpoint.site is not None else ""


def _unseen(evident: set[str], visited: set[str]) -> set[str]:
    """Files that mention streams and ran for none: what a factory there puts together nothing has called yet."""
    return set(sorted(evident - visited)[:NEIGHBOURS])


def _near(world: World, visited: set[str]) -> set[str]:
    """The files whose functions may fill what the streams read: those that run for a stream, and who imports them."""
    near = set(visited)
    for path in world.table.direct_importers(sorted(visited), NEIGHBOURS):
        near.add(path)
        world.load(world.table.at(path))
    return near


def _lifespans(world: World) -> Iterator[tuple[Ref, Value]]:
    m = Machine(world, Oracle(), Hypothesis.BUILD)
    for target in list(world.heap.objects.values()):
        ref = Ref(target.id)
        if library.role_of(m, ref) != "application":
            continue
        handler = library.use(m, ref, "lifespan")
        if handler is not None and not isinstance(handler, Const):
            yield ref, handler
        for what in ("on_startup",):
            for task in serve.containers_of(m, library.argument(m, ref, what)):
                yield ref, task


def _lifespan(application: Ref, handler: Value, m: Machine) -> None:
    """Start-up code that the application runs, with the application as its argument where it takes one."""
    m.boot = True
    site = m.object(application).site or m.world.nowhere
    takes = isinstance(handler, Function) and any(
        p.default is None for p in handler.node.parameters if p.name != "self"
    )
    value = calls.call(m, handler, (application,) if takes else (), {}, site, None)
    if isinstance(value, Generator) and value.kind == "coroutine":
        value = calls.awaited(m, value, site)
    if isinstance(value, Generator):
        iteration.iterate(m, value, site, lambda element: None)


def _serve(endpoint: Endpoint, m: Machine) -> None:
    serve.serve(m, endpoint)


def _start(registration: Registration, m: Machine) -> None:
    """A handler that is registered to run when the server starts."""
    if registration.handler is not None and registration.receiver is not None:
        owner = m.object(registration.receiver).details.get("parent")  # of a list of such handlers
        _lifespan(owner if isinstance(owner, Ref) else registration.receiver, registration.handler, m)
    elif registration.handler is not None:
        _run(registration.handler, registration.site, m)


def _explore(world: World, action: Callable[[Machine], None], total: int = ENTRY_TOTAL) -> list[Machine]:
    def path(oracle: Oracle) -> Machine:
        m = Machine(world, oracle, Hypothesis.BUILD)
        try:
            action(m)
        except (Signal, Passing, OutOfBudget, RecursionError):
            pass
        except Exception as error:  # a fault of ours must not cost the other endpoints
            world.faults.setdefault(next(iter(sorted(m.visited)), ""), error)
        return m

    explorer = Explorer(world.budget, ENTRY_PATHS, cover=True, steps=ENTRY_STEPS, total=total)
    return [m for m, _ in explorer.run(path)]


def _run(function: Value, site: Site, m: Machine) -> None:
    """Calls something of which nobody knows who calls it."""
    given: tuple[Value, ...] = ()
    if isinstance(function, Function):
        parameters = [p for p in function.node.parameters if p.kind in ("positional", "keyword") and p.default is None]
        if function.receiver is not None:
            parameters = parameters[1:]
        if all(p.kind == "positional" for p in parameters):
            given = tuple(_parameter(m, function, p) for p in parameters)
        m.alone = function.node
    value = calls.call(m, function, given, {}, site, None)
    try:
        if isinstance(value, Generator) and value.kind == "coroutine":
            value = calls.awaited(m, value, site)
        if isinstance(value, Generator):
            iteration.iterate(m, value, site, lambda element: None)
    except (Ended, Raised):
        return


def _parameter(m: Machine, function: Function, parameter: ir.Parameter) -> Value:
    """An argument that nobody gives in the tree: an object of the annotated class if the tree makes one."""
    home = Frame(function.module, Scope(function.module, {}, function.scope))
    kind, _ = inject.annotated(m, parameter.annotation, home)
    if isinstance(kind, ClassValue):
        held = instances(m.world, kind)
        if held:
            return held[m.choose(len(held), ("instance", parameter), "value", f"which {kind.name} it is given")]
    return Unknown(f"parameter {parameter.name} of {function.name}, whose callers are not in the tree")


def instances(world: World, cls: ClassValue) -> list[Ref]:
    """The objects of a class, or of classes that inherit from it."""
    found = []
    for target in world.heap.objects.values():
        of = target.of
        if isinstance(of, ClassValue) and target.kind == "instance" and (of == cls or cls in of.bases):
            found.append(Ref(target.id))
    return found[:4]


def _uncalled(world: World, near: set[str]) -> Iterator[Function]:
    """Functions at the top of loaded modules, and methods of objects that were made, that nothing has called yet."""
    for path in [p for p in world.loaded if p in near]:
        for values in list(world.globals.get(path, {}).values()):
            for value in list(values):
                function = value.function if isinstance(value, Partial) else value
                if isinstance(function, Function) and function.module.path == path and _fresh(world, function):
                    yield function
    m = Machine(world, Oracle(), Hypothesis.BUILD)
    for target in list(world.heap.objects.values()):
        if target.kind != "instance" or not isinstance(target.of, ClassValue) or target.of.module.path not in near:
            continue
        line = [target.of, *(a for a in classes.ancestors(m, target.of) if isinstance(a, ClassValue))]
        for cls in line:
            for name, value in list(cls.attributes.items()):
                inner = value.function if isinstance(value, Descriptor) else value
                if isinstance(inner, Function) and _fresh(world, inner) and name != "__init__":
                    bound = classes.bind(m, inner, Ref(target.id), cls)
                    if isinstance(bound, Function):
                        yield bound


def _fresh(world: World, function: Function) -> bool:
    return (
        isinstance(function.node, ir.FunctionNode)
        and function.node not in world.reached
        and (function.node not in world.called or function.node in world.standalone)
        and not _remember(world, function.node)
    )


def _remember(world: World, node: ir.Node) -> bool:
    world.standalone.add(node)
    return False
