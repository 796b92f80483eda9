"""Runs statements. Jumps of the interpreted program are exceptions of the interpreter (`machine.Signal`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from sselint.read.python.interpreter import (
    arithmetic,
    at_cursor,
    bit_by_bit,
    calls,
    carried,
    classes,
    containers,
    dropping,
    ends,
    expressions,
    iteration,
    leads,
    patterns,
    searching,
    singletons,
    subscripts,
)
from sselint.read.python.interpreter.machine import (
    Broke,
    Continued,
    Ended,
    Frame,
    Machine,
    Passing,
    Raised,
    Returned,
    Signal,
    Started,
)
from sselint.read.python.interpreter.queued import dropped, rounds
from sselint.read.python.interpreter.values import (
    STORED,
    ClassValue,
    Const,
    Descriptor,
    Exceptional,
    External,
    Function,
    Generator,
    Minted,
    Ref,
    Reply,
    Tuple,
    Unknown,
    Value,
    stepped,
)
from sselint.read.python.libraries import ambient, library
from sselint.read.python.source import ir
from sselint.read.python.source.modules import Site
from sselint.read.python.stores import rows


def run_block(m: Machine, block: Sequence[ir.Statement], frame: Frame) -> None:
    """Runs statements in order."""
    for statement in block:
        m.oracle.step()
        HANDLERS[type(statement)](m, statement, frame)


def _evaluate(m: Machine, node: ir.Evaluate, frame: Frame) -> None:
    if bit_by_bit.extended(m, node.value, frame):
        return
    value = expressions.evaluate(m, node.value, frame)
    dropped(m, value)
    if isinstance(value, Generator) and value.kind == "coroutine" and not isinstance(node.value, ir.Await):
        calls.run_apart(m, value, m.site(frame, node))


def _assign(m: Machine, node: ir.Assign, frame: Frame) -> None:
    if node.value is None:
        return
    counted = counting(node.targets[0], node.value) if len(node.targets) == 1 else None
    if counted is not None:
        _augment(m, counted, frame)
        return
    value = expressions.evaluate(m, node.value, frame)
    if isinstance(value, Tuple) and isinstance(node.value, ir.Display) and frame.scope.parent is None:
        value = containers.table(m, value, m.site(frame, node.value), frame)
    for target in node.targets:
        assign(m, target, value, frame)


def counting(target: ir.Expression, value: ir.Expression) -> ir.Augment | None:
    """`n = n + 1` of a plain name as the `n += 1` that it is; None for anything else."""
    if not isinstance(target, ir.Name) or not isinstance(value, ir.Binary) or value.operator != "+":
        return None
    if not isinstance(value.left, ir.Name) or value.left.id != target.id or not isinstance(value.right, ir.Constant):
        return None
    return ir.Augment(value.cst, target, "+", value.right) if isinstance(value.right.value, int) else None


def count_on(m: Machine, counted: ir.Augment, frame: Frame) -> Value:
    """Counts a name on, and gives what it is then."""
    _augment(m, counted, frame)
    return expressions.evaluate(m, counted.target, frame)


def assign(m: Machine, target: ir.Expression, value: Value, frame: Frame) -> None:
    """Binds a target."""
    site = m.site(frame, target)
    if isinstance(target, ir.Name):
        set_name(m, target.id, value, frame, site)
    elif isinstance(target, ir.Attribute):
        receiver = expressions.evaluate(m, target.value, frame)
        if isinstance(receiver, Ref):
            m.write_attribute(receiver, target.name, value, site)
        elif isinstance(receiver, ClassValue):
            singletons.write(m, receiver, target.name, value, site)
        elif isinstance(receiver, Function):
            carried.write(m, receiver, target.name, value, site)
        elif isinstance(receiver, Reply):
            rows.assigned(m, receiver, target.name, value, site)
        elif isinstance(receiver, External):
            ambient.assigned(m, receiver, target.name, value, site)
    elif isinstance(target, ir.Subscript):
        receiver = expressions.evaluate(m, target.value, frame)
        index = expressions.evaluate(m, target.index, frame)
        subscripts.set_item(m, receiver, index, value, site)
    elif isinstance(target, ir.Display):
        items = iteration.unpack(m, value, target.items, site)
        for sub, item in zip(target.items, items, strict=True):
            assign(m, sub.value if isinstance(sub, ir.Starred) else sub, item, frame)


def set_name(m: Machine, name: str, value: Value, frame: Frame, site: Site) -> None:
    """Binds a name in the scope that it belongs to."""
    names = frame.names
    if names is not None and name in names.global_:
        m.world.write_global(m, frame.module, name, stepped(value, site, STORED) if m.building else value)
        return
    scope = frame.scope
    if names is not None and name in names.nonlocal_:
        holder = scope.parent
        while holder is not None and name not in holder.variables:
            holder = holder.parent
        scope = holder or scope
    scope.variables[name] = value


def _augment(m: Machine, node: ir.Augment, frame: Frame) -> None:
    site = m.site(frame, node)
    amount = expressions.evaluate(m, node.value, frame)
    counts = node.operator in "+-" and isinstance(amount, Const) and isinstance(amount.value, int)
    shared = counts and _counts_in_memory(m, node.target, frame)
    current = expressions.evaluate(m, node.target, frame) if not shared else None
    if current is None or (counts and isinstance(current, Const) and isinstance(current.value, int) and shared):
        value: Value = m.minted("counter", site, about=_identity(m, node.target, frame))
    elif (
        counts
        and isinstance(node.target, ir.Name)
        and isinstance(current, Const)
        and type(current.value) is int
        and m.calls
    ):
        value = replace(m.minted("counter", site, about=m.heap.number((site,))), local=not m.building)
    else:
        value = arithmetic.binary(m, node.operator, current, amount, site, in_place=True)
    assign(m, node.target, value, frame)


def _counts_in_memory(m: Machine, target: ir.Expression, frame: Frame) -> bool:
    """Whether the target is a place that outlives the call: an attribute, an entry, or a variable of another scope."""
    if isinstance(target, ir.Name):
        return frame.names is not None and target.id in frame.names.global_ | frame.names.nonlocal_
    if isinstance(target, ir.Attribute | ir.Subscript):
        current = expressions.evaluate(m, target, frame)
        number = isinstance(current, Const) and type(current.value) in (int, float)
        return number or isinstance(current, Unknown) or (isinstance(current, Minted) and current.kind == "counter")
    return False


def _identity(m: Machine, target: ir.Expression, frame: Frame) -> int:
    if isinstance(target, ir.Attribute | ir.Subscript):
        receiver = expressions.evaluate(m, target.value, frame)
        name = target.name if isinstance(target, ir.Attribute) else "[]"
        return m.heap.number(("counter", receiver.id if isinstance(receiver, Ref) else 0, name))
    return m.heap.number(("counter", frame.module.path, getattr(target, "id", "")))


def _return(m: Machine, node: ir.Return, frame: Frame) -> None:
    value = expressions.evaluate(m, node.value, frame) if node.value is not None else Const.of(None)
    at_cursor.picked(m, value)
    raise Returned(value, said=node.value is not None)


def _raise(m: Machine, node: ir.Raise, frame: Frame) -> None:
    site = m.site(frame, node)
    if node.exception is None:
        if frame.handling is not None:
            raise Raised(frame.handling.exception, frame.handling.site)
        raise Raised(Exceptional("RuntimeError"), site)
    value = expressions.evaluate(m, node.exception, frame)
    raise Raised(classes.as_exception(m, value, site, frame), site)


def _assert(m: Machine, node: ir.Assert, frame: Frame) -> None:
    if not expressions.condition(m, node.test, frame):
        raise Raised(Exceptional("AssertionError"), m.site(frame, node))


def _if(m: Machine, node: ir.If, frame: Frame) -> None:
    run_block(m, node.body if leads.holds(m, node, frame) else node.orelse, frame)


def _while(m: Machine, node: ir.While, frame: Frame) -> None:
    if searching.finds(m, node, frame):
        return
    if dropping.drops_first(m, node, frame):
        run_block(m, node.orelse, frame)
        return
    outer = m.round
    try:
        for number in rounds(m):
            if not expressions.condition(m, node.test, frame):
                break
            m.round = max(outer, number + 1)
            try:
                run_block(m, node.body, frame)
            except Continued:
                continue
            except Broke:
                return
        else:
            if not ends.comes_to_an_end(m, node) and expressions.condition(m, node.test, frame):
                raise Ended
    finally:
        m.round = outer
    run_block(m, node.orelse, frame)


def _for(m: Machine, node: ir.For, frame: Frame) -> None:
    iterable = expressions.evaluate(m, node.iterable, frame)
    site = m.site(frame, node.iterable)

    def body(value: Value) -> None:
        assign(m, node.target, value, frame)
        try:
            run_block(m, node.body, frame)
        except Continued:
            return

    try:
        iteration.iterate(m, iterable, site, body)
    except Broke:
        return
    run_block(m, node.orelse, frame)


def _with(m: Machine, node: ir.With, frame: Frame) -> None:
    _enter(m, node, 0, frame)


def _enter(m: Machine, node: ir.With, position: int, frame: Frame) -> None:
    if position == len(node.items):
        run_block(m, node.body, frame)
        return
    context, target = node.items[position]
    site = m.site(frame, context)
    manager = expressions.evaluate(m, context, frame)

    def inside(value: Value) -> None:
        if target is not None:
            assign(m, target, value, frame)
        _enter(m, node, position + 1, frame)

    suppressed = _suppressed(m, manager)
    try:
        enter_manager(m, manager, site, frame, inside)
    except Raised as raised:
        if suppressed is None or not classes.catches(m, suppressed, raised.exception):
            raise


def _suppressed(m: Machine, manager: Value) -> Value | None:
    if isinstance(manager, Exceptional) and manager.name == "contextlib.suppress":
        return Tuple(manager.arguments)
    return None


def enter_manager(m: Machine, manager: Value, site: Site, frame: Frame, inside: Callable[[Value], None]) -> None:
    """Runs `inside` within a context manager: one of the tree's generators or classes, or a library's object."""
    if isinstance(manager, Generator) and manager.kind == "function":
        owner = object()

        def on_yield(value: Value, _: Site) -> None:
            try:
                inside(value)
            except Raised:
                raise
            except Signal as signal:
                raise Passing(owner, signal) from None

        try:
            calls.run_generator(m, manager, on_yield)
        except Passing as passing:
            if passing.owner is not owner:
                raise
            raise passing.signal from None
        return
    enter = None
    if isinstance(manager, Ref):
        enter = classes.find_method(m, manager, "__aenter__") or classes.find_method(m, manager, "__enter__")
    if enter is None:
        inside(library.entered(m, manager, site))
        return
    value = calls.call(m, enter, (), {}, site, frame)
    serving = False
    try:
        inside(calls.awaited(m, value, site))
    except (Started, Passing) as signal:
        serving = _is_started(signal)
        raise
    finally:
        leave = classes.find_method(m, manager, "__aexit__") or classes.find_method(m, manager, "__exit__")
        if leave is not None and not serving:
            nothing = Const.of(None)
            calls.awaited(m, calls.call(m, leave, (nothing, nothing, nothing), {}, site, frame), site)


def _try(m: Machine, node: ir.Try, frame: Frame) -> None:
    serving = False
    try:
        m.guarded.append(any(_catches_failures(m, h, frame) for h in node.handlers))
        m.prepared.append(any(_catches_absence(m, h, frame) for h in node.handlers))
        try:
            run_block(m, node.body, frame)
        finally:
            m.guarded.pop()
            m.prepared.pop()
    except (Started, Passing) as signal:
        serving = _is_started(signal)
        raise
    except Raised as raised:
        handler = _handler(m, node, raised, frame)
        if handler is None:
            raise
        outer, frame.handling = frame.handling, raised
        try:
            if handler.name:
                frame.scope.variables[handler.name] = raised.exception
            run_block(m, handler.body, frame)
        finally:
            frame.handling = outer
    else:
        run_block(m, node.orelse, frame)
    finally:
        if node.final and not serving:
            run_block(m, node.final, frame)


def _is_started(signal: Started | Passing) -> bool:
    """Whether what goes by says that the server serves now: then nothing is left or cleaned up."""
    return isinstance(signal, Started) or isinstance(signal.signal, Started)


def _catches_failures(m: Machine, handler: ir.Handler, frame: Frame) -> bool:
    if handler.type is None:
        return True
    general = ("builtins.Exception", "builtins.BaseException", "builtins.OSError", "builtins.ConnectionError")
    names = [t.name for t in _caught(m, handler, frame) if isinstance(t, External)]
    return any(n in general or not (n.startswith("builtins.") or classes.is_absence(m, n)) for n in names)


def _catches_absence(m: Machine, handler: ir.Handler, frame: Frame) -> bool:
    if handler.type is None:
        return True
    names = [t.name for t in _caught(m, handler, frame) if isinstance(t, External)]
    return any(n in ("builtins.Exception", "builtins.BaseException") or classes.is_absence(m, n) for n in names)


def _caught(m: Machine, handler: ir.Handler, frame: Frame) -> tuple[Value, ...]:
    types = expressions.evaluate(m, handler.type, frame) if handler.type is not None else Tuple(())
    return types.items if isinstance(types, Tuple) else (types,)


def _handler(m: Machine, node: ir.Try, raised: Raised, frame: Frame) -> ir.Handler | None:
    for handler in node.handlers:
        if handler.type is None:
            return handler
        if classes.catches(m, expressions.evaluate(m, handler.type, frame), raised.exception):
            return handler
    return None


def _match(m: Machine, node: ir.Match, frame: Frame) -> None:
    subject = expressions.evaluate(m, node.subject, frame)
    for case in node.cases:
        bound = patterns.matches(m, case.pattern, subject, m.site(frame, case), frame)
        if bound is None:
            continue
        frame.scope.variables.update(bound)
        if case.guard is None or expressions.condition(m, case.guard, frame):
            run_block(m, case.body, frame)
            return


def _function(m: Machine, node: ir.FunctionNode, frame: Frame) -> None:
    value: Value = Function(node, frame.module, None if frame.level == "module" else frame.scope)
    set_name(m, node.name, value, frame, m.site(frame, node))
    for decorator in reversed(node.decorators):
        value = decorate(m, decorator, value, frame)
    set_name(m, node.name, value, frame, m.site(frame, node))


def decorate(m: Machine, decorator: ir.Expression, value: Value, frame: Frame) -> Value:
    """What a decorator makes of a function or class."""
    site = m.site(frame, decorator)
    function = expressions.evaluate(m, decorator, frame)
    if isinstance(function, External):
        kind = function.name.rpartition(".")[2]
        if function.name in (
            "builtins.property",
            "builtins.classmethod",
            "builtins.staticmethod",
            "functools.cached_property",
        ):
            return Descriptor(kind, value)
    if isinstance(function, Descriptor):  # @x.setter
        return function
    result = calls.call(m, function, (value,), {}, site, frame)
    if not isinstance(result, Unknown):
        return result
    if m.building and isinstance(value, Function) and value.scope is not None:
        m.world.taken[value.node] = value
    return value


def _class(m: Machine, node: ir.ClassNode, frame: Frame) -> None:
    value: Value = classes.define(m, node, frame)
    for decorator in reversed(node.decorators):
        value = classes.decorate_class(m, decorator, value, frame)
    set_name(m, node.name, value, frame, m.site(frame, node))


def _import(m: Machine, node: ir.Import, frame: Frame) -> None:
    m.world.import_module(m, node, frame)


def _import_from(m: Machine, node: ir.ImportFrom, frame: Frame) -> None:
    m.world.import_from(m, node, frame)


def _declare(m: Machine, node: ir.Declare, frame: Frame) -> None:
    return


def _delete(m: Machine, node: ir.Delete, frame: Frame) -> None:
    if isinstance(node.target, ir.Subscript):
        receiver = expressions.evaluate(m, node.target.value, frame)
        subscripts.delete_item(m, receiver, expressions.evaluate(m, node.target.index, frame), m.site(frame, node))


def _jump(m: Machine, node: ir.Jump, frame: Frame) -> None:
    if node.kind == "break":
        raise Broke
    if node.kind == "continue":
        raise Continued


HANDLERS: dict[type, Callable[..., None]] = {
    ir.Evaluate: _evaluate,
    ir.Assign: _assign,
    ir.Augment: _augment,
    ir.Return: _return,
    ir.Raise: _raise,
    ir.Assert: _assert,
    ir.If: _if,
    ir.While: _while,
    ir.For: _for,
    ir.With: _with,
    ir.Try: _try,
    ir.Match: _match,
    ir.FunctionNode: _function,
    ir.ClassNode: _class,
    ir.Import: _import,
    ir.ImportFrom: _import_from,
    ir.Declare: _declare,
    ir.Delete: _delete,
    ir.Jump: _jump,
}
