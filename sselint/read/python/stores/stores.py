"""Stores outside the process, and queues inside: what was put in, what an answer holds, where it lives."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

from sselint.read.python.interpreter import calls, choices, containers, slices, text
from sselint.read.python.interpreter.heap import Object
from sselint.read.python.interpreter.values import (
    COUNTING,
    STORED,
    ClassValue,
    Collection,
    Const,
    Exceptional,
    Function,
    Input,
    Item,
    Join,
    Method,
    Minted,
    Partial,
    Ref,
    Reply,
    Tuple,
    Unknown,
    Value,
    Variable,
    Wrapped,
    leaves,
    mentions_cursor,
    settled,
    stepped,
)
from sselint.read.python.libraries import framed
from sselint.read.python.source import ir
from sselint.read.python.source.lower import walk
from sselint.read.python.stores import rows, tables, unique, writers

if TYPE_CHECKING:
    from sselint.read.python.interpreter.machine import Machine
    from sselint.read.python.rules import Entry
    from sselint.read.python.source.modules import Site

COMMON = frozenset({"shared", "pod_disk", "image"})
"""Places where more than one process finds the same."""
SHARED_PLACES = frozenset({"shared", "pod_disk", "image", "unknown", "process"})


def where_of(m: Machine, entry: Entry, bound: dict[str, Value]) -> str:
    """Where a library's object keeps things: as the rules say, as the address says that it is given, or where the one
    client is that the tree makes."""
    where = str(entry.options.get("where", "memory"))
    if where == "setting":
        places = {_place_at(m, entry, value) for value in _settings(m, list(map(str, entry.options["setting"])))}
        if not places and any(m.world.table.defining(word) for word in m.rules.word_list("project_settings")):
            places = {str(entry.options.get("unset", "unknown"))}
        return places.pop() if len(places) == 1 else "unknown"
    if where == "clients":
        names = {m.rules.canonical(str(name)) for name in entry.options["clients"]}
        made = {o.where for o in list(m.heap.objects.values()) if getattr(o.of, "name", "") in names}
        return made.pop() if len(made) == 1 else "unknown"
    if where != "address":
        return where
    return _place_at(m, entry, bound.get(str(entry.options.get("address", ""))))


def _settings(m: Machine, names: Sequence[str]) -> Iterator[Value]:
    """What modules of the tree set a name to that a framework reads from them, entry by entry downwards."""
    for path in m.world.table.defining(names[0]):
        module = m.world.table.at(path)
        m.world.load(module)
        for setting in choices.possible(m, module, names[0]):
            if _is_left_open(m, setting):
                continue
            held: Value | None = setting
            for name in names[1:]:
                if held is None or isinstance(held, Const | Variable):
                    break  # the address itself stands where its parts would
                held = containers.known_entries(m, held).get(name)
            yield held if held is not None else Unknown(f"what {names[0]} is")
    if len(names) == 1:
        entry = containers.name_of_key(Const.of(names[0]))
        for target in list(m.heap.objects.values()):  # `app.config[name] = value`
            yield from target.attributes.get(entry, ())


def _is_left_open(m: Machine, setting: Value) -> bool:
    """Whether a setting is a dict without entries: base settings leave it to those that build on them."""
    return isinstance(setting, Ref) and m.object(setting).kind == "dict" and not m.object(setting).pairs


def _place_at(m: Machine, entry: Entry, address: Value | None) -> str:
    """What the rules say of the place behind an address."""
    if isinstance(address, Variable):
        m.note("environment", None, name=address.name)
        address = m.world.settle(m, address)
    known = text_of(address)
    if known is None:
        return _as_written(m, entry) or str(entry.options.get("otherwise", "unknown"))
    for beginning, place in dict(entry.options.get("addresses", {})).items():
        whole = not beginning or beginning.endswith("$")
        if known == beginning.removesuffix("$") if whole else known.startswith(beginning):
            return str(place)
    return str(entry.options.get("otherwise", "shared"))


def _as_written(m: Machine, entry: Entry) -> str | None:
    """The place behind an address that nothing tells, where the tree is written for one kind of database alone."""
    for place, words in dict(entry.options.get("written_for", {})).items():
        wanted, unwanted = tuple(map(str, words["any"])), tuple(map(str, words["none"]))
        if m.world.table.holds(wanted) and not m.world.table.holds(unwanted):
            return str(place)
    return None


def text_of(value: Value | None) -> str | None:
    """Text that is written down, or the constant head of text that is put together."""
    if isinstance(value, Const) and isinstance(value.value, str):
        return value.value
    if isinstance(value, Join) and isinstance(value.parts[0], Const):
        return str(value.parts[0].value)
    if isinstance(value, Variable):
        return text_of(value.default)
    return None


def store_of(m: Machine, ref: Ref) -> Object:
    """The store behind an object: all clients that one unit has of one kind of store see the same things; a queue is
    itself. What another unit keeps in a store of that kind is another service's."""
    target = m.object(ref)
    if target.where not in SHARED_PLACES:
        return target
    holder = target
    for _ in range(6):
        parent = holder.details.get("parent")
        if not isinstance(parent, Ref):
            break
        holder = m.object(parent)
    library = getattr(holder.of, "library", holder.label)
    site = holder.site or target.site
    unit = site.module.source.unit if site is not None else ""
    found = m.heap.make(("store", library, target.where, unit), "shared", library, site, True)
    found.boot = True
    found.where = target.where
    options = getattr(holder.of, "options", {})
    found.label = str(options.get("called") or holder.label.partition(".")[0] or library)
    path = disk_path(holder)
    if path is not None:
        found.details.setdefault("path", Const.of(path))
    return found


