"""Evaluates expressions to abstract values."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from sselint.read.python.interpreter import (
    arithmetic,
    at_cursor,
    calls,
    classes,
    columns,
    compare,
    containers,
    iteration,
    leads,
    oldest,
    subscripts,
    text,
    whose_keys,
)
from sselint.read.python.interpreter.machine import Frame, Machine
from sselint.read.python.interpreter.values import (
    Callback,
    ClassValue,
    Collection,
    Const,
    External,
    Function,
    Generator,
    Input,
    Item,
    Join,
    Ref,
    Reply,
    Scope,
    Step,
    Tuple,
    Unknown,
    Value,
    Wrapped,
)
from sselint.read.python.libraries import library
from sselint.read.python.source import ir
from sselint.read.python.source.modules import Site
from sselint.read.python.stores import stores

TOGETHER = "put together here"


def evaluate(m: Machine, node: ir.Expression, frame: Frame) -> Value:
    """The value of an expression."""
    m.oracle.step()
    return HANDLERS[type(node)](m, node, frame)


def condition(m: Machine, node: ir.Expression, frame: Frame) -> bool:
    """Whether a test holds. What a name was taken for it stays."""
    value = evaluate(m, node, frame)
    holds = m.truth(value, m.site(frame, node))
    if isinstance(node, ir.Name) and frame.scope.variables.get(node.id) is value:
        frame.scope.variables[node.id] = m.take_for(value, holds)
    return holds


def _constant(m: Machine, node: ir.Constant, frame: Frame) -> Value:
    return Const.of(node.value)


def _name(m: Machine, node: ir.Name, frame: Frame) -> Value:
    found = m.world.lookup(m, node.id, frame)
    return library.value_of(m, found, m.site(frame, node)) if isinstance(found, External) else found


def _attribute(m: Machine, node: ir.Attribute, frame: Frame) -> Value:
    receiver = evaluate(m, node.value, frame)
    value = classes.attribute(m, receiver, node.name, m.site(frame, node), frame)
    return at_cursor.part(receiver, oldest.part(m, receiver, value))


def _subscript(m: Machine, node: ir.Subscript, frame: Frame) -> Value:
    receiver = evaluate(m, node.value, frame)
    site = m.site(frame, node)
    if isinstance(node.index, ir.Slice):
        lower = evaluate(m, node.index.lower, frame) if node.index.lower is not None else None
        upper = evaluate(m, node.index.upper, frame) if node.index.upper is not None else None
        return subscripts.take_slice(m, receiver, lower, upper, site)
    value = subscripts.get_item(m, receiver, evaluate(m, node.index, frame), site, frame)
    return at_cursor.part(receiver, oldest.part(m, receiver, value))


def arguments_of(m: Machine, nodes: Iterable[ir.Argument], frame: Frame) -> tuple[tuple[Value, ...], dict[str, Value]]:
    """The values of a call's arguments; what `*` and `**` carry is spread where it is known."""
    positional: list[Value] = []
    keywords: dict[str, Value] = {}
    for node in nodes:
        value = evaluate(m, node.value, frame)
        if node.star == "*":
            positional.extend(iteration.known_items(m, value))
        elif node.star == "**":
            keywords.update(containers.known_entries(m, value))
            more = columns.copied_into(m, value) or value
            if isinstance(more, Reply | Input | Unknown):
                keywords["**"] = more
        elif node.keyword is not None:
            keywords[node.keyword] = value
        else:
            positional.append(value)
    return tuple(positional), keywords


def _call(m: Machine, node: ir.Call, frame: Frame) -> Value:
    site = m.site(frame, node)
    if isinstance(node.function, ir.Name) and node.function.id == "super" and not node.arguments:
        return classes.make_super(frame)
    if isinstance(node.function, ir.Attribute):
        receiver = evaluate(m, node.function.value, frame)
        if isinstance(receiver, Reply):
            positional, keywords = arguments_of(m, node.arguments, frame)
            return stores.reply_method(m, receiver, node.function.name, positional, keywords, site)
        function = classes.attribute(m, receiver, node.function.name, site, frame)
    else:
        function = evaluate(m, node.function, frame)
    positional, keywords = arguments_of(m, node.arguments, frame)
    return calls.call(m, function, positional, keywords, site, frame)


def _binary(m: Machine, node: ir.Binary, frame: Frame) -> Value:
    left = evaluate(m, node.left, frame)
    right = evaluate(m, node.right, frame)
    return arithmetic.binary(m, node.operator, left, right, m.site(frame, node))


