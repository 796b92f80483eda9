"""Methods of lists, dicts, sets and deques, and of views of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from sselint.read.python.interpreter import (
    builtin_calls,
    compare,
    containers,
    iteration,
    queued,
    representative,
    whose_keys,
)
from sselint.read.python.interpreter.machine import Arguments, Hypothesis, Machine, Raised
from sselint.read.python.interpreter.values import (
    Collection,
    Const,
    Exceptional,
    Position,
    Ref,
    Tuple,
    Unknown,
    Value,
)

NOTHING = Const.of(None)


def call(m: Machine, receiver: Value, name: str, a: Arguments) -> Value | None:
    """What a method of a container gives, or None where containers have none of that name."""
    handler = METHODS.get(name)
    return handler(m, receiver, a) if handler is not None else None


def _append(m: Machine, receiver: Value, a: Arguments) -> Value:
    return _put(m, receiver, a, "back")


def _prepend(m: Machine, receiver: Value, a: Arguments) -> Value:
    return _put(m, receiver, a, "front")


def _put(m: Machine, receiver: Value, a: Arguments, end: str) -> Value:
    if isinstance(receiver, Ref):
        containers.add(m, receiver, a.positional[-1] if a.positional else NOTHING, a.site)
        if m.building:
            m.object(receiver).added_at.add(end)
    return NOTHING


def _insert(m: Machine, receiver: Value, a: Arguments) -> Value:
    at_front = len(a.positional) == 2 and a.positional[0] == Const.of(0)
    return _prepend(m, receiver, a) if at_front else _append(m, receiver, a)


def _extend(m: Machine, receiver: Value, a: Arguments) -> Value:
    if isinstance(receiver, Ref) and m.object(receiver).kind == "dict":
        return _update(m, receiver, a)
    containers.extend(m, receiver, a.first(), a.site)
    return NOTHING


def _update(m: Machine, receiver: Value, a: Arguments) -> Value:
    if isinstance(receiver, Ref) and m.object(receiver).kind in ("set", "list"):
        for values in a.positional:
            containers.extend(m, receiver, values, a.site)
        return NOTHING
    if isinstance(receiver, Ref) and m.building and not m.boot and not m.own(receiver):
        m.object(receiver).grows = m.object(receiver).grows or a.site  # whatever the entries are
    whose_keys.take_over(m, receiver, a.positional)
    if not isinstance(receiver, Ref):
        return NOTHING
    for name, value in {**(containers.known_entries(m, a.first()) if a.positional else {}), **a.keywords}.items():
        containers.put(m, receiver, Const.of(name), value, a.site)
    given = a.first() if a.positional else None
    if isinstance(given, Ref):
        for key, value in [pair for pair in m.overlay.pairs.get(given, []) if not isinstance(pair[0], Const)]:
            containers.put(m, receiver, key, value, a.site)
    return NOTHING


def _get(m: Machine, receiver: Value, a: Arguments) -> Value:
    key = a.first()
    default = a.get(1, "default") or NOTHING
    if not isinstance(receiver, Ref) or m.object(receiver).kind != "dict":
        return Unknown("an entry of something that is not understood")
    found = containers.find(m, receiver, key, a.site)
    return default if found is None else found


def _setdefault(m: Machine, receiver: Value, a: Arguments) -> Value:
    found = containers.find(m, receiver, a.first(), a.site) if isinstance(receiver, Ref) else None
    if found is not None and not isinstance(found, Unknown):
        return found
    value = a.get(1, "default") or NOTHING
    if isinstance(receiver, Ref):
        containers.put(m, receiver, a.first(), value, a.site)
    return value


def _pop(m: Machine, receiver: Value, a: Arguments) -> Value:
    if not isinstance(receiver, Ref):
        view = iteration.view_of(m, receiver)
        return view.items[-1].value if view is not None and view.items else Unknown("an element of an empty list")
    if m.object(receiver).kind == "dict" and a.positional:
        found = containers.find(m, receiver, a.first(), a.site)
        if found is not None:
            _take(m, receiver, a.first())
            return found
        default = a.get(1, "default")
        if default is None:
            raise Raised(Exceptional("KeyError"), a.site)
        return default
    if a.positional and isinstance(a.first(), Const):
        containers.remove_item(m, receiver, a.first(), a.site)
    first = queued.first_out(m, receiver, a.site) if a.positional and a.first() == Const.of(0) else None
    return first or _some(m, receiver, a)


def _take(m: Machine, receiver: Ref, key: Value) -> None:
    """Removes an entry of a dict that the run itself made."""
    if m.own(receiver) and receiver in m.overlay.pairs:
        m.overlay.pairs[receiver] = [(k, v) for k, v in m.overlay.pairs[receiver] if k != key]


def _some(m: Machine, receiver: Ref, a: Arguments) -> Value:
    view = iteration.view_of(m, receiver)
    if view is None or not view.items:
        raise Raised(Exceptional("IndexError"), a.site)
    return view.items[0].value


def _popleft(m: Machine, receiver: Value, a: Arguments) -> Value:
    containers.remove_item(m, receiver, Const.of(0), a.site)
    if not isinstance(receiver, Ref):
        return Unknown("an element")
    return queued.first_out(m, receiver, a.site) or _some(m, receiver, a)


def _popitem(m: Machine, receiver: Value, a: Arguments) -> Value:
    containers.remove_item(m, receiver, Const.of(0), a.site)
    return Tuple((Unknown("a key"), Unknown("a value")))


def _items(m: Machine, receiver: Value, a: Arguments) -> Value:
    if not isinstance(receiver, Ref):
        return receiver
    if m.object(receiver).kind != "dict":
        return receiver
    return _dict_view(m, receiver, lambda key, value: Tuple((key, value)))


def _values(m: Machine, receiver: Value, a: Arguments) -> Value:
    return _dict_view(m, receiver, lambda key, value: value) if isinstance(receiver, Ref) else receiver


def _dict_view(m: Machine, ref: Ref, shape: Callable[[Value, Value], Value]) -> Value:
    pairs = containers.all_pairs(m, ref)
    if m.own(ref):
        placed = containers.placed_pairs(m, ref, shape)
        return Collection(next((i.source for i in placed if i.source), 0), tuple(placed))
    options = list(dict.fromkeys(shape(m.as_state(k, ref.id), m.as_state(v, ref.id)) for k, v in pairs))
    return representative.view(m, ref, options)


def _keys(m: Machine, receiver: Value, a: Arguments) -> Value:
    return receiver


def _copy(m: Machine, receiver: Value, a: Arguments) -> Value:
    return (
        receiver
        if isinstance(receiver, Ref) and m.object(receiver).kind == "dict"
        else builtin_calls.copied(m, receiver, a.site)
    )


def _union(m: Machine, receiver: Value, a: Arguments) -> Value:
    made = _copy(m, receiver, a)
    if a.positional and isinstance(made, Ref) and m.object(made).kind != "dict":
        for values in a.positional:
            iteration.iterate(m, values, a.site, lambda value: containers.add(m, made, value, a.site, growing=False))
    return made


def _index(m: Machine, receiver: Value, a: Arguments) -> Value:
    wanted = a.first()
    view = iteration.view_of(m, receiver)
    source = view.source if view is not None else 0
    if compare.is_cursor(m, wanted):
        hit = m.hypothesis is Hypothesis.KNOWN
        m.note("lookup", a.site, container=source, hit=hit)
        if not hit:
            raise Raised(Exceptional("ValueError"), a.site)
        return Position(source)
    if isinstance(wanted, Const):
        place = _written_place(m, receiver, wanted, view)
        if place is not None:
            return place
        raise Raised(Exceptional("ValueError"), a.site)
    return replace(m.minted("index", a.site, source), phase=m.phase())


def _written_place(m: Machine, receiver: Value, wanted: Const, view: Collection | None) -> Value | None:
    """The place of a constant in a list that is written down, None where it is not seen there; nobody knows it where
    something is added later."""
    options = [i.value for i in view.items] if view is not None else []
    if isinstance(receiver, Ref) and not m.own(receiver):
        options = list(m.object(receiver).elements)
    places = [n for n, option in enumerate(options) if isinstance(option, Const) and option.value == wanted.value]
    if not places:
        return None
    grows = isinstance(receiver, Ref) and (m.object(receiver).grows or not all(isinstance(o, Const) for o in options))
    return Unknown("a place in a list that something is added to") if grows else Const.of(places[0])


def _remove(m: Machine, receiver: Value, a: Arguments) -> Value:
    return NOTHING


def _clear(m: Machine, receiver: Value, a: Arguments) -> Value:
    if isinstance(receiver, Ref) and m.own(receiver):
        m.overlay.items[receiver] = []
        m.overlay.pairs[receiver] = []
    return NOTHING


def _count(m: Machine, receiver: Value, a: Arguments) -> Value:
    return Unknown("how often something is in a list")


METHODS: dict[str, Callable[[Machine, Value, Arguments], Value]] = {
    "append": _append, "appendleft": _prepend, "add": _append, "insert": _insert, "extend": _extend,
    "extendleft": _extend, "update": _update, "get": _get, "setdefault": _setdefault, "pop": _pop, "popleft": _popleft,
    "popitem": _popitem, "items": _items, "values": _values, "keys": _keys, "copy": _copy, "index": _index,
    "remove": _remove, "discard": _remove, "clear": _clear, "count": _count, "sort": _remove, "reverse": _remove,
    "union": _union, "intersection": _copy, "difference": _copy, "move_to_end": _remove, "rotate": _remove,
}  # fmt: skip
