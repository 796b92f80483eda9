"""What the language's own functions do with abstract values. Rules name these as primitives (`gives: takewhile`)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from sselint.read.python.interpreter import (
    at_cursor,
    carried,
    classes,
    compare,
    containers,
    extended,
    extremes,
    iteration,
    oldest,
    own_attributes,
    pieces,
    put_on,
    tasks,
    text,
)
from sselint.read.python.interpreter.machine import Arguments, Frame, Hypothesis, Machine, Raised, Signal
from sselint.read.python.interpreter.values import (
    Callback,
    ClassValue,
    Collection,
    Const,
    Cursor,
    Exceptional,
    External,
    Function,
    Generator,
    Item,
    Length,
    Method,
    Minted,
    Partial,
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
from sselint.read.python.libraries import library, project
from sselint.read.python.source.modules import Site

Primitive = Callable[[Machine, Arguments], Value]


class _Found(Signal):
    """Stops an iteration at its first element."""

    def __init__(self, value: Value, item: Item | None) -> None:
        self.value = value
        self.item = item


def first_of(m: Machine, iterable: Value, site: Site) -> Value | None:
    """The first element that an iterable gives, or None where it ends at once."""

    def body(value: Value) -> None:
        raise _Found(value, m.current[-1] if m.current else None)

    try:
        iteration.iterate(m, iterable, site, body)
    except _Found as found:
        at_cursor.picked(m, found.value, found.item)
        return found.value
    return None


def _next(m: Machine, a: Arguments) -> Value:
    source = a.first()
    if isinstance(source, Ref) and m.object(source).kind == "library":
        return library.next_of(m, source, a.site)
    if isinstance(source, Generator) and source.kind == "function" and m.round and not m.building:
        return tasks.drawn(m, source, a.site)
    found = _begins(m, source) or first_of(m, source, a.site)
    if found is not None:
        return found
    default = a.get(1, "default")
    if default is None:
        raise Raised(Exceptional("StopIteration"), a.site)
    return default


def _begins(m: Machine, source: Value) -> Value | None:
    """What `next(iter(log))` gives: the oldest that is kept."""
    through = source.operands if isinstance(source, Generator) and source.kind == "through" else ()
    plain = len(through) == 1 and isinstance(through[0], Ref | Collection)
    return oldest.least(m, iteration.view_of(m, through[0])) if plain else None


def _len(m: Machine, a: Arguments) -> Value:
    value = a.first()
    method = extended.defined(m, value, "__len__") if isinstance(value, Ref) else None
    if method is not None:
        from sselint.read.python.interpreter import calls

        return calls.call(m, method, (), {}, a.site, a.frame)
    if isinstance(value, Const) and isinstance(value.value, str | bytes | tuple):
        return Const.of(len(value.value))
    if isinstance(value, Tuple):
        return Const.of(len(value.items))
    if isinstance(value, Reply):
        return Const.of(0) if value.is_nothing else Length(value.source)
    if isinstance(value, Collection):
        return Length(value.source, of=value) if value.source else Const.of(len(value.items))
    if isinstance(value, Ref) and m.object(value).kind in containers.KINDS:
        if m.own(value) and not any(i.source for i in m.overlay.items.get(value, [])):
            return Const.of(len(m.overlay.items.get(value, [])) + len(m.overlay.pairs.get(value, [])))
        made = Length(value.id)
        return replace(made, trail=m.minted("index", a.site, value.id, "the length of the list").trail)
    if isinstance(value, Wrapped) and value.form.startswith("split:"):
        number = pieces.counted(m, value)
        if number is not None:
            return number
    return Unknown("a length", mentions_cursor(value))


def copied(m: Machine, value: Value, site: Site, kind: str = "list") -> Value:
    """A new container with the elements of an iterable; one that keeps where they came from."""
    if isinstance(value, Const) and isinstance(value.value, str | bytes):
        return Tuple(tuple(Const.of(c) for c in value.value[: iteration.MANY]))
    view = iteration.view_of(m, value)
    if m.boot:
        ref = m.make(kind, kind, site, None)
        for element in view.items if view is not None else (Item(value),):
            containers.add(m, ref, element.value, site, growing=False)
        return ref
    if view is None:
        if isinstance(value, Wrapped) and value.form.startswith("split:"):
            return value
        found: list[Item] = []
        iteration.iterate(m, value, site, lambda element: found.append(Item(element)))
        return Collection(0, tuple(found))
    if not view.source and not any(i.source for i in view.items):
        ref = m.make(kind, kind, site, None)
        for element in view.items:
            containers.add(m, ref, element.value, site, growing=False)
        return ref
    return view


def _list(m: Machine, a: Arguments) -> Value:
    if not a.positional:
        return m.make("list", "list", a.site, a.frame)
    return copied(m, a.first(), a.site)


def _reversed(m: Machine, a: Arguments) -> Value:
    found = copied(m, a.first(), a.site)
    return replace(found, items=found.items[::-1]) if isinstance(found, Collection) else found


def _sorted(m: Machine, a: Arguments) -> Value:
    """In order, which is taken for the order in which things came; `reverse=True` turns it round."""
    backwards = a.keywords.get("reverse")
    return _reversed(m, a) if isinstance(backwards, Const) and backwards.value else _list(m, a)


def _tuple(m: Machine, a: Arguments) -> Value:
    if not a.positional:
        return Tuple(())
    view = iteration.view_of(m, a.first())
    if view is not None and not view.source and all(isinstance(i.value, Const) for i in view.items):
        return Tuple(tuple(i.value for i in view.items))
    return copied(m, a.first(), a.site)


def _set(m: Machine, a: Arguments) -> Value:
    return m.make("set", "set", a.site, a.frame) if not a.positional else copied(m, a.first(), a.site, "set")


def _dict(m: Machine, a: Arguments) -> Value:
    first = a.get(0)
    if isinstance(first, Reply) and not a.keywords:
        return first
    if (
        isinstance(first, Ref)
        and m.object(first).kind != "dict"
        and m.object(first).kind not in containers.KINDS
        and not a.keywords
        and classes.find_method(m, first, "__iter__") is None
    ):
        return first
    ref = m.make("dict", "dict", a.site, a.frame)
    if isinstance(first, Ref) and m.object(first).kind == "dict":
        for key, value in containers.all_pairs(m, first):
            containers.put(m, ref, key, value, a.site, growing=False)
        if not m.own(first) and not a.keywords and not m.boot:
            return first
    elif first is not None:

        def entry(element: Value) -> None:
            pair = containers_pair(m, element, a.site)
            if pair is not None:
                containers.put(m, ref, pair[0], pair[1], a.site, growing=False)

        iteration.iterate(m, first, a.site, entry)
    for name, value in a.keywords.items():
        containers.put(m, ref, Const.of(name), value, a.site, growing=False)
    return ref


def containers_pair(m: Machine, element: Value, site: Site) -> tuple[Value, Value] | None:
    """An element as a key and a value."""
    if isinstance(element, Tuple) and len(element.items) == 2:
        return element.items[0], element.items[1]
    if isinstance(element, Reply | Unknown):
        return element, element
    return None


def _iter(m: Machine, a: Arguments) -> Value:
    if len(a.positional) > 1:
        return Generator(None, None, "repeat", (a.positional[0],))
    value = a.first()
    return (
        value
        if isinstance(value, Generator | Reply)
        or (isinstance(value, Ref) and m.object(value).kind not in containers.KINDS)
        else Generator(None, None, "through", (value,))
    )


def lazy(kind: str, fewest: int = 1) -> Primitive:
    """A lazy iterator of a kind that `iteration` knows. It needs so many arguments: `zip(*rows)` may show none."""

    def make(m: Machine, a: Arguments) -> Value:
        if len(a.positional) < fewest:
            return Unknown(f"what {kind} makes of arguments that are not seen")
        return Generator(None, None, kind, a.positional)

    return make


def _islice(m: Machine, a: Arguments) -> Value:
    lower = a.get(1) if len(a.positional) > 2 else Const.of(0)
    return Generator(None, None, "slice", (a.first(), lower))


def _chain(m: Machine, a: Arguments) -> Value:
    return Generator(None, None, "through", a.positional)


def _quantified(wanted: bool) -> Primitive:
    def ask(m: Machine, a: Arguments) -> Value:
        class Settled(Signal):
            """The answer is known."""

        def body(value: Value) -> None:
            if m.truth(value, a.site) == wanted:
                raise Settled

        try:
            iteration.iterate(m, a.first(), a.site, body)
        except Settled:
            return Const.of(wanted)
        return Const.of(not wanted)

    return ask


def _bisect(m: Machine, a: Arguments, after: bool = True) -> Value:
    """`bisect`: where the cursor would stand in an ordered list, behind what is equal or in front of it."""
    view = iteration.view_of(m, a.first())
    wanted = a.get(1, "x")
    if view is None or wanted is None:
        return Unknown("a position", any(mentions_cursor(v) for v in a.positional))
    if compare.is_cursor(m, wanted):
        m.note("compare", a.site, other=wanted, phase="")
        return Position(view.source, after) if view.source and m.hypothesis is Hypothesis.KNOWN else wanted
    return Position(view.source, after=True) if view.source else Unknown("a position in a list")


# -- questions about values ----------------------------------------------------------------------------------------

TYPES: dict[str, tuple[type, ...]] = {
    "str": (str,), "bytes": (bytes,), "int": (int,), "float": (float,), "bool": (bool,), "tuple": (tuple,), "type": (),
}  # fmt: skip
KINDS = {"list": "list", "dict": "dict", "set": "set"}


def is_instance(m: Machine, value: Value, types: Value, site: Site) -> bool:
    """`isinstance(value, types)`."""
    if isinstance(types, Tuple):
        return any(is_instance(m, value, t, site) for t in types.items)
    if isinstance(types, ClassValue):
        cls = classes.class_of(m, value)
        if cls is not None:
            return cls == types or types in list(classes.ancestors(m, cls))
        if isinstance(value, Unknown | Reply):
            return m.once(2, ("isinstance", site, types.node), "condition", f"whether it is a {types.name}", site) == 0
        return False
    name = types.name.removeprefix("builtins.") if isinstance(types, External) else ""
    if isinstance(value, Const):
        return isinstance(value.value, TYPES.get(name, ()))
    if isinstance(value, Cursor):
        return name == ("int" if value.number else "str")
    if isinstance(value, Ref):
        kind = m.object(value).kind
        return kind == KINDS[name] if name in KINDS else library.is_a(m, value, name)
    if isinstance(value, Tuple):
        return name == "tuple"
    if isinstance(value, Collection):
        return name in ("list", "tuple")
    if text.is_text(value):
        return name == "str"
    return m.once(2, ("isinstance", site, name), "condition", "what kind of value it is", site) == 0


def _isinstance(m: Machine, a: Arguments) -> Value:
    if isinstance(a.first(), Exceptional):
        return Const.of(classes.catches(m, a.positional[1], a.first()))
    return (
        Const.of(is_instance(m, a.first(), a.positional[1], a.site)) if len(a.positional) > 1 else Unknown("isinstance")
    )


def _issubclass(m: Machine, a: Arguments) -> Value:
    """Whether a class inherits from another, as far as the tree shows: what a library's class is, nobody can see."""
    cls, wanted = a.first(), a.get(1)
    options = wanted.items if isinstance(wanted, Tuple) else (wanted,)
    if not isinstance(cls, ClassValue):
        return Const.of(True) if cls in options else Unknown("whether a class is derived from another")
    line = [cls, *classes.ancestors(m, cls)]
    if any(option in line for option in options):
        return Const.of(True)
    foreign = any(isinstance(base, External) and base.name != "builtins.object" for base in line)
    known = all(isinstance(option, ClassValue) for option in options)
    return Const.of(False) if known or not foreign else Unknown("whether a library's class is derived from another")