def disk_path(target: Object) -> str | None:
    """The file behind a store on disk, where it is written down."""
    names = getattr(target.of, "options", {}).get("path_argument") or getattr(target.of, "options", {}).get("address")
    value = text_of(target.arguments.get(str(names))) if names else None
    if value is None:
        return None
    for beginning in ("sqlite+aiosqlite:///", "sqlite:///", "file:"):
        value = value.removeprefix(beginning)
    return value


# -- putting in ----------------------------------------------------------------------------------------------------


def write(
    m: Machine, store: Object, values: list[Value], site: Site, place: Value | None = None, told: bool = False
) -> None:
    """Records what is put into a store: by field where fields are named, else as a whole. `place` is where in a log the
    caller wants it; `told` says that listeners hear it."""
    if not m.building:
        return
    for value in values:
        named = writers.is_name(leaf for other in values if other is not value for leaf in parts(m, other))
        _record(m, store, value, site, writers.Filing(named, tuple(leaves(place)) if place is not None else ()))
        for leaf in parts(m, value):
            if isinstance(leaf, Minted):
                for name in ("put", "told") if told else ("put",):
                    m.heap.add(store.attributes.setdefault(name, {}), settled(stepped(leaf, site, STORED)))


def _record(m: Machine, store: Object, value: Value, site: Site, filing: writers.Filing, depth: int = 0) -> None:
    if isinstance(value, Wrapped):
        _record(m, store, value.inner, site, filing, depth)
    elif isinstance(value, Ref) and m.object(value).kind == "dict" and depth < 4:
        pairs = containers.all_pairs(m, value)
        named = [(str(key.value) if isinstance(key, Const) else "", entry) for key, entry in pairs]
        for (key, entry), kept in zip(pairs, writers.fields(m, named, filing), strict=True):
            if isinstance(key, Const):
                put_field(m, store, str(key.value), kept, site)
            else:
                _record(m, store, key, site, filing, depth + 1)
            _record(m, store, entry, site, filing, depth + 1)
    elif isinstance(value, Ref) and m.object(value).kind == "instance" and depth < 4:
        held = list(m.overlay.attributes_of(value).items())
        counted = any(_is_counted(own) for _, own in held)
        cls = m.object(value).of
        if counted and isinstance(cls, ClassValue):
            unique.by_class(m, store, cls)
        for (name, own), kept in zip(held, writers.fields(m, held, filing), strict=True):
            for table in tables.of_record(m, value):
                put_field(m, store, name, in_table(store, kept), site, table)
            if rows.holds_rows(m, own):
                _record(m, store, own, site, filing, depth + 1)
    elif isinstance(value, Ref) and m.object(value).kind in containers.KINDS and depth < 4:
        for item in m.overlay.items.get(value, []):
            _record(m, store, item.value, site, filing, depth + 1)
    elif isinstance(value, Tuple):
        for item_value in value.items:
            _record(m, store, item_value, site, filing, depth + 1)
    elif isinstance(value, Collection) and depth < 4:
        for item in value.items:
            _record(m, store, item.value, site, filing, depth + 1)
    elif isinstance(value, Join) and any(isinstance(leaf, Minted) for leaf in leaves(value)):
        kept = writers.marked(m, value, filing, ())
        framed.keep(m, store, kept, site)
        m.heap.add(store.attributes.setdefault("text", {}), settled(stepped(kept, site, STORED)))
    else:
        framed.keep(m, store, value, site)


def _is_counted(value: Value) -> bool:
    """Whether a value is, or holds, a number that a process counts."""
    return any(isinstance(leaf, Minted) and leaf.kind in COUNTING for leaf in leaves(value))


def in_table(store: Object, value: Value) -> Value:
    """A number that a process counts, as a column of a table: whether that takes one twice is for the table to say."""
    if not isinstance(value, Minted) or value.kind not in COUNTING:
        return value
    return replace(value, kind="counter", about=store.id)


