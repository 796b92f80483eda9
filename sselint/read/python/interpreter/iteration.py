"""Loops over anything: representative elements of containers, generators of the tree, lazy builtins, live sources."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from sselint.read.python.interpreter import (
    as_json,
    at_cursor,
    calls,
    classes,
    compare,
    containers,
    extended,
    ranges,
    records,
    representative,
    slices,
    text,
)
from sselint.read.python.interpreter.machine import (
    LOOP_ROUNDS,
    Ended,
    Frame,
    Hypothesis,
    Machine,
    Passing,
    Raised,
    Signal,
)
from sselint.read.python.interpreter.values import (
    NEWEST,
    OLDEST,
    SINCE,
    ClassValue,
    Collection,
    Const,
    Cursor,
    Exceptional,
    Generator,
    Input,
    Item,
    Length,
    Minted,
    Position,
    Ref,
    Reply,
    Tuple,
    Unknown,
    Value,
    Wrapped,
    leaves,
    mentions_cursor,
)
from sselint.read.python.libraries import library, proxies
from sselint.read.python.source import ir
from sselint.read.python.source.modules import Site

Body = Callable[[Value], None]
EARLIER = ("one", "two")
"""Where elements stand when nothing is assumed about a cursor."""
MANY, MANY_AT_START = 12, 100
"""Elements that a loop is run for. Start-up code registers what the server has, one by one."""
"""So many elements of a written-down sequence are looked at one by one."""


def view_of(m: Machine, value: Value) -> Collection | None:
    """The elements of a value as a view, or None where it is not something that holds elements."""
    if isinstance(value, Collection):
        return _placed_anew(m, value)
    if isinstance(value, ClassValue):
        value = classes.members(m, value) or value
    if isinstance(value, Tuple):
        return Collection(0, tuple(Item(v) for v in value.items))
    if isinstance(value, Reply):
        return reply_view(m, value)
    if isinstance(value, Ref) and m.object(value).kind in containers.KINDS:
        return _container_view(m, value)
    if isinstance(value, Generator) and value.kind != "coroutine":
        return collect(m, value)
    return None


def _placed_anew(m: Machine, view: Collection) -> Collection:
    """A view that was kept when the program was built, with its elements where this run puts them."""
    phases = m.phases()
    if not view.source or phases[0] == EARLIER[0] or not any(i.phase in EARLIER for i in view.items):
        return view
    value = view.items[-1].value
    return replace(view, items=tuple(Item(value, view.source, phase) for phase in phases))


def _many(m: Machine) -> int:
    return MANY_AT_START if m.boot else MANY


def _container_view(m: Machine, ref: Ref) -> Collection:
    target = m.object(ref)
    added = m.overlay.items.get(ref, [])
    if target.kind == "dict":
        added = [*added, *containers.placed_pairs(m, ref, lambda key, _: key)]
    if m.own(ref):
        source = next((i.source for i in added if i.source), 0)
        selection = next((i.selection for i in added if i.selection), "all")
        return Collection(source, tuple(added), selection)
    options = list(dict.fromkeys(k for k, _ in target.pairs)) if target.kind == "dict" else list(target.elements)
    if m.boot and ref.serial == 0 and added:
        m.note("read", target.site, container=ref.id, at_start=m.boot)
        return Collection(ref.id, tuple(Item(i.value, ref.id, i.phase) for i in added[: _many(m)]))
    return representative.view(m, ref, options)


def reply_view(m: Machine, value: Reply) -> Collection:
    """The rows of an answer of a store."""
    if value.is_nothing:
        return Collection(value.source, (), value.selection)
    inner = replace(value, inner=True)
    if any(item.source == value.source and item.phase for item in m.current) or value.inner:
        phase = m.phase()
        return Collection(value.source, (Item(inner, value.source, phase),), value.selection)
    phases = m.phases()
    if value.selection in ("compared", "located", "part"):
        phases = tuple(p for p in phases if p in slices.LATER) or phases[-1:]
    if value.selection in ("head", NEWEST):
        phases = phases[-1:]
    elif value.selection == OLDEST:
        phases = phases[:1]
    elif value.selection == SINCE:  # nothing yet; asked again, what has been added since
        phases = ("live",) if m.round > 1 else ()
    return Collection(value.source, tuple(Item(inner, value.source, p) for p in phases), value.selection)


def collect(m: Machine, value: Value, site: Site | None = None) -> Collection:
    """All that an iterable gives, as a view of where it comes from."""
    found: list[Item] = []

    def body(element: Value) -> None:
        where = m.current[-1] if m.current else Item(element)
        found.append(replace(where, value=element))

    iterate(m, value, site, body)
    source = next((i.source for i in found if i.source), 0)
    selection = next((i.selection for i in found if i.selection and i.selection != "all"), "all")
    if not found:
        read = next((e for e in reversed(m.trace) if e.kind in ("read", "compare")), None)
        if read is not None and read.kind == "read":
            source = int(read.data.get("container", 0))
        elif read is not None:
            selection = "compared"
    elif selection == "all" and m.trace and any(e.kind == "compare" and e.data.get("phase") for e in m.trace[-6:]):
        selection = "compared"
    return Collection(source, tuple(found), selection)


def iterate(m: Machine, value: Value, site: Site | None, body: Body) -> None:
    """Runs `body` for the elements of a value. Signals of the body come out as they are."""
    if isinstance(value, ClassValue):
        value = classes.members(m, value) or value
    if isinstance(value, Generator):
        _generator(m, value, site, body)
    elif isinstance(value, Ref) and not extended.is_plain(m, value, ITERATED):
        _object(m, value, site, body)
    elif isinstance(value, Collection | Tuple | Ref | Reply):
        view = view_of(m, value)
        _view(m, view, site, body) if view is not None else None
        if isinstance(value, Reply) and value.live:
            raise Ended
    elif isinstance(value, Const):
        if isinstance(value.value, str | bytes | tuple | list):
            for element in value.value[:MANY]:
                body(Const.of(element))
    elif isinstance(value, Wrapped) and value.form.startswith("split:"):
        body(text.item(m, value, Const.of(0), site))
    else:
        cursor = mentions_cursor(value)
        why = value.why if isinstance(value, Unknown) else "an element of something that is not understood"
        body(value if isinstance(value, Input) else Unknown(why, cursor, trail=value.trail))


TABLE = "table"
ITERATED = ("__aiter__", "__iter__")


def placed_items(m: Machine, view: Collection) -> tuple[Item, ...]:
    """The elements of a view; those of a table that is written down stand before and behind the cursor in turn."""
    items = view.items[: _many(m)]
    written = not view.source and len(items) > 1 and not any(i.phase or i.source for i in items)
    plain = all(isinstance(leaf, Const) for i in items for leaf in leaves(i.value))
    if m.building or not written or not plain or m.phase():
        return items
    phases = m.phases()
    return tuple(replace(i, phase=phases[min(n, len(phases) - 1)], selection=TABLE) for n, i in enumerate(items))


def _view(m: Machine, view: Collection, site: Site | None, body: Body) -> None:
    for item in placed_items(m, view):
        if item.selection in (TABLE, representative.INBOX):
            with m.looking_at(item):
                body(item.value)
            continue
        with m.looking_at(replace(item, selection=view.selection, source=item.source or view.source)):
            body(at_cursor.element(m, item.value, item.phase, site))


def _object(m: Machine, ref: Ref, site: Site | None, body: Body) -> None:
    behind = proxies.behind(m, ref, site)
    if behind is not None:
        iterate(m, behind, site, body)
        return
    for name in ITERATED:
        method = extended.defined(m, ref, name)
        if method is not None:
            inner = calls.call(m, method, (), {}, site, None)
            if inner != ref:
                iterate(m, inner, site, body)
                return
    for name in ("__anext__", "__next__"):
        method = classes.find_method(m, ref, name)
        if method is not None:
            _stepwise(m, method, site, body)
            return
    if m.object(ref).kind == "instance" and classes.find_method(m, ref, "__getitem__") is None:
        body(Unknown("an element of an object that is not understood"))
        return
    library.iterate(m, ref, site, body)


def _stepwise(m: Machine, method: Value, site: Site | None, body: Body) -> None:
    for _ in range(LOOP_ROUNDS):
        try:
            value = calls.awaited(m, calls.call(m, method, (), {}, site, None), site)
        except Raised as raised:
            if isinstance(raised.exception, Exceptional) and raised.exception.name in (
                "StopIteration",
                "StopAsyncIteration",
            ):
                return
            raise
        body(value)
    raise Ended


def _generator(m: Machine, value: Generator, site: Site | None, body: Body) -> None:
    if value.kind in LAZY:
        LAZY[value.kind](m, value, site, body)
        return
    if value.kind == "coroutine":
        iterate(m, calls.awaited(m, value, site), site, body)
        return
    owner = object()

    def on_yield(element: Value, _: Site) -> None:
        try:
            body(element)
        except Signal as signal:
            raise Passing(owner, signal) from None

    try:
        if value.kind == "expression":
            node, first, frame = value.operands
            from sselint.read.python.interpreter import expressions

            inner = Frame(frame.module, frame.scope, None, frame.function, None, frame.handling)
            expressions.run_clauses(m, node, 0, first, inner, body)
        else:
            calls.run_generator(m, value, on_yield)
    except Passing as passing:
        if passing.owner is not owner:
            raise
        raise passing.signal from None


def known_items(m: Machine, value: Value) -> list[Value]:
    """The elements of a sequence that is written down, else nothing."""
    view = view_of(m, value)
    return [i.value for i in view.items[: _many(m)]] if view is not None else []


def unpack(m: Machine, value: Value, targets: Sequence[ir.Expression], site: Site) -> list[Value]:
    """The values for the targets of `a, b, *rest = value`. Raises ValueError where the number is wrong."""
    count = len(targets)
    star = next((i for i, t in enumerate(targets) if isinstance(t, ir.Starred)), None)
    if isinstance(value, Wrapped) and value.form.startswith("split:"):
        if m.hypothesis is Hypothesis.MALFORMED and mentions_cursor(value):
            raise Raised(Exceptional("ValueError"), site)
        return [text.item(m, value, Const.of(i), site) for i in range(count)]
    if isinstance(value, Reply):
        return [library.reply_item(m, value, Const.of(i)) for i in range(count)]
    fields = records.tuple_fields(m, value)
    if fields is not None and len(fields) == count:
        return fields
    if isinstance(value, Cursor) and as_json.is_list(value):
        return [text.item(m, value, Const.of(i), site) for i in range(count)]
    view = view_of(m, value) if not isinstance(value, Generator) or value.kind != "coroutine" else None
    if view is None:
        return [
            value
            if isinstance(value, Unknown | Input | Cursor | Minted)
            else Unknown("a part of something that is not understood")
            for _ in targets
        ]
    items = [i.value for i in view.items]
    if star is not None and len(items) >= count - 1:
        rest = Collection(view.source, view.items[star : len(items) - (count - 1 - star)], view.selection)
        return [*items[:star], rest, *items[len(items) - (count - 1 - star) :]]
    if len(items) == count:
        return items
    if not items and count and not m.building:
        raise Raised(Exceptional("ValueError"), site)
    return [items[0] if items else Unknown("an element of an empty list") for _ in targets]


# -- lazy builtins -------------------------------------------------------------------------------------------------


def _enumerate(m: Machine, value: Generator, site: Site | None, body: Body) -> None:
    inner = value.operands[0]
    view = None if isinstance(inner, Generator) else view_of(m, inner)

    def numbered(element: Value) -> None:
        about = m.source or (view.source if view else 0)
        number = Minted("index", about, False, not m.building and not about, m.phase())
        made = m.minted("index", site, about)
        body(Tuple((replace(number, trail=made.trail), element)))

    if view is not None and not view.source and all(isinstance(i.value, Const) for i in view.items):
        for number, item in enumerate(placed_items(m, view)):
            with m.looking_at(item):
                body(Tuple((Const.of(number), item.value)))
        return
    iterate(m, inner, site, numbered)


def _range(m: Machine, value: Generator, site: Site | None, body: Body) -> None:
    bounds = value.operands
    step = bounds[2] if len(bounds) > 2 else None
    if isinstance(step, Const) and isinstance(step.value, int) and step.value < 0:
        bounds = (bounds[1], bounds[0])  # downwards: the same numbers
    lower, upper = (Const.of(0), bounds[0]) if len(bounds) == 1 else bounds[:2]
    length = next((b for b in bounds if isinstance(b, Length)), None)
    if length is not None and length.about:
        about = length.about
        held = length.of or view_of(m, Ref(about)) or Collection(about, ())
        view = slices.starting_at(m, held, lower, site or m.world.nowhere)
        for item in view.items:
            with m.looking_at(replace(item, selection=view.selection)):
                body(replace(m.minted("index", site, about), phase=item.phase))
        return
    numbers = ranges.given_out(m, lower, upper, site)
    if numbers is not None:
        _view(m, numbers, site, body)
        return
    if isinstance(lower, Const) and isinstance(upper, Const):
        for number in range(LOOP_ROUNDS):
            body(Const.of(number) if not m.calls else m.minted("index", site))
        return
    if mentions_cursor(lower) or isinstance(lower, Position):
        body(lower)
        body(lower)
        return
    body(m.minted("index", site))


def _zip(m: Machine, value: Generator, site: Site | None, body: Body) -> None:
    first, *others = value.operands
    if not isinstance(first, Generator) and view_of(m, first) is None and others:
        iterate(m, others[0], site, lambda e: body(Tuple((first, e))))
        return

    def paired(element: Value) -> None:
        rest = []
        for other in others:
            if isinstance(other, Ref) and m.object(other).kind == "library":
                rest.append(library.next_of(m, other, site))
                continue
            if isinstance(other, Generator) and other.kind == "range":
                rest.append(replace(m.minted("index", site, m.source), phase=m.phase()))
                continue
            view = view_of(m, other)
            rest.append(
                view.items[-1].value if view is not None and view.items else Unknown("an element of another list")
            )
        body(Tuple((element, *rest)))

    if isinstance(first, Ref) and m.object(first).kind == "library" and others:
        iterate(m, others[0], site, lambda e: body(Tuple((library.next_of(m, first, site), e))))
        return
    iterate(m, first, site, paired)


def _map(m: Machine, value: Generator, site: Site | None, body: Body) -> None:
    function, iterable = value.operands
    iterate(m, iterable, site, lambda e: body(calls.call(m, function, (e,), {}, site, None)))


def _filter(m: Machine, value: Generator, site: Site | None, body: Body) -> None:
    """`filter`, and `filterfalse`, which keeps what fails the test."""
    function, iterable = value.operands

    def tested(element: Value) -> None:
        kept = element if isinstance(function, Const) else calls.call(m, function, (element,), {}, site, None)
        if m.truth(kept, site) == (value.kind == "filter"):
            body(element)

    iterate(m, iterable, site, tested)


def _compress(m: Machine, value: Generator, site: Site | None, body: Body) -> None:
    """`compress`: the elements beside which something true stands."""
    elements, kept = value.operands

    def tested(pair: Value) -> None:
        if isinstance(pair, Tuple) and m.truth(pair.items[0], site):
            body(pair.items[1])

    _zip(m, replace(value, kind="zip", operands=(kept, elements)), site, tested)


def _while(m: Machine, value: Generator, site: Site | None, body: Body) -> None:
    """`takewhile` and `dropwhile`: elements before the first that fails the test, or from it on."""
    function, iterable, taking = value.operands
    state = {"dropping": not taking, "done": False}

    def tested(element: Value) -> None:
        if state["done"]:
            return
        if taking or state["dropping"]:
            passes = m.truth(calls.call(m, function, (element,), {}, site, None), site)
            if taking and not passes:
                state["done"] = True
                return
            if not taking and passes:
                return
            state["dropping"] = False
        body(element)

    iterate(m, iterable, site, tested)


def _through(m: Machine, value: Generator, site: Site | None, body: Body) -> None:
    for operand in value.operands:
        iterate(m, operand, site, body)


def _slice(m: Machine, value: Generator, site: Site | None, body: Body) -> None:
    iterable, lower = value.operands
    view = view_of(m, iterable)
    if view is None:
        iterate(m, iterable, site, body)
        return
    _view(m, slices.starting_at(m, view, lower, site or m.world.nowhere), site, body)


def _batched(m: Machine, value: Generator, site: Site | None, body: Body) -> None:
    """`batched`: one part stands for all of them."""
    view = view_of(m, value.operands[0])
    if view is None:
        body(Unknown("a part of an iterable that is not followed"))
    elif view.items:
        body(view)


def _repeat(m: Machine, value: Generator, site: Site | None, body: Body) -> None:
    """`iter(callable, sentinel)`."""
    for _ in range(LOOP_ROUNDS):
        body(calls.awaited(m, calls.call(m, value.operands[0], (), {}, site, None), site))
    if m.choose(2, ("sentinel", site), "iteration", "whether what ends it comes", site) == 0:
        raise Ended


LAZY: dict[str, Callable[[Machine, Generator, Site | None, Body], None]] = {
    "enumerate": _enumerate,
    "range": _range,
    "zip": _zip,
    "map": _map,
    "filter": _filter,
    "filterfalse": _filter,
    "compress": _compress,
    "while": _while,
    "through": _through,
    "slice": _slice,
    "batched": _batched,
    "repeat": _repeat,
}

__all__ = ["collect", "compare", "iterate", "known_items", "unpack", "view_of"]