def _getattr(m: Machine, a: Arguments) -> Value:
    name = a.get(1)
    default = a.get(2)
    if not isinstance(name, Const) or not isinstance(name.value, str):
        return _dynamic_attribute(m, a)
    if default is not None and not has_attribute(m, a.first(), name.value):
        return classes.attribute(m, *found, a.site, a.frame) if (found := _set_elsewhere(m, a)) else default
    return classes.attribute(m, a.first(), name.value, a.site, a.frame)


def _set_elsewhere(m: Machine, a: Arguments) -> tuple[Value, str] | None:
    """The object and the name that `getattr` and `hasattr` ask for, where something may set it that was not followed:
    what is shared, and the state of a request, which what stands in front of the handler fills."""
    holder, name = a.first(), a.get(1)
    if not isinstance(holder, Ref) or m.object(holder).kind != "namespace" or not isinstance(name, Const):
        return None
    if m.own(holder) and holder != m.request.get("state"):
        return None
    is_set = m.once(2, ("set", holder.id, name.value), "condition", f"whether {name.value} is set") == 0
    return (holder, str(name.value)) if is_set else None


def _dynamic_attribute(m: Machine, a: Arguments) -> Value:
    return Unknown("an attribute whose name is computed")


def has_attribute(m: Machine, value: Value, name: str) -> bool:
    """Whether an object has an attribute, as far as the tree shows."""
    if isinstance(value, Ref):
        if m.read_attribute(value, name) is not None or classes.find_method(m, value, name) is not None:
            return True
        cls = classes.class_of(m, value)
        if cls is not None and classes.class_attribute(m, cls, name) is not None:
            return True
        return library.describes(m, value, name)
    if isinstance(value, ClassValue):
        return classes.class_attribute(m, value, name) is not None
    if isinstance(value, Function):
        return name.startswith("__") or carried.read(m, value, name) is not None
    if project.is_settings(m, value):
        return project.is_set(m, name, m.world.nowhere)
    return not isinstance(value, Const | Tuple)