def put_field(m: Machine, store: Object, name: str, value: Value, site: Site, table: str = "") -> None:
    """Records what the tree puts under a name: `id` of a document, `events.id` of a table; `table` is a record's."""
    if isinstance(value, Reply) and not value.passed:  # what another store, or a row of this one, has given out
        value = Minted("store", value.source, trail=value.trail)
    kept = value if any(isinstance(leaf, Minted) for leaf in leaves(value)) else Const.of(None)
    if isinstance(value, Const | Ref) and not isinstance(value, Minted):
        kept = Const.of(None)
    place = store.attributes.setdefault(tables.place_of(name, table), {})
    m.heap.add(place, settled(stepped(kept, site, STORED)))


def feeding(m: Machine, value: Value) -> str:
    """Where what is being put into a container comes from: "local", or the place of a store that is being read."""
    for item in reversed(m.current):
        if item.source and item.source in m.heap.objects and m.heap[item.source].where in SHARED_PLACES:
            return m.heap[item.source].where
    for leaf in leaves(value):
        if isinstance(leaf, Reply) and (leaf.live or leaf.passed == "told"):
            return m.heap[leaf.source].where
    if m.live is not None and m.live.source in m.heap.objects and m.heap[m.live.source].where in SHARED_PLACES:
        return m.heap[m.live.source].where
    return "local"


# -- answers -------------------------------------------------------------------------------------------------------


def reply_item(m: Machine, reply: Reply, index: Value) -> Value:
    """`answer[index]` or `answer.name`: a field that the tree wrote is that, any other is the store's own."""
    named = isinstance(index, Const) and isinstance(index.value, str)
    row = None if named else reply.row  # what a row holds under a name is no such row, be it another one
    held = replace(reply, live=False, row=row, turned=False)
    store = m.heap[reply.source]
    name = _column(reply, index)
    if name is None:
        return held
    options = tables.written(store, name, reply)
    shown = (writers.seen_by(v, reply.narrowed) for v in options if not isinstance(v, Const))
    made: list[Value] = [unique.seen(store, reply, name, v) for v in shown]
    if not made:
        return held
    if len(made) < len(options) and not any(map(_is_counted, made)):
        made.append(held)  # a session that nobody has revoked, beside those that somebody has at some time
    return made[m.once(len(made), ("field", store.id, name), "value", f"what {name} is") if len(made) > 1 else 0]


def _column(reply: Reply, index: Value) -> str | None:
    """The name under which the tree puts what an index or a name takes from an answer; None where it is not known."""
    if not isinstance(index, Const) or isinstance(index.value, bool):
        return None
    if isinstance(index.value, int) and 0 <= index.value < len(reply.columns):
        name = reply.columns[index.value][1]
    elif isinstance(index.value, str):
        name = dict(reply.columns).get(index.value, index.value)
    else:
        return None
    return f"{reply.table}.{name}" if reply.table else name


def reply_text(m: Machine, reply: Reply) -> Value | None:
    """Text that the tree put into a store, as it comes out again; None where it is not known or not one form."""
    options = list(m.heap[reply.source].attributes.get("text", ()))
    return options[0] if len(options) == 1 else None


def reply_method(
    m: Machine, reply: Reply, name: str, positional: tuple[Value, ...], keywords: dict[str, Value], site: Site
) -> Value:
    """A method of an answer: text is taken apart as it was put together; what else there is gives the answer again."""
    if reply.is_nothing:
        return _of_nothing(m, reply, name, positional, site)
    own = tables.own_member(m, reply, name, ("method", "staticmethod"))
    if own is not None:
        return calls.call(m, own, positional, keywords, site, None)
    of_row = rows.of_row(m, reply, name, positional, keywords, site)
    if of_row is not None:
        return of_row
    rows.taken_up(m, reply, positional, site)
    if name in ("partition", "rpartition", "split", "rsplit"):
        known = reply_text(m, reply)
        source: Value = known if known is not None else reply
        if known is None and name in ("partition", "rpartition"):
            return Tuple((reply, positional[0] if positional else Const.of(""), reply))
        found = text.method(m, source, name, positional, keywords, site)
        return found if found is not None else reply
    if name == "get" and positional:
        found = reply_item(m, reply, positional[0])
        if len(positional) > 1 and m.once(2, ("none", site), "condition", "whether there is an answer", site) == 1:
            return positional[1]
        return found
    if name in ("items",):
        inner = replace(reply, inner=True)
        return Collection(
            reply.source,
            tuple(Item(Tuple((inner, inner)), reply.source, p) for p in _phases(m, reply)),
            reply.selection,
        )
    turned = not text.is_method(name) and m.world.table.defines_method(name)
    return replace(reply, turned=True) if turned else reply


