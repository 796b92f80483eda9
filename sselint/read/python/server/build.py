"""Builds the world: runs what start-up runs, then everything that may be called later, until nothing new turns up."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial

from sselint.read.python.interpreter import calls, classes, containers, iteration, placeholders
from sselint.read.python.interpreter.course import nearness, turned_away
from sselint.read.python.interpreter.machine import Ended, Frame, Hypothesis, Machine, Passing, Raised, Signal, Started
from sselint.read.python.interpreter.oracle import Budget, Decision, Explorer, Nearness, Oracle, OutOfBudget
from sselint.read.python.interpreter.values import (
    ClassValue,
    Const,
    Descriptor,
    Function,
    Generator,
    Input,
    Partial,
    Ref,
    Scope,
    Unknown,
    Value,
    settled,
)
from sselint.read.python.libraries import inject, library
from sselint.read.python.server import free, left_out, order, serve, unread
from sselint.read.python.server.discover import Endpoints
from sselint.read.python.server.endpoint import Endpoint
from sselint.read.python.server.registered import Registration
from sselint.read.python.server.world import World
from sselint.read.python.source import ir
from sselint.read.python.source.modules import Module, Site

ROUNDS = 3
ENTRY_PATHS, FACTORY_PATHS = 60, 160
ENTRY_STEPS = 8_000
ENTRY_TOTAL = 40_000
OTHER_TOTAL = 8_000
STARTUP_PATHS, STARTUP_STEPS, STARTUP_TOTAL = 32, 16_000, 80_000
"""Start-up makes what all requests find, and is often the longest single run."""
NEIGHBOURS, MOST_NEIGHBOURS = 60, 2_000
FIRST_SIGN, LIKELY_SIGN = 16_000, 40_000
KEPT_FOR_OTHERS = 4
"""One part in so many of what may be taken to the first signs of streams is for handlers that do not say they send."""
PROBE_STEPS, AGAIN_STEPS, LOOSE_STEPS = 500_000, 300_000, 250_000
RUN_STEPS, RUN_EACH, RUN_MOST = 1_500_000, 130_000, 6_000_000
"""For the paper runs: in all, and where the streams are many, for each of them, up to a bound."""
FIRST_STEPS, CORE_STEPS, SERVE_STEPS, NEAR_STEPS, LASTING_STEPS = 300_000, 250_000, 150_000, 150_000, 80_000
"""What each stage may take: so the one before cannot starve the next."""


Wanted = Callable[[Endpoint], bool]


def build(
    world: World, modules: Sequence[Module], evident: set[str], is_wanted: Wanted = lambda _: True, streams: int = 1
) -> list[Endpoint]:
    """Runs the modules and what may be called later of the code around the streams; the endpoints that stream.

    `evident` are the files that mention streams: what streams there although no application mounts it comes last.
    Only endpoints that are wanted are asked whether they stream; the paper runs get what so many `streams` need.
    """
    for module in modules:
        world.load(module)
    world.about = _about(world, modules, evident)
    _startup(world)
    world.renew(PROBE_STEPS)
    endpoints = Endpoints(world).find()
    streaming, visited = _probe(world, filter(is_wanted, endpoints), evident)
    world.renew(LOOSE_STEPS)
    mounted = _mounted(endpoints)
    before = world.heap.version  # a factory that is looked at by itself may put together all that there is
    loose = [e for e in _loose(world, evident) if e.handler not in mounted and is_wanted(e)]
    world.renew(LOOSE_STEPS)
    near = _near(world, visited | world.visited | {_module_of(e) for e in loose} | _unseen(evident, visited))
    stages = {stage: Budget(steps) for stage, steps in _STAGES.items()}
    for _ in range(ROUNDS):
        core = visited | world.visited | {_module_of(e) for e in (*streaming, *loose)}
        _round(world, [*endpoints, *loose], {*streaming, *loose}, core, near, evident, stages)
        if world.heap.version == before:
            break
        world.renew(AGAIN_STEPS)
        endpoints = Endpoints(world).find()
        streaming, visited = _probe(world, filter(is_wanted, endpoints), evident)
        mounted = _mounted(endpoints)
        loose = [e for e in loose if e.handler not in mounted and not _ran(world, e)]
        near |= visited
        if all(budget.spent for budget in stages.values()):
            break
        before = world.heap.version
    world.renew(min(max(RUN_STEPS * streams, RUN_EACH * (len(streaming) + len(loose))), RUN_MOST))
    return [*streaming, *loose]


_SIGNS = {order.SENDS: LIKELY_SIGN, order.OTHER: OTHER_TOTAL}
_STAGES = {"first": FIRST_STEPS, "lasting": LASTING_STEPS, "core": CORE_STEPS, "serve": SERVE_STEPS, "near": NEAR_STEPS}


def _round(
    world: World,
    endpoints: Sequence[Endpoint],
    streaming: set[Endpoint],
    core: set[str],
    near: set[str],
    evident: set[str],
    stages: dict[str, Budget],
) -> None:
    """Runs everything once that may put something where the streams find it: what makes streams and applications,
    what stands in the streams' own files, those first that mention streams, the endpoints, what stands around them.
    Each has a budget of its own."""
    world.renew(stages["first"])
    _startup(world)
    world.renew(stages["lasting"])
    for registration in list(world.registrations):
        if registration.kind == "lasting" and _is_held(world, registration.handler):
            _explore(world, partial(_start, registration))
    served = [e for e in endpoints if e in streaming or _module_of(e) in near]
    done: set[ir.Node] = {
        e.handler.node for e in served if isinstance(e.handler, Function) and not e.is_free
    }
    world.renew(stages["first"])
    foremost = _foremost(world, core | near)
    for position, function in enumerate(foremost):
        _call_alone(world, function, done, _share(world, len(foremost) - position))
    world.renew(stages["core"])
    core_first = sorted(_uncalled(world, core), key=lambda f: (f.module.path not in evident, f.receiver is None))
    for position, function in enumerate(core_first):
        _call_alone(world, function, done, _share(world, len(core_first) - position))
    world.renew(stages["serve"])
    for endpoint in served:
        _explore(world, partial(_serve, endpoint))
    world.renew(stages["near"])
    for function in _uncalled(world, near - core):
        _call_alone(world, function, done)


def _share(world: World, waiting: int) -> int:
    """The steps that one of so many may take of what is left, so that none starves the others."""
    return min(max(world.budget.steps // waiting, ENTRY_STEPS), ENTRY_TOTAL)


def _call_alone(world: World, function: Function, done: set[ir.Node], total: int = ENTRY_TOTAL) -> None:
    if function.node not in done and not world.budget.spent:
        done.add(function.node)
        action = partial(_run, function, Site(function.module, function.node.cst))
        explorer = _factory_explorer(world) if order.makes(world, function) else _explorer(world, total)
        _explored(world, action, explorer, lambda _: False)


def _foremost(world: World, near: set[str]) -> list[Function]:
    """Of the functions that nobody calls, or that no run has come to the end of, those that make applications, then
    those that write down a stream."""
    ranked = [(order.of_function(world, function), function) for function in _standing(world, near)]
    ranked = [pair for pair in ranked if pair[0] <= order.ASSEMBLES]
    ranked.sort(key=lambda pair: (not order.makes(world, pair[1]), pair[0]))
    return [f for _, f in ranked if _fresh(world, f) or f.node not in world.completed]


def _startup(world: World) -> None:
    """Runs what applications run when they start. What the files around the streams ask there is answered both ways
    first: which of several implementations is made, say."""
    for application, handler in _lifespans(world):
        _start_up(world, partial(_lifespan, application, handler))
    for registration in list(world.registrations):
        if registration.kind in ("lifespan", "task") and registration.handler is not None:
            _start_up(world, partial(_start, registration))


def _is_held(world: World, task: Value | None) -> bool:
    """Whether the object whose method a task runs is one that the process holds: others have seen what is set on it."""
    function = task.function if isinstance(task, Partial) else task
    receiver = function.receiver if isinstance(function, Function) else None
    return isinstance(receiver, Ref) and bool(world.heap[receiver].attributes)


def _start_up(world: World, action: Callable[[Machine], None]) -> None:
    def near(_: Machine, decision: Decision, __: int) -> Nearness:
        about = decision.site is not None and world.is_about_streams(decision.site.module)
        return Nearness.NEAR if about else Nearness.LEADING

    explorer = Explorer(world.budget, STARTUP_PATHS, True, STARTUP_STEPS, STARTUP_TOTAL, _not_started, near)
    _explored(world, action, explorer, lambda _: False)


def _not_started(m: Machine) -> bool:
    """Whether a start-up did not come to its end."""
    return not any(e.kind == "started" for e in m.trace)


def _about(world: World, modules: Sequence[Module], evident: set[str]) -> set[str]:
    """The files that write down a stream, and who imports them."""
    mention = [m.path for m in modules if m.path in evident and order.sends(m.source.text)]
    return {*mention, *world.table.direct_importers(mention, 2 * NEIGHBOURS)}


def _mounted(endpoints: Iterable[Endpoint]) -> set[Value]:
    """The handlers that answer somewhere; of one that is given its arguments beforehand, what it is without them."""
    return {h.function if isinstance(h, Partial) else h for h in (e.handler for e in endpoints)}


def _loose(world: World, evident: set[str]) -> list[Endpoint]:
    """What streams although no application mounts it. What has run for an endpoint is a part of that one; a store of
    events is so only where the endpoint sent events as it ran."""
    ran = {node for m in world.probes for node in m.ran}
    sent = {node for m in world.probes if _streams(m) for node in m.ran}
    return free.streaming(world, free.candidates(world, evident, ran, sent))


def _ran(world: World, endpoint: Endpoint) -> bool:
    """Whether an endpoint of an application has reached a loose function in the meantime."""
    handler = endpoint.handler
    return isinstance(handler, Function) and any(handler.node in m.ran for m in world.probes)


def _probe(world: World, endpoints: Iterable[Endpoint], evident: set[str]) -> tuple[list[Endpoint], set[str]]:
    """The endpoints that answer with an event stream on some path, and the files whose functions run for them.

    All are asked until the first sign of a stream, the likeliest first; then those that stream are looked at longer.
    Each has at most its share of what is left, so that none starves the others. One that says that it streams and does
    not is asked again as if the tables that nothing was seen to fill were full: what fills them may be far away.
    """
    world.probes.clear()
    world.unread.clear()
    ranked = sorted(((order.of_endpoint(world, e, evident), e) for e in endpoints), key=lambda pair: pair[0])
    streaming: list[tuple[Endpoint, bool]] = []
    kept = world.budget.steps // KEPT_FOR_OTHERS
    for position, (rank, endpoint) in enumerate(ranked):
        share = _first_share(world, [r for r, _ in ranked[position:]], kept)
        for hopeful in (False, True) if rank <= order.MENTIONS else (False,):
            explorer = _explorer(world, share)
            if any(map(_streams, _explored(world, partial(_serve, endpoint, hopeful=hopeful), explorer, _streams))):
                streaming.append((endpoint, hopeful))
                break
        else:
            ended = explorer.cut or not explorer.covered
            if rank == order.SENDS and (ended or (endpoint.application and order.says_it_answers(endpoint))):
                unread.note(world, endpoint, ended)
    visited: set[str] = set()
    world.renew(PROBE_STEPS)
    for position, (endpoint, hopeful) in enumerate(streaming):
        share = max(world.budget.steps // (len(streaming) - position), ENTRY_STEPS)
        machines = _explore(world, partial(_serve, endpoint, hopeful=hopeful), min(share, ENTRY_TOTAL))
        world.probes.extend(machines)
        visited.update(*(m.visited for m in machines), {_module_of(endpoint)})
    return [endpoint for endpoint, _ in streaming], visited


def _first_share(world: World, ranks: Sequence[int], kept: int) -> int:
    """The steps to the first sign of a stream for the first of those that wait, by how near they are to one. Those that
    say that they send share all but `kept`, which is for the others, with one another."""
    likely = ranks.count(order.SENDS)
    left = world.budget.steps - (kept if len(ranks) > likely else 0)
    share = left // likely if likely else world.budget.steps // len(ranks)
    return min(max(share, ENTRY_STEPS), _SIGNS.get(ranks[0], FIRST_SIGN))


def _streams(m: Machine) -> bool:
    """Whether a run has begun an event stream."""
    return any(e.begins_stream or e.kind == "frame" for e in m.trace)


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
    """The files whose functions may fill what the streams read: those that run for a stream, who imports them, and who
    starts a server, which a console script may call."""
    starts = world.rules.word_list("assembles")
    near = {*visited, *(p for p, module in world.loaded.items() if any(w in module.source.text for w in starts))}
    importers = world.table.direct_importers(sorted(visited), MOST_NEIGHBOURS)
    for path in order.assembling_first(world, importers)[:NEIGHBOURS]:
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
        given = serve.containers_of(m, handler) or ([handler] if handler is not None else [])
        yield from ((ref, one) for one in given if not isinstance(one, Const))
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
        iteration.iterate(m, value, site, lambda element: _started(m, site, element))
    m.note("started", site)


def _started(m: Machine, site: Site, handed: Value) -> None:
    for name, value in containers.known_entries(m, handed).items():
        m.escape(value)
        m.heap.add(m.world.handed_on.setdefault(name, {}), settled(value))
    m.note("started", site)
    raise Started


def _serve(endpoint: Endpoint, m: Machine, hopeful: bool = False) -> None:
    m.hopeful = hopeful
    serve.serve(m, endpoint)


def _start(registration: Registration, m: Machine) -> None:
    """A handler that is registered to run when the server starts."""
    if registration.handler is not None and registration.receiver is not None:
        owner = m.object(registration.receiver).details.get("parent")  # of a list of such handlers
        _lifespan(owner if isinstance(owner, Ref) else registration.receiver, registration.handler, m)
    elif registration.handler is not None:
        _run(registration.handler, registration.site, m)


def _explore(world: World, action: Callable[[Machine], None], total: int = ENTRY_TOTAL) -> list[Machine]:
    """Runs something path by path."""
    return _explored(world, action, _explorer(world, total), lambda _: False)


def _explorer(world: World, total: int) -> Explorer:
    return Explorer(world.budget, ENTRY_PATHS, True, ENTRY_STEPS, total, turned_away, nearness)


def _factory_explorer(world: World) -> Explorer:
    """For what puts an application together: it is as long as a start-up, and registers a table entry by entry."""
    return Explorer(world.budget, FACTORY_PATHS, True, STARTUP_STEPS, STARTUP_TOTAL, turned_away, nearness)


def _explored(
    world: World, action: Callable[[Machine], None], explorer: Explorer, until: Callable[[Machine], bool]
) -> list[Machine]:
    """Runs something path by path, until one is what `until` looks for."""

    def path(oracle: Oracle) -> Machine:
        m = Machine(world, oracle, Hypothesis.BUILD)
        try:
            action(m)
        except (Signal, Passing, OutOfBudget, RecursionError):
            pass
        except Exception as error:  # a fault of ours must not cost the other endpoints
            world.faults.setdefault(next(iter(sorted(m.visited)), ""), error)
        return m

    found: list[Machine] = []
    for m, _ in explorer.run(path):
        found.append(m)
        world.touched |= m.visited
        if until(m):
            break
    return found


def _run(function: Value, site: Site, m: Machine) -> None:
    """Calls something of which nobody knows who calls it."""
    given: tuple[Value, ...] = ()
    named: dict[str, Value] = {}
    if isinstance(function, Function):
        parameters = [p for p in function.node.parameters if p.kind in ("positional", "keyword") and p.default is None]
        if function.receiver is not None:
            parameters = parameters[1:]
        if function.node not in m.world.options:
            by_name = [*(p for p in parameters if p.kind == "keyword"), *left_out.named(m, function)]
            given = tuple(_parameter(m, function, p) for p in parameters if p.kind == "positional")
            named = {p.name: _parameter(m, function, p) for p in by_name}
        m.alone = function.node
        m.boot = m.boot or order.makes(m.world, function)  # whoever calls it does so when the process starts
    value = calls.call(m, function, given, named, site, None)
    try:
        if isinstance(value, Generator) and value.kind == "coroutine":
            value = calls.awaited(m, value, site)
        if isinstance(value, Generator):
            iteration.iterate(m, value, site, lambda element: None)
        elif isinstance(value, Function) and _is_handed_back(m, value):
            _run(value, Site(value.module, value.node.cst), m)
    except (Ended, Raised):
        return


def _is_handed_back(m: Machine, value: Function) -> bool:
    """Whether what a function gives back is one that nothing has called: a decorator that is for others to use."""
    return value.receiver is None and _fresh(m.world, value)


def _parameter(m: Machine, function: Function, parameter: ir.Parameter) -> Value:
    """An argument that nobody gives in the tree: an object of the annotated class if the tree makes one."""
    home = Frame(function.module, Scope(function.module, {}, function.scope))
    kind, _ = inject.annotated(m, parameter.annotation, home)
    if isinstance(kind, ClassValue):
        held = instances(m.world, kind)
        if held:
            return held[m.choose(len(held), ("instance", parameter), "value", f"which {kind.name} it is given")]
    taken = free.routed(m, kind, Site(function.module, parameter.cst))
    if taken is not None:
        return taken
    if _handles(function):
        return placeholders.argument(m, Input(f"parameter {parameter.name} of {function.name}"), function.node)
    why = f"parameter {parameter.name} of {function.name}, whose callers are not in the tree"
    return placeholders.argument(m, Unknown(why), function.node)


def _handles(function: Function) -> bool:
    """Whether a function has the look of a handler that no table of routes names: what it is given comes with the
    request."""
    names = [p.name for p in function.node.parameters if p.name not in ("self", "cls")]
    return names[:1] in (["request"], ["req"])


def instances(world: World, cls: ClassValue) -> list[Ref]:
    """The objects of a class, or of classes that inherit from it; stand-ins only where the tree makes none."""
    found = []
    for target in world.heap.objects.values():
        of = target.of
        if isinstance(of, ClassValue) and target.kind == "instance" and (of == cls or cls in of.bases):
            found.append(Ref(target.id))
    made = [ref for ref in found if ref.id not in world.stand_ins]
    return (made or found)[:4]


def _uncalled(world: World, near: set[str]) -> Iterator[Function]:
    """Functions at the top of loaded modules, and methods of objects that were made, that nothing has called yet."""
    return (function for function in _standing(world, near) if _fresh(world, function))


def _standing(world: World, near: set[str]) -> Iterator[Function]:
    """Functions at the top of loaded modules, and methods of objects that were made."""
    for path in [p for p in world.loaded if p in near]:
        for values in list(world.globals.get(path, {}).values()):
            for value in list(values):
                function = value.function if isinstance(value, Partial) else value
                if isinstance(function, Function) and function.module.path == path:
                    yield function
    yield from (function for function in list(world.taken.values()) if function.module.path in near)
    m = Machine(world, Oracle(), Hypothesis.BUILD)
    known = list(world.heap.objects.values())
    made = {o.of.node for o in known if isinstance(o.of, ClassValue) and o.id not in world.stand_ins}
    for target in known:
        if target.kind != "instance" or not isinstance(target.of, ClassValue) or target.of.module.path not in near:
            continue
        if target.id in world.stand_ins and target.of.node in made:
            continue  # what the object itself does is what its users find
        line = [target.of, *(a for a in classes.ancestors(m, target.of) if isinstance(a, ClassValue))]
        for cls in line:
            for name, value in list(cls.attributes.items()):
                inner = value.function if isinstance(value, Descriptor) else value
                if isinstance(inner, Function) and name != "__init__" and _unbound_fresh(world, inner):
                    bound = classes.bind(m, inner, Ref(target.id), cls)
                    if isinstance(bound, Function):
                        yield bound


def _unbound_fresh(world: World, function: Function) -> bool:
    return function.node not in world.called or function.node in world.standalone


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