def _hasattr(m: Machine, a: Arguments) -> Value:
    name = a.get(1)
    known = isinstance(name, Const) and has_attribute(m, a.first(), str(name.value))
    return Const.of(known or _set_elsewhere(m, a) is not None)


def _type(m: Machine, a: Arguments) -> Value:
    return classes.class_of(m, a.first()) or Unknown("a type")


def _callable(m: Machine, a: Arguments) -> Value:
    return Const.of(isinstance(a.first(), Function | ClassValue | External | Method | Partial | Callback))


def _int(m: Machine, a: Arguments) -> Value:
    base = a.get(1, "base")
    kind = partial(int, base=base.value) if isinstance(base, Const) and isinstance(base.value, int) else int
    return text.to_number(m, a.first(), a.site, kind) if a.positional else Const.of(0)


def _float(m: Machine, a: Arguments) -> Value:
    return text.to_number(m, a.first(), a.site, float) if a.positional else Const.of(0.0)


def _str(m: Machine, a: Arguments) -> Value:
    return text.as_text(m, a.first(), a.site, a.frame) if a.positional else Const.of("")


def _bool(m: Machine, a: Arguments) -> Value:
    return Const.of(m.truth(a.first(), a.site))


def _same(m: Machine, a: Arguments) -> Value:
    return a.first()