def _of_nothing(m: Machine, reply: Reply, name: str, positional: tuple[Value, ...], site: Site) -> Value:
    """A method of an answer that holds nothing: no row, no rows, or an error where one was demanded."""
    if name in m.rules.word_list("one_row"):
        return Const.of(None)
    if name in m.rules.word_list("demanded_row"):
        from sselint.read.python.interpreter.machine import Raised

        raise Raised(Exceptional(m.rules.word_list("no_row_found")[0]), site)
    if name == "get":
        return positional[1] if len(positional) > 1 else Const.of(None)
    return Tuple(()) if name in m.rules.word_list("all_rows") else reply


def _phases(m: Machine, reply: Reply) -> tuple[str, ...]:
    if reply.inner:
        return (m.phase(),)
    if reply.selection in ("compared", "located", "part"):
        return tuple(p for p in m.phases() if p in slices.LATER) or m.phases()[-1:]
    return m.phases()[-1:] if reply.selection == "head" else m.phases()


def member(m: Machine, ref: Ref, name: str) -> Value:
    """A member of a store's object that no rule names: a table, a collection, a sub-client."""
    return Method(ref, name)


# -- queries -------------------------------------------------------------------------------------------------------


def selection(given: Sequence[Value], default: str, again: Callable[[], bool] = lambda: False) -> str:
    """What a read takes, by the parts of what it is asked with: the cursor, or a position after the last one that was
    read. Where the same is asked `again`, what is not known may well be that position."""
    if any(mentions_cursor(leaf) for leaf in given):
        return "compared"
    if any(isinstance(leaf, Reply | Minted) for leaf in given):
        return "part"
    if any(isinstance(leaf, Input | Unknown) and getattr(leaf, "cursor", False) for leaf in given):
        return "compared"
    return "part" if any(isinstance(leaf, Unknown) for leaf in given) and again() else default


def asks_for_head(given: Sequence[Value], sign: object) -> bool:
    """Whether a read is told to begin behind all there is, by the sign that the store has for it (`$`). `given` are the
    parts of what it is asked with."""
    return sign is not None and Const.of(sign) in given


def told_cursor(m: Machine, given: Iterable[Value]) -> bool:
    """Whether a call is given the cursor, by itself or inside of what it is given."""
    return any(mentions_cursor(leaf) for value in given for leaf in parts(m, value))


@lru_cache(maxsize=4_096)
def _names(node: ir.FunctionNode | ir.Lambda) -> tuple[str, ...]:
    """The names that a function reads, in order: what the one that made it has under them, it is given with it."""
    read = walk(node.body if isinstance(node.body, tuple) else (node.body,))
    return tuple(dict.fromkeys(part.id for part in read if isinstance(part, ir.Name)))


def parts(m: Machine, value: Value, depth: int = 0) -> list[Value]:
    """What a value is made of, objects of containers and libraries taken apart, and functions with what they read."""
    if isinstance(value, Partial) and depth < 3:
        inner = (value.function, *value.positional, *(given for _, given in value.keywords))
        return [leaf for given in inner for leaf in parts(m, given, depth + 1)]
    if isinstance(value, Function) and value.scope is not None and depth < 3:
        found_there = [value.scope.variables[name] for name in _names(value.node) if name in value.scope.variables]
        return [value, *(leaf for given in found_there if given != value for leaf in parts(m, given, depth + 1))]
    if isinstance(value, Collection) and depth < 3:
        return [leaf for item in value.items for leaf in parts(m, item.value, depth + 1)]
    if isinstance(value, Ref) and depth < 3:
        target = m.object(value)
        if target.kind == "dict":
            return [
                leaf for pair in containers.all_pairs(m, value) for part in pair for leaf in parts(m, part, depth + 1)
            ]
        if target.kind in containers.KINDS:
            return [leaf for item in m.overlay.items.get(value, []) for leaf in parts(m, item.value, depth + 1)]
        if target.kind == "library":
            found: list[Value] = []
            for name in target.arguments:
                if name != "parent":
                    held = m.overlay.attributes.get((value, f"argument {name}"), target.arguments[name])
                    found.extend(parts(m, held, depth + 1))
            made_from = m.overlay.attributes.get((value, "argument parent"), target.details.get("parent"))
            if (
                isinstance(made_from, Ref) and getattr(target.of, "role", "") == "object"
            ):  # a statement, made step by step
                found.extend(parts(m, made_from, depth))
            return found
        return [leaf for held in m.overlay.attributes_of(value).values() for leaf in leaves(held)]
    if isinstance(value, Wrapped) and value.form.startswith("condition") and depth < 3:  # a question within another
        return [part for leaf in leaves(value) for part in parts(m, leaf, depth + 1)]
    return leaves(value)
