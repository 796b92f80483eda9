"""Calls: functions of the tree, classes, partials; what is called on a library is `library`'s."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from sselint.read.python.interpreter import builtin_calls, classes, out_of_sight, placeholders, statements, tasks
from sselint.read.python.interpreter.machine import MAX_DEPTH, Ended, Frame, Machine, Returned, Signal
from sselint.read.python.interpreter.oracle import TooLong
from sselint.read.python.interpreter.values import (
    Callback,
    ClassValue,
    Collection,
    Const,
    Descriptor,
    External,
    Function,
    Generator,
    Input,
    Join,
    Method,
    Minted,
    Partial,
    Ref,
    Reply,
    Scope,
    Tuple,
    Unknown,
    Value,
)
from sselint.read.python.libraries import library, options
from sselint.read.python.source import ir
from sselint.read.python.source.modules import Site
from sselint.read.python.stores import stores

ASIDE_STEPS = 2_500
KEPT_FOR_THE_CALLER = 4
"""One part in so many of what a call of start-up may take is not for the calls within it."""
MAX_SAME = 2
"""So often the same function may be in its own call chain."""

Keywords = Mapping[str, Value]


def call(
    m: Machine,
    function: Value,
    positional: tuple[Value, ...],
    keywords: Keywords,
    site: Site | None,
    frame: Frame | None,
) -> Value:
    """`function(*positional, **keywords)`."""
    m.oracle.step()
    if isinstance(function, Function):
        return call_function(m, function, positional, dict(keywords), site)
    if isinstance(function, ClassValue):
        return classes.instantiate(
            m, function, positional, dict(keywords), site or Site(function.module, function.node.cst), frame
        )
    if isinstance(function, External):
        return library.call_external(m, function, positional, dict(keywords), site, frame)
    if isinstance(function, Method):
        return library.call_method(m, function, positional, dict(keywords), site, frame)
    if isinstance(function, Partial):
        merged = {**dict(function.keywords), **keywords}
        return call(m, function.function, (*function.positional, *positional), merged, site, frame)
    if isinstance(function, Callback):
        return m.world.callback(m, function, positional, dict(keywords), site)
    if isinstance(function, Ref):
        method = classes.find_method(m, function, "__call__")
        if method is not None:
            return call(m, method, positional, keywords, site, frame)
        return library.call_object(m, function, positional, dict(keywords), site, frame)
    if isinstance(function, Descriptor):
        return call(m, function.function, positional, keywords, site, frame)
    if isinstance(function, Reply | Input | Minted):
        return function
    given = (*positional, *keywords.values())
    run_handed(m, given, site)
    why = function.why if isinstance(function, Unknown) else "a call of something that is not understood"
    told = out_of_sight.handed(m, given, why)
    if isinstance(function, Unknown):
        return Unknown(why, function.cursor or told, trail=function.trail)
    return Unknown(why, told)


# -- functions of the tree -----------------------------------------------------------------------------------------


def call_function(
    m: Machine, function: Function, positional: tuple[Value, ...], keywords: dict[str, Value], site: Site | None
) -> Value:
    """A function of the tree: its value, or for generators and coroutines what it will give when it is run."""
    node = function.node
    if isinstance(node, ir.Lambda):
        scope = Scope(function.module, {}, function.scope)
        bind_parameters(m, function, node.parameters, positional, keywords, scope)
        from sselint.read.python.interpreter import expressions

        return _nested(
            m, function, site, lambda: expressions.evaluate(m, node.body, Frame(function.module, scope, None, function))
        )
    m.world.called.add(node)
    if node is not m.alone:
        m.world.reached.add(node)
    scope = Scope(function.module, {}, function.scope)
    if function.receiver is not None:
        positional = (function.receiver, *positional)
    bind_parameters(m, function, node.parameters, positional, keywords, scope)
    if node.names.generator:
        return Generator(function, scope)
    if node.asynchronous:
        return Generator(function, scope, "coroutine")
    return run_body(m, function, scope, site=site)


def run_body(
    m: Machine,
    function: Function,
    scope: Scope,
    on_yield: Callable[[Value, Site], None] | None = None,
    site: Site | None = None,
) -> Value:
    """Runs the body of a function in a scope that holds its arguments."""
    node = function.node
    if not isinstance(node, ir.FunctionNode):
        return Unknown("not a function")
    frame = Frame(function.module, scope, node.names, function, on_yield)
    m.visited.add(function.module.path)
    m.ran.add(node)

    def body() -> Value:
        try:
            statements.run_block(m, node.body, frame)
            m.world.completed.add(node)
        except Returned as returned:
            m.world.completed.add(node)
            if returned.said:
                m.ways.said(returned.value)
            if m.building and function.scope is None and isinstance(returned.value, Ref):
                m.world.returned(m, function, returned.value)
            return returned.value
        return Const.of(None)

    if not m.boot or on_yield is not None or m.world.is_about_streams(function.module):
        return _nested(m, function, site, body)
    return _aside(m, function, lambda: _nested(m, function, site, body))


def _aside(m: Machine, function: Function, run: Callable[[], Value]) -> Value:
    """What start-up does that has nothing to do with the streams: it must not take the steps of what has. Nor must a
    call within it take those of the statements behind it, which may fill what requests find."""
    left = m.oracle.steps_left - m.oracle.floor
    try:
        with m.oracle.allowance(left - left // KEPT_FOR_THE_CALLER if m.oracle.floor else ASIDE_STEPS):
            return run()
    except TooLong:
        return Unknown(f"what {function.name} gives, which takes too long to follow")


def _nested(m: Machine, function: Function, site: Site | None, body: Callable[[], Value]) -> Value:
    node = function.node
    if m.depth >= MAX_DEPTH or m.calls.count(node) >= MAX_SAME:
        return Unknown("calls nest too deeply to follow")
    m.depth += 1
    m.calls.append(node)
    m.call_sites.append(site)
    number = m.ways.begin(leads=m.world.is_about_streams(function.module))
    try:
        value = body()
    except BaseException:
        m.ways.left(number)
        raise
    else:
        m.ways.gave(number, value)
        return value
    finally:
        m.ways.end()
        m.calls.pop()
        m.call_sites.pop()
        m.depth -= 1


def bind_parameters(
    m: Machine,
    function: Function,
    parameters: tuple[ir.Parameter, ...],
    positional: tuple[Value, ...],
    keywords: dict[str, Value],
    scope: Scope,
) -> None:
    """Puts the arguments of a call into the scope of the function."""
    from sselint.read.python.interpreter import expressions

    queue = list(positional)
    rest = dict(keywords)
    spread = rest.pop("**", None)
    home = Frame(function.module, Scope(function.module, {}, function.scope))
    for parameter in parameters:
        if parameter.kind == "*":
            scope.variables[parameter.name] = Tuple(tuple(queue))
            queue.clear()
        elif parameter.kind == "**":
            more = spread if isinstance(spread, Reply) else None
            made = library.make_dict(m, rest, Site(function.module, parameter.cst), more)
            scope.variables[parameter.name] = spread if isinstance(spread, Unknown | Input) and not rest else made
        elif parameter.name in rest:
            scope.variables[parameter.name] = rest.pop(parameter.name)
        elif queue and parameter.kind == "positional":
            scope.variables[parameter.name] = queue.pop(0)
        elif spread is not None:
            named = stores.reply_item(m, spread, Const.of(parameter.name)) if isinstance(spread, Reply) else spread
            scope.variables[parameter.name] = named
        elif function.node in m.world.options:
            default = _default(m, parameter, home) if parameter.default is not None else None
            told = options.given(m, function, parameter, default)
            scope.variables[parameter.name] = told if told is not None else _missing(m, function, parameter)
        elif parameter.default is not None:
            scope.variables[parameter.name] = _default(m, parameter, home)
        else:
            scope.variables[parameter.name] = _missing(m, function, parameter)
    _ = expressions


def _missing(m: Machine, function: Function, parameter: ir.Parameter) -> Value:
    missing = Unknown(f"parameter {parameter.name} of {function.name}, whose callers are not in the tree")
    return placeholders.argument(m, missing, function.node) if function.node is m.alone else missing


def _default(m: Machine, parameter: ir.Parameter, home: Frame) -> Value:
    """A default is made once, when the function is defined: a list there is shared by all calls."""
    from sselint.read.python.interpreter import expressions

    if parameter.default is None:
        return Const.of(None)
    outer, m.boot = m.boot, True
    try:
        return expressions.evaluate(m, parameter.default, home)
    finally:
        m.boot = outer


# -- generators and coroutines -------------------------------------------------------------------------------------


def run_generator(m: Machine, generator: Generator, on_yield: Callable[[Value, Site], None]) -> Value:
    """Runs a generator of the tree to its end; each value goes to `on_yield`."""
    if not isinstance(generator.function, Function) or generator.scope is None:
        return Unknown("a generator that is not understood")
    scope = Scope(generator.scope.module, dict(generator.scope.variables), generator.scope.parent)
    return run_body(m, generator.function, scope, on_yield)


def awaited(m: Machine, value: Value, site: Site | None) -> Value:
    """`await value`."""
    if (
        isinstance(value, Generator)
        and value.kind == "coroutine"
        and isinstance(value.function, Function)
        and value.scope is not None
    ):
        return run_body(m, value.function, value.scope, site=site)
    if isinstance(value, Ref):
        return library.awaited_object(m, value, site)
    if isinstance(value, Collection) and value.selection == "gathered":
        return Tuple(tuple(awaited(m, i.value, site) for i in value.items))
    if isinstance(value, Generator) and value.kind == "task":
        return tasks.joined(m, value)
    return value


def run_handed(m: Machine, given: Iterable[Value], site: Site | None) -> None:
    """Runs the coroutines among what somebody out of sight is handed: they are of no use but to be run."""
    for value in given:
        if isinstance(value, Generator) and value.kind == "coroutine":
            run_apart(m, value, site)


def run_apart(m: Machine, value: Value, site: Site | None) -> Value:
    """Runs something beside the current path: a task or a thread, and gives the task. Its jumps and its failures stay
    there until somebody waits for it, and what it makes is made while the process runs, also where start-up began
    it. What it sends goes to the client in any case."""
    from sselint.read.python.libraries import wire

    if m.depth >= MAX_DEPTH:
        return Unknown("a task")
    trace, current, sink, boot, live = m.trace, list(m.current), m.sink, m.boot, m.live
    m.trace, m.sink, m.apart, m.boot = [], None, m.apart + 1, False
    m.current.clear()
    result: Value = Const.of(None)
    signal: Signal | None = None
    try:
        if isinstance(value, Generator) and value.kind != "coroutine":
            run_generator(m, value, lambda element, where: None)
        elif isinstance(value, Generator):
            result = awaited(m, value, site)
        elif _is_called(m, value):
            result = awaited(m, call(m, value, (), {}, site, None), site)
        else:  # what was handed to a thread is there already
            result = value
        wire.flush(m, site)
    except Signal as jump:
        signal = jump
    finally:
        sent = [event.data["frame"] for event in m.trace if event.kind == "frame"]
        if sent:
            trace.extend(m.trace)
            m.goes_on = m.goes_on or (isinstance(signal, Ended) and any(frame.is_event for frame in sent))
        left = [] if sent else tasks.asked_at_once(m.trace, trace)
        done = tasks.task(result, signal, left, m.live)
        m.current[:] = current
        m.trace, m.sink, m.apart, m.boot = trace, sink, m.apart - 1, boot
        m.live = live  # what it looked at is not what the handler sends
    return done


def _is_called(m: Machine, value: Value) -> bool:
    """Whether a value is something to call, and not what a call has given."""
    if isinstance(value, Ref):
        return m.object(value).kind in ("instance", "library")
    return is_callable(value)


def is_callable(value: Value) -> bool:
    """Whether a value is a function, a method or a class, of the tree or not."""
    return isinstance(value, Function | Callback | Partial | Method | ClassValue | External)


__all__ = ["Join", "Minted", "awaited", "builtin_calls", "call", "run_apart", "run_generator"]