def _nothing(m: Machine, a: Arguments) -> Value:
    return Const.of(None)


def _hashed(m: Machine, a: Arguments) -> Value:
    if a.positional and any(isinstance(leaf, Minted | Reply) for leaf in leaves(a.first())):
        return Wrapped("hash", a.first())
    return a.first()


def _identity(m: Machine, a: Arguments) -> Value:
    return m.minted("counter", a.site, note="an address in this process")


def _map(m: Machine, a: Arguments) -> Value:
    return Generator(None, None, "map", (a.positional[0], a.positional[1])) if len(a.positional) > 1 else Unknown("map")


def _while(taking: bool) -> Primitive:
    def make(m: Machine, a: Arguments) -> Value:
        return (
            Generator(None, None, "while", (a.positional[0], a.positional[1], taking))
            if len(a.positional) > 1
            else Unknown("a loop")
        )

    return make


def _partial(m: Machine, a: Arguments) -> Value:
    return Partial(a.first(), a.positional[1:], tuple(a.keywords.items()))


def _gather(m: Machine, a: Arguments) -> Value:
    return Collection(0, tuple(Item(v) for v in a.positional), "gathered")


def _entered(m: Machine, a: Arguments) -> Value:
    """What a context manager gives that is entered by a call (`stack.enter_context(manager)`)."""
    manager = a.first()
    if isinstance(manager, Generator) and manager.kind == "function":
        return first_of(m, manager, a.site) or Const.of(None)
    method = classes.find_method(m, manager, "__aenter__") or classes.find_method(m, manager, "__enter__")
    if method is None:
        return library.entered(m, manager, a.site)
    from sselint.read.python.interpreter import calls

    return calls.awaited(m, calls.call(m, method, (), {}, a.site, a.frame), a.site)