def _comparison(m: Machine, node: ir.Compare, frame: Frame) -> Value:
    left = evaluate(m, node.left, frame)
    site = m.site(frame, node)
    for sign, other in node.rest:
        right = evaluate(m, other, frame)
        if any(library.is_column(m, v) for v in (left, right)) or any(
            _names_column(m, n, frame) for n in (node.left, other)
        ):
            column = next((n.name for n in (node.left, other) if isinstance(n, ir.Attribute)), "")
            return Wrapped(f"condition:{sign}:{column}", Tuple((left, right)))
        if not compare.holds(m, sign, left, right, site, frame):
            return Const.of(False)
        left = right
    return Const.of(True)


def _names_column(m: Machine, node: ir.Expression, frame: Frame) -> bool:
    """Whether an expression is `Class.name` of a mapped class, whatever default the name has there."""
    if not isinstance(node, ir.Attribute) or not isinstance(node.value, ir.Name | ir.Attribute):
        return False
    owner = evaluate(m, node.value, frame)
    if not isinstance(owner, ClassValue):
        return False
    if library.is_mapped(m, owner):
        return True
    return library.is_foreign(m, owner) and isinstance(evaluate(m, node, frame), Unknown)


def _logical(m: Machine, node: ir.Logical, frame: Frame) -> Value:
    left = evaluate(m, node.left, frame)
    site = m.site(frame, node.left)
    before_cursor = node.operator == "or" and leads.reads_cursor(node.right, frame)
    holds = leads.holds_unless(m, before_cursor, lambda: m.truth(left, site))
    if holds == (node.operator == "or"):
        return m.take_for(left, holds)
    return evaluate(m, node.right, frame)


def _unary(m: Machine, node: ir.Unary, frame: Frame) -> Value:
    if node.operator == "not":
        return Const.of(not condition(m, node.operand, frame))
    value = evaluate(m, node.operand, frame)
    if isinstance(value, Const) and isinstance(value.value, int | float) and node.operator == "-":
        return Const.of(-value.value)
    if isinstance(value, Const) and isinstance(value.value, int) and node.operator == "~":
        return Const.of(~value.value)
    return value


def _conditional(m: Machine, node: ir.Conditional, frame: Frame) -> Value:
    before_cursor = leads.reads_cursor(node.orelse, frame) and not leads.reads_cursor(node.body, frame)
    holds = leads.holds_unless(m, before_cursor, lambda: condition(m, node.test, frame))
    return evaluate(m, node.body if holds else node.orelse, frame)


def _format(m: Machine, node: ir.Format, frame: Frame) -> Value:
    parts: list[Value] = []
    for part in node.parts:
        value = evaluate(m, part, frame)
        parts.append(value if isinstance(part, ir.Constant) else text.as_text(m, value, m.site(frame, part), frame))
    made = text.join(parts)
    return replace(made, trail=(Step(m.site(frame, node), TOGETHER),)) if isinstance(made, Join) else made


def _display(m: Machine, node: ir.Display, frame: Frame) -> Value:
    if node.kind == "?":
        return Unknown("a form of expression that is not understood")
    values: list[Value] = []
    for item in node.items:
        if isinstance(item, ir.Starred):
            spread = evaluate(m, item.value, frame)
            values.extend(iteration.known_items(m, spread) or ([spread] if isinstance(spread, Unknown) else []))
        else:
            values.append(evaluate(m, item, frame))
    if node.kind == "tuple":
        return Tuple(tuple(values))
    ref = m.make(node.kind, node.kind, m.site(frame, node), frame)
    for value in values:
        containers.add(m, ref, value, m.site(frame, node), growing=False)
    return ref


def _dict(m: Machine, node: ir.DictDisplay, frame: Frame) -> Value:
    site = m.site(frame, node)
    ref = m.make("dict", "dict", site, frame)
    for key, item in node.items:
        value = evaluate(m, item, frame)
        if key is None:
            whose_keys.take_over(m, ref, (value,))
            for name, entry in containers.known_entries(m, value).items():
                containers.put(m, ref, Const.of(name), entry, site, growing=False)
            copied = containers.all_pairs(m, value) if isinstance(value, Ref) and m.own(value) else [(value, value)]
            for row, rest in copied:
                if isinstance(row, Reply | Unknown):  # it has whatever is asked for
                    containers.put(m, ref, row, rest, site, growing=False)
        else:
            containers.put(m, ref, evaluate(m, key, frame), value, site, growing=False)
    return ref


