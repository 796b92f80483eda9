"""Lists, dicts, sets and deques: what is put in, what is found, what a slice takes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sselint.read.python.interpreter import (
    at_cursor,
    calls,
    choices,
    classes,
    columns,
    compare,
    iteration,
    last,
    oldest,
    placeholders,
    records,
    rings,
    services,
    whose_keys,
)
from sselint.read.python.interpreter.heap import MAX_VALUES, lookup_pair
from sselint.read.python.interpreter.kept import as_kept
from sselint.read.python.interpreter.machine import Frame, Hypothesis, Machine, Raised
from sselint.read.python.interpreter.values import (
    COUNTING,
    FIRST,
    STORED,
    Collection,
    Const,
    Cursor,
    Exceptional,
    Input,
    Item,
    Join,
    Length,
    Minted,
    Position,
    Ref,
    Reply,
    Tuple,
    Unknown,
    Value,
    Variable,
    mentions_cursor,
    stepped,
)
from sselint.read.python.libraries import library
from sselint.read.python.source.modules import Site

KINDS = ("list", "dict", "set")


def is_container(m: Machine, value: Value) -> bool:
    """Whether a value is a list, dict, set or a view of one."""
    return isinstance(value, Collection | Tuple) or (isinstance(value, Ref) and m.object(value).kind in KINDS)


# -- putting in ----------------------------------------------------------------------------------------------------


def add(m: Machine, ref: Ref, value: Value, site: Site, growing: bool = True, item: Item | None = None) -> None:
    """Appends an element."""
    where = item or (m.current[-1] if m.current else Item(value))
    m.overlay.items.setdefault(ref, []).append(Item(value, where.source, where.phase))
    if m.own(ref):
        return
    m.escape(value)
    if not m.building:
        return
    target = m.object(ref)
    m.heap.add_element(target, as_kept(m, stepped(value, site, STORED)), written=m.boot or not growing)
    if growing and not m.boot:
        target.grows = target.grows or site
    library.kept(m, target, value)


def name_of_key(key: Value) -> str:
    """A key as the name of an attribute: mappings of a library are kept by key."""
    if isinstance(key, Const):
        return f"[{key.value!r}]"
    return f"[#{key.id}]" if isinstance(key, Ref) else "[?]"


def put(
    m: Machine, ref: Ref, key: Value, value: Value, site: Site, growing: bool = True, origin: Item | None = None
) -> None:
    """`ref[key] = value` of a list, dict or set; `origin` is the element that the value was made from."""
    target = m.object(ref)
    if target.kind == "list":
        add(m, ref, value, site, growing)
        return
    m.overlay.pairs.setdefault(ref, []).append((key, value))
    m.overlay.origins.setdefault(ref, []).append(origin or (m.current[-1] if m.current else Item(key)))
    there = m.overlay.known.get(("lookup", ref.id, key)) == 0
    if not there:
        m.note("adopt", site, container=ref.id)
    if m.own(ref):
        return
    m.escape(value)
    if m.building:
        stored = as_kept(m, stepped(value, site, STORED))
        held = dict.fromkeys(k for k, _ in target.pairs) if there else {}
        for name in held or (whose_keys.put(m, key, site),):  # what is replaced keeps the key that it had
            m.heap.add_pair(target, name, stored)
        m.world.choices.wrote((target.id, name_of_key(key)), stored, m.oracle.decisions)
        if growing and not m.boot:
            target.grows = target.grows or site
        library.kept(m, target, value)


def all_elements(m: Machine, ref: Ref) -> list[Value]:
    """What is known to be in a list or set, or the keys of a dict: of the process, and of this run."""
    target = m.object(ref)
    added = (item.value for item in m.overlay.items.get(ref, ()))
    return [*target.elements, *added, *(key for key, _ in (*target.pairs, *m.overlay.pairs.get(ref, ())))]


def placed_pairs(m: Machine, ref: Ref, shape: Callable[[Value, Value], Value]) -> list[Item]:
    """The pairs that this run has put into a dict, each where the element stands that it was made from."""
    pairs, origins = m.overlay.pairs.get(ref, []), m.overlay.origins.get(ref, [])
    if len(origins) != len(pairs):
        return [Item(shape(key, value)) for key, value in pairs]
    return [
        Item(shape(key, value), origin.source, origin.phase)
        for (key, value), origin in zip(pairs, origins, strict=True)
    ]


def remove_item(m: Machine, receiver: Value, key: Value, site: Site) -> None:
    """`del receiver[key]`, `popleft()` and the like: a container that drops its oldest is bounded."""
    if isinstance(receiver, Ref) and m.object(receiver).kind in KINDS and not m.own(receiver):
        oldest = isinstance(key, Unknown) or (isinstance(key, Const) and key.value == 0)
        if oldest and m.building:
            target = m.object(receiver)
            target.bounded = target.bounded or site


def extend(m: Machine, receiver: Value, values: Value, site: Site) -> None:
    """Adds all elements of `values`."""
    if isinstance(receiver, Ref):
        iteration.iterate(m, values, site, lambda value: add(m, receiver, value, site))


def concatenate(m: Machine, left: Value, right: Value, site: Site, in_place: bool) -> Value:
    """`left + right`, `left | right`, `left += right`."""
    if in_place and isinstance(left, Ref):
        if m.object(left).kind == "dict":
            whose_keys.take_over(m, left, (right,))
            for name, value in known_entries(m, right).items():
                put(m, left, Const.of(name), value, site)
        else:
            extend(m, left, right, site)
        return left
    if isinstance(left, Tuple) and isinstance(right, Tuple):
        return Tuple((*left.items, *right.items))
    if isinstance(left, Ref) and m.object(left).kind == "dict":
        ref = m.make("dict", "dict", site)
        whose_keys.take_over(m, ref, (left, right))
        for source in (left, right):
            for name, value in known_entries(m, source).items():
                put(m, ref, Const.of(name), value, site, growing=False)
        return ref
    views = [iteration.view_of(m, v) for v in (left, right)]
    items = tuple(item for view in views if view is not None for item in view.items)
    if m.building:
        return made_of(m, items, site)
    main = max((v for v in views if v is not None), key=lambda v: (v.source != 0, v.selection != "all"), default=None)
    return Collection(main.source if main else 0, items, main.selection if main else "all")


def repeated(m: Machine, value: Value) -> Value:
    """`[None] * size`: a list of so many places is the list of what will stand in them, and empty until then."""
    held = m.overlay.items.get(value, []) if isinstance(value, Ref) and m.own(value) else []
    if isinstance(value, Ref) and held and all(item.value == Const.of(None) for item in held):
        m.overlay.items[value] = []
        m.object(value).elements.pop(Const.of(None), None)
    return value


def made_of(m: Machine, items: Sequence[Item], site: Site, kind: str = "list", frame: Frame | None = None) -> Ref:
    """A list or set of these elements, each from where it stood: one that was put together anew may be kept."""
    made = m.make(kind, kind, site, frame)
    for item in items:
        add(m, made, item.value, site, growing=False, item=item)
    return made


def table(m: Machine, written: Tuple, site: Site, frame: Frame) -> Value:
    """A tuple of records or texts at the top of a module is the table that a list of them would be: their places are
    one thing for all who send them."""
    held = [v for v in written.items if isinstance(v, Tuple | Ref | Const)]
    if not m.boot or len(held) < 2 or len(held) < len(written.items):
        return written
    made = m.make("list", "list", site, frame)
    for value in held:
        add(m, made, value, site, growing=False)
    return made


def known_entries(m: Machine, value: Value) -> dict[str, Value]:
    """The entries of a dict whose keys are written down."""
    found: dict[str, Value] = {}
    if isinstance(value, Ref) and m.object(value).kind == "dict":
        if not m.own(value):
            for key, item in m.object(value).pairs:
                if isinstance(key, Const) and isinstance(key.value, str):
                    found[key.value] = item
        for key, item in m.overlay.pairs.get(value, []):
            if isinstance(key, Const) and isinstance(key.value, str):
                found[key.value] = item
    return found


def all_pairs(m: Machine, ref: Ref) -> list[tuple[Value, Value]]:
    """The entries of a dict, as far as they are known."""
    base = [] if m.own(ref) else list(m.object(ref).pairs)
    return [*base, *m.overlay.pairs.get(ref, [])]


# -- finding -------------------------------------------------------------------------------------------------------


def entry(m: Machine, ref: Ref, index: Value, site: Site, frame: Frame) -> Value:
    """What a list, dict or set has under an index. Raises what Python raises where it has nothing there."""
    target = m.object(ref)
    if target.kind != "dict":
        view = iteration.view_of(m, ref)
        return element(m, view, index, site) if view is not None else Unknown("an element of a list")
    value = find(m, ref, index, site)
    if value is not None:
        return value
    missing = classes.find_method(m, ref, "__missing__")
    if missing is not None:
        return calls.call(m, missing, (index,), {}, site, frame)
    if target.default is None:
        raise Raised(Exceptional("KeyError"), site)
    made = calls.call(m, target.default, (), {}, site, frame)
    put(m, ref, index, made, site)  # asking makes what is asked for
    return made


def element(m: Machine, view: Collection, index: Value, site: Site) -> Value:
    """`view[index]`."""
    if not view.items:
        raise Raised(Exceptional("IndexError"), site)
    if isinstance(index, Const) and isinstance(index.value, int):
        if view.source == 0 and not -len(view.items) <= index.value < len(view.items):
            raise Raised(Exceptional("IndexError"), site)
        if not view.source:
            return view.items[index.value].value
        first = index.value == 0
        found = view.items[0 if first else -1]
        if m.round and not m.building and (first or (m.live is not None and isinstance(m.live.at, Const))):
            m.live = Item(found.value, view.source, found.phase, at=index) if first else None  # counted on from there
        if index.value == -1:
            return last.element(m, view)
        return oldest.element(m, found.value, first and not m.building and found.phase in oldest.EARLIEST)
    if isinstance(index, Cursor):
        m.note("compare", site, other=index, phase="")
        if m.hypothesis is Hypothesis.FOREIGN:
            raise Raised(Exceptional("IndexError"), site)
    if rings.is_place(index):
        m.note("compare", site, other=index, phase="")
    phase = index.phase if isinstance(index, Minted) else _beside(index) if isinstance(index, Position) else m.phase()
    other = view.items[0] if phase == FIRST else view.items[-1]
    chosen = next((i for i in view.items if i.phase == phase), other)
    if view.source and not m.building:
        added = m.round > 1 and isinstance(index, Length) and not index.less  # what was the end when it was asked for
        m.live = Item(chosen.value, view.source, last.LIVE if added else chosen.phase, at=index)
    return at_cursor.element(m, chosen.value, chosen.phase, site)


def _beside(place: Position) -> str:
    return "after" if place.after else at_cursor.AT


def find(m: Machine, ref: Ref, key: Value, site: Site) -> Value | None:
    """The value under a key of a dict, or None for a miss. A miss of a key that the client chose is one way to go."""
    if isinstance(key, Variable):
        key = m.world.settle(m, key)
    if isinstance(key, Variable):
        options = [v for _, v in all_pairs(m, ref)] or [Unknown("an entry that an environment variable names")]
        label = f"the entry that {key.name} names"
        return options[m.once(len(options), ("variable", key.name, ref.id), "environment", label, site)]
    held = services.entries(m, all_pairs(m, ref), key)
    if held is not None:
        return m.as_state(_one_of(m, ref, held, site), ref.id) if held else None
    if isinstance(key, Const):
        known, place = lookup_pair(all_pairs(m, ref), key), (ref.id, name_of_key(key))
        several = _made_apart(m, ref, key)
        if _to_be_made(m, ref, key, site):
            return None
        if several:
            return choices.picked(m, place, several, str(key.value), site)
        if known is not None or m.own(ref) or not m.object(ref).grows:
            found = columns.of_copy(m, ref, key) if known is None and m.own(ref) else known
            return found if found is None or m.own(ref) or m.object(ref).boot else columns.as_state(m, found, ref.id)
    if isinstance(key, Input):
        put = next((v for k, v in reversed(m.overlay.pairs.get(ref, [])) if k == key), None)
        if put is not None:  # by this very run: what the client chose is there now, whatever a lookup said before
            return put
    pairs = all_pairs(m, ref)
    if isinstance(key, Const) and 0 < len(pairs) < MAX_VALUES and all(isinstance(k, Const) for k, _ in pairs):
        return None  # every entry that is ever made has another name
    carried = next((v for k, v in pairs if m.own(ref) and compare.carries(k, key)), None)
    if carried is not None:
        return carried
    values = placeholders.without(m, (v for _, v in pairs))
    if m.own(ref) and not values:
        return None
    if not has_key(m, ref, key, site):
        return None
    if not values:
        return placeholders.unfilled(m.object(ref).label or "it", mentions_cursor(key))
    value = _one_of(m, ref, values, site)
    other = rings.another(m, ref, key, value)
    if other is not None:
        return other
    if compare.is_cursor(m, key):
        found = at_cursor.element(m, located(m, ref, value), at_cursor.AT, site)
        number = (isinstance(key, Cursor) and key.number) or rings.is_place(key)
        if number and not m.building and not isinstance(found, Ref):
            m.live = Item(found, ref.id, "after", at=key)  # where it was counted on, the event after it
        return found
    if isinstance(key, Minted) and key.kind in ("counter", "index") and not m.own(ref) and not m.building:
        m.live = Item(value, ref.id, key.phase if key.phase in m.phases() else m.phase())
    return m.as_state(value, ref.id)


def _one_of(m: Machine, ref: Ref, values: list[Value], site: Site) -> Value:
    if len(values) == 1:
        return values[0]
    return values[m.once(len(values), ("value", ref.id), "value", "which entry", site)]


def _to_be_made(m: Machine, ref: Ref, key: Const, site: Site) -> bool:
    """Whether a name is taken for missing while the program is built, since other settings of the environment may put
    something else there: runs that find what the first one made would never see that."""
    place = (ref.id, name_of_key(key))
    if not m.building or m.own(ref) or not m.world.choices.is_open(place):
        return False
    if lookup_pair(m.overlay.pairs.get(ref, []), key) is not None:
        return False
    return m.once(2, ("unmade", *place), "value", "whether it is made yet", site) == 1


def _made_apart(m: Machine, ref: Ref, key: Const) -> list[Value]:
    """The objects under a name of which each was put there by runs that put no other one: which is there, something
    chose that the tree does not settle. None where there is one, or this run has put it there itself."""
    if m.own(ref) or lookup_pair(m.overlay.pairs.get(ref, []), key) is not None:
        return []
    held = [v for k, v in reversed(m.object(ref).pairs) if k == key]
    return held if len(held) > 1 and choices.implementations(m, held) else []


def located(m: Machine, ref: Ref, value: Value) -> Value:
    """What a lookup by the cursor gives: a number there is a place in the log."""
    if isinstance(value, Length):
        return Position(value.about)
    if isinstance(value, Minted) and value.kind in COUNTING:
        return Position(value.about or ref.id)
    if isinstance(value, Const) and type(value.value) is int:
        return Position(ref.id)
    return value


def has_key(m: Machine, ref: Ref, key: Value, site: Site) -> bool:
    """Whether a container has a key or element that is not written down in it."""
    if compare.is_cursor(m, key):
        hit = m.hypothesis is Hypothesis.KNOWN or (rings.is_place(key) and not m.building and rings.is_taken(m, site))
        if m.building:
            hit = m.choose(2, ("lookup", site), "condition", "whether the cursor is known", site) == 0
        m.note("lookup", site, container=ref.id, hit=hit)
        return hit
    held = services.entries(m, all_pairs(m, ref), key)
    if held is not None:
        return bool(held)
    key = _by_fields(m, key)
    if key == Const.of(None) and not any(isinstance(k, Unknown | Input | Variable) for k, _ in all_pairs(m, ref)):
        return lookup_pair(all_pairs(m, ref), key) is not None  # nothing is filed under no name
    if not any(isinstance(leaf, Input | Unknown | Reply) for leaf in (key, *_inner(key))):
        return not _still_empty(m, ref)
    memory = ("lookup", ref.id, key)
    if memory not in m.overlay.known:  # the same answer for the whole run, but each place must see both
        place = (*memory, site) if m.building else memory
        first = int(_still_empty(m, ref))  # what fills it comes first
        m.overlay.known[memory] = m.choose(2, place, "lookup", "whether there is such an entry", site, first)
    hit = m.overlay.known[memory] == 0
    m.note("guard", site, container=ref.id, key=key, hit=hit)
    return hit


def _still_empty(m: Machine, ref: Ref) -> bool:
    """Whether nothing has been seen to fill a container yet: then what is made where a key is missing is still to
    come, also for a key that this process minted."""
    target = m.object(ref)
    held = target.pairs or target.elements or m.overlay.pairs.get(ref) or m.overlay.items.get(ref)
    return m.building and not m.hopeful and not m.own(ref) and not held


def _by_fields(m: Machine, key: Value) -> Value:
    """A record as a key is what its fields are: two that say the same are one key."""
    fields = records.tuple_fields(m, key)
    return Tuple(tuple(fields)) if fields else key


def _inner(key: Value) -> tuple[Value, ...]:
    return key.items if isinstance(key, Tuple) else key.parts if isinstance(key, Join) else ()