PRIMITIVES: dict[str, Primitive] = {
    "next": _next, "anext": _next, "len": _len, "list": _list, "tuple": _tuple, "set": _set, "frozenset": _set,
    "dict": _dict, "iter": _iter, "aiter": _iter, "enumerate": lazy("enumerate"), "range": lazy("range"),
    "zip": lazy("zip"), "map": _map, "filter": lazy("filter", 2), "sorted": _sorted, "reversed": _reversed,
    "min": extremes.least, "max": extremes.greatest, "any": _quantified(True), "all": _quantified(False),
    "isinstance": _isinstance, "issubclass": _issubclass, "getattr": _getattr, "setattr": put_on.of_call,
    "hasattr": _hasattr, "type": _type, "callable": _callable, "int": _int, "float": _float, "str": _str,
    "repr": _str, "ascii": _str, "format": _same, "bytes": text.as_bytes, "bytearray": text.as_bytearray, "bool": _bool,
    "abs": _same, "round": _same, "sum": _same, "hex": _same, "oct": _same, "chr": _same, "ord": _same,
    "vars": own_attributes.of_call, "hash": _hashed, "id": _identity, "print": _nothing,
    "islice": _islice, "chain": _chain, "takewhile": _while(True), "dropwhile": _while(False), "partial": _partial,
    "gather": _gather, "waited": tasks.waited, "entered": _entered, "bisect": _bisect, "same": _same,
    "bisect_left": partial(_bisect, after=False),
    "memoryview": _same, "compress": lazy("compress", 2), "filterfalse": lazy("filterfalse", 2),
    "batched": lazy("batched"),
    "aenumerate": lazy("enumerate"), "object": lambda m, a: m.make("namespace", "namespace", a.site, a.frame),
}  # fmt: skip


def run(
    m: Machine, name: str, positional: tuple[Value, ...], keywords: dict[str, Value], site: Site, frame: Frame | None
) -> Value | None:
    """What a primitive gives, or None where there is none of that name."""
    primitive = PRIMITIVES.get(name)
    if primitive is None:
        return None
    if name in ("enumerate", "aenumerate"):
        positional = (positional[0],) if positional else ()
    return primitive(m, Arguments(positional, keywords, site, frame))