def _comprehension(m: Machine, node: ir.Comprehension, frame: Frame) -> Value:
    site = m.site(frame, node)
    scope = Scope(frame.module, {}, frame.scope)
    inner = Frame(frame.module, scope, None, frame.function, frame.on_yield, frame.handling)
    first = evaluate(m, node.clauses[0].iterable, frame)
    if node.kind == "generator":
        return Generator(None, scope, "expression", (node, first, inner))
    found: list[Item] = []
    pairs: list[tuple[Value, Value]] = []

    def emit(value: Value) -> None:
        where = m.current[-1] if m.current else Item(value)
        found.append(Item(value, where.source, where.phase))
        if node.key is not None:
            pairs.append((evaluate(m, node.key, inner), value))

    run_clauses(m, node, 0, first, inner, emit)
    if node.kind == "dict":
        ref = m.make("dict", "dict", site, frame)
        for (key, value), item in zip(pairs, found, strict=True):
            containers.put(m, ref, key, value, site, growing=False, origin=item)
        return ref
    view = iteration.view_of(m, first)
    if view is not None:
        selection = view.selection
        if selection == "all" and node.clauses[0].conditions and _asked_cursor(m, site):
            selection = "compared"
        return Collection(view.source, tuple(found), selection)
    return containers.made_of(m, found, site, "set" if node.kind == "set" else "list", frame)


def _asked_cursor(m: Machine, site: Site) -> bool:
    return any(e.kind == "compare" for e in m.trace)


def run_clauses(
    m: Machine,
    node: ir.Comprehension,
    position: int,
    first: Value | None,
    frame: Frame,
    emit: Callable[[Value], None],
) -> None:
    """Runs the clauses of a comprehension and emits the elements."""
    from sselint.read.python.interpreter import statements

    if position == len(node.clauses):
        emit(evaluate(m, node.element, frame))
        return
    clause = node.clauses[position]
    iterable = first if first is not None else evaluate(m, clause.iterable, frame)

    def body(value: Value) -> None:
        statements.assign(m, clause.target, value, frame)
        copied = node.kind == "dict" and columns.is_column(value)
        if columns.stays(m, clause.conditions, frame) if copied else _hold(m, clause.conditions, frame):
            run_clauses(m, node, position + 1, None, frame, emit)

    iteration.iterate(m, iterable, m.site(frame, clause.iterable), body)


def _hold(m: Machine, tests: Iterable[ir.Expression], frame: Frame) -> bool:
    return all(condition(m, test, frame) for test in tests)


def _lambda(m: Machine, node: ir.Lambda, frame: Frame) -> Value:
    return Function(node, frame.module, None if frame.level == "module" else frame.scope, frame.receiver)


def _yield(m: Machine, node: ir.Yield, frame: Frame) -> Value:
    site = m.site(frame, node)
    value = evaluate(m, node.value, frame) if node.value is not None else Const.of(None)
    sink = frame.on_yield
    if node.delegates:
        iteration.iterate(m, value, site, lambda item: sink(item, site) if sink is not None else None)
    elif sink is not None:
        sink(value, site)
    return Const.of(None)


def _await(m: Machine, node: ir.Await, frame: Frame) -> Value:
    return calls.awaited(m, evaluate(m, node.value, frame), m.site(frame, node))


def _walrus(m: Machine, node: ir.Walrus, frame: Frame) -> Value:
    from sselint.read.python.interpreter import statements

    counted = statements.counting(node.target, node.value)
    if counted is not None:
        return statements.count_on(m, counted, frame)
    value = evaluate(m, node.value, frame)
    statements.assign(m, node.target, value, frame)
    return value


def _nothing(m: Machine, node: ir.Expression, frame: Frame) -> Value:
    return Unknown("a form of expression that is not understood")


HANDLERS: dict[type, Callable[..., Value]] = {
    ir.Constant: _constant,
    ir.Name: _name,
    ir.Attribute: _attribute,
    ir.Subscript: _subscript,
    ir.Call: _call,
    ir.Binary: _binary,
    ir.Compare: _comparison,
    ir.Logical: _logical,
    ir.Unary: _unary,
    ir.Conditional: _conditional,
    ir.Format: _format,
    ir.Display: _display,
    ir.DictDisplay: _dict,
    ir.Comprehension: _comprehension,
    ir.Lambda: _lambda,
    ir.Yield: _yield,
    ir.Await: _await,
    ir.Walrus: _walrus,
    ir.Slice: _nothing,
    ir.Starred: _nothing,
}

__all__ = [
    "Callback",
    "External",
    "Join",
    "Ref",
    "Wrapped",
    "arguments_of",
    "condition",
    "evaluate",
    "run_clauses",
]
