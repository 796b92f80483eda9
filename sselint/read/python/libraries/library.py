"""What the names of libraries do, as `rules/python/` says: calls, methods, attributes of objects of libraries."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from sselint.read.python.interpreter import (
    builtin_calls,
    calls,
    choices,
    classes,
    containers,
    extended,
    inherited,
    iteration,
    methods,
    out_of_sight,
    regular,
    tasks,
    text,
)
from sselint.read.python.interpreter.machine import LOOP_ROUNDS, Arguments, Ended, Frame, Machine
from sselint.read.python.interpreter.queued import rounds
from sselint.read.python.interpreter.values import (
    ClassValue,
    Collection,
    Const,
    Exceptional,
    External,
    Function,
    Generator,
    Item,
    Method,
    Minted,
    Ref,
    Reply,
    Super,
    Tuple,
    Unknown,
    Value,
    Wrapped,
    mentions_cursor,
    settled,
)
from sselint.read.python.libraries import called_response, effects, places, project, statuses
from sselint.read.python.libraries.context import Context, bind_arguments
from sselint.read.python.rules import Effect, Entry
from sselint.read.python.source.modules import Site
from sselint.read.python.stores import relayed, stores, tables

BUILTIN = "builtins."


def make_dict(m: Machine, entries: dict[str, Value], site: Site, row: Reply | None = None) -> Value:
    """A dict of keyword arguments, with the columns of a row where one was spread."""
    ref = m.make("dict", "dict", site)
    for name, value in entries.items():
        containers.put(m, ref, Const.of(name), value, site, growing=False)
    if row is not None:
        containers.put(m, ref, row, row, site, growing=False)
    return ref


# -- names ---------------------------------------------------------------------------------------------------------


def external_attribute(m: Machine, external: External, name: str, site: Site | None) -> Value:
    """`library.name`: a dotted name, or what the rules say that reading it gives."""
    dotted = f"{external.name}.{name}"
    entry = m.rules.entry(external.name)
    if project.is_settings(m, external):
        return project.attribute(m, name, site or _nowhere(m))
    if entry is not None and name in entry.attributes:
        return effects.apply(
            m, entry.attributes[name], Context(None, entry, Arguments((), {}, site or _nowhere(m), None))
        )
    described = m.rules.entry(dotted)
    if described is not None and described.role == "value" and described.call is not None:
        return effects.apply(m, described.call, Context(None, described, Arguments((), {}, site or _nowhere(m), None)))
    if entry is not None and entry.method(name) is not None and described is None:
        return Method(external, name)
    return statuses.by_name(m, dotted) or External(dotted)


def value_of(m: Machine, external: External, site: Site) -> Value:
    """What a name of a library stands for, where the rules say that it is a value (`flask.g`)."""
    entry = m.rules.entry(external.name)
    if entry is None or entry.role != "value" or entry.call is None:
        return statuses.by_name(m, external.name) or external
    return effects.apply(m, entry.call, Context(None, entry, Arguments((), {}, site, None)))


def _nowhere(m: Machine) -> Site:
    return m.world.nowhere


def external_item(m: Machine, external: External, index: Value, site: Site) -> Value:
    """`library.name[index]`: a mapping such as `os.environ`, else a type parameter."""
    entry = m.rules.entry(external.name)
    effect = entry.method("__getitem__") if entry is not None else None
    if effect is None or entry is None:
        return external
    return effects.apply(m, effect, Context(external, entry, Arguments((index,), {}, site, None)))


def class_default(m: Machine, cls: ClassValue, name: str) -> Value:
    """An attribute that a class of the tree does not define: perhaps one of a library's base."""
    for base in classes.library_bases(m, cls):
        value = value_of(m, External(f"{base.name}.{name}"), _nowhere(m))
        if not is_mapped(m, cls):
            return value
        entry = m.rules.entry(value.name) if isinstance(value, External) else None
        called = entry is not None and entry.call is not None
        return Method(cls, name) if called else tables.of_class(m, cls, value)
    return Unknown(f"{name} of {cls.name}, which nothing in the tree sets")


# -- calls ---------------------------------------------------------------------------------------------------------


def call_external(
    m: Machine,
    function: External,
    positional: tuple[Value, ...],
    keywords: dict[str, Value],
    site: Site | None,
    frame: Frame | None,
) -> Value:
    """A call of a library's name."""
    where = site or _nowhere(m)
    name = function.name
    entry = m.rules.entry(name)
    arguments = Arguments(positional, keywords, where, frame)
    if entry is not None:
        if entry.call is not None:
            return effects.apply(m, entry.call, Context(None, entry, arguments))
        return make_object(m, entry, arguments)
    if name.startswith(BUILTIN):
        return _builtin(m, name.removeprefix(BUILTIN), arguments)
    given = inherited.by_name(m, name, arguments)
    if given is not None:
        return given
    holder, _, method = name.rpartition(".")
    owner = m.rules.entry(holder)
    effect = owner.method(method) if owner is not None else None
    if owner is not None and effect is not None:
        return effects.apply(m, effect, Context(None, owner, arguments))
    return _undescribed(m, name, arguments)


def _builtin(m: Machine, name: str, a: Arguments) -> Value:
    result = builtin_calls.run(m, name, a.positional, a.keywords, a.site, a.frame)
    if result is not None:
        return result
    if name == "super":
        return classes.make_super(a.frame) if a.frame is not None else Unknown("super() outside of a method")
    given = inherited.by_language(m, name, a)
    if given is not None:
        return given
    if name.endswith(("Error", "Exception", "Exit", "Interrupt", "Iteration", "Warning")):
        return Exceptional(name, a.positional)
    return Unknown(f"what {name} gives", any(mentions_cursor(v) for v in a.positional))


def _undescribed(m: Machine, name: str, a: Arguments) -> Value:
    given = (*a.positional, *a.keywords.values())
    if name.rpartition(".")[2].endswith(("Error", "Exception")):
        return Exceptional(name, a.positional)
    calls.run_handed(m, given, a.site)
    why = f"what {name} gives, which no rule describes"
    return Unknown(why, out_of_sight.handed(m, given, why))


def call_method(
    m: Machine,
    method: Method,
    positional: tuple[Value, ...],
    keywords: dict[str, Value],
    site: Site | None,
    frame: Frame | None,
) -> Value:
    """`receiver.name(...)` where the receiver is not an object of a class of the tree."""
    receiver, name = method.receiver, method.name
    where = site or _nowhere(m)
    a = Arguments(positional, keywords, where, frame)
    if isinstance(receiver, Super | ClassValue):
        return inherited.of_super(m, receiver, name, a)
    if isinstance(receiver, External):
        entry = m.rules.entry(receiver.name)
        effect = entry.method(name) if entry is not None else None
        if entry is not None and effect is not None:
            return effects.apply(m, effect, Context(receiver, entry, a))
        return _undescribed(m, f"{receiver.name}.{name}", a)
    if isinstance(receiver, Ref) and m.object(receiver).kind not in containers.KINDS:
        return object_method(m, receiver, name, a)
    if isinstance(receiver, Ref):
        found = extended.inherited(m, receiver, name, a)
        return found if found is not None else _on_value(m, receiver, name, a)
    if isinstance(receiver, Collection):
        found = methods.call(m, receiver, name, a)
        return found if found is not None else _on_value(m, receiver, name, a)
    if isinstance(receiver, Tuple):
        view = iteration.view_of(m, receiver)
        found = methods.call(m, view, name, a) if view is not None else None
        return found if found is not None else _on_value(m, receiver, name, a)
    return _on_value(m, receiver, name, a)


def _on_value(m: Machine, receiver: Value, name: str, a: Arguments) -> Value:
    if isinstance(receiver, Wrapped) and receiver.form.startswith("match:"):
        return regular.method(m, receiver, name, a)
    if isinstance(receiver, Function):
        return _function_method(m, receiver, name, a)
    if isinstance(receiver, Generator):
        found = tasks.method(m, receiver, name, a)
        return found if found is not None else Unknown(f"what {name} gives", stores.told_cursor(m, a.positional))
    if isinstance(receiver, text.LIKE_TEXT):
        found = text.method(m, receiver, name, a.positional, a.keywords, a.site)
        if found is not None:
            return found
    if isinstance(receiver, Minted):
        return receiver
    if isinstance(receiver, Collection) and receiver.items and all(isinstance(i.value, Reply) for i in receiver.items):
        return receiver  # text of a store that was cut: a method gives the same again, as it does of the whole answer
    if isinstance(receiver, Const) and receiver.value is None:
        from sselint.read.python.interpreter.machine import Raised

        raise Raised(Exceptional("AttributeError"), a.site)
    given = (receiver, *a.positional, *a.keywords.values())
    return Unknown(f"what {name} gives", stores.told_cursor(m, given))


def _function_method(m: Machine, receiver: Function, name: str, a: Arguments) -> Value:
    """A function that a decorator left as it is may have gained methods: `task.delay(...)` runs it elsewhere."""
    if name in m.rules.word_list("run_elsewhere"):
        calls.run_apart(m, calls.call(m, receiver, a.positional, a.keywords, a.site, a.frame), a.site)
    return Unknown(f"{name} of {receiver.name}", stores.told_cursor(m, (*a.positional, *a.keywords.values())))


# -- objects -------------------------------------------------------------------------------------------------------


def make_object(m: Machine, entry: Entry, a: Arguments, parent: Ref | None = None) -> Value:
    """An object of a library."""
    bound = bind_arguments(entry.parameters, a.positional, a.keywords)
    if entry.role in ("http_error", "exception"):
        return Exceptional(entry.name, (*a.positional, *(Tuple((Const.of(k), v)) for k, v in a.keywords.items())))
    kind = "namespace" if entry.role == "namespace" else "library"
    ref = m.make(kind, entry, a.site, a.frame, entry.name)
    target = m.object(ref)
    target.label = entry.name
    where = stores.where_of(m, entry, bound)
    given = bound.get(str(entry.options.get("through")))
    if parent is None and isinstance(given, Ref):
        parent = given  # a session is where its engine is
    target.where = where if parent is None or where != "memory" else m.object(parent).where
    if parent is None and "through" in entry.options:
        bare = given is None or (isinstance(given, Const) and given.value is None)
        target.where = str(entry.options.get("otherwise", "unknown")) if bare else "unknown"
    for name, value in bound.items():
        m.overlay.attributes[(ref, f"argument {name}")] = value
        if m.building or not m.own(ref):
            m.escape(value)
        target.arguments.setdefault(name, settled(value))
        if m.building:
            m.heap.add(target.given.setdefault(name, {}), settled(value))
            m.world.choices.wrote((target.id, f"argument {name}"), settled(value), m.oracle.decisions)
    if parent is not None:
        target.details.setdefault("parent", parent)
        m.overlay.attributes[(ref, "argument parent")] = parent
    return ref


def argument(m: Machine, ref: Ref, name: str) -> Value | None:
    """An argument that an object of a library was made with. Whether it got one at all may be open (`store if keep else
    None`): then the oracle picks."""
    place = (ref, f"argument {name}")
    found = m.overlay.attributes.get(place)
    if found is not None:
        return found
    target = m.object(ref)
    if name == "parent":
        return target.details.get("parent")
    options = [v for v in target.given.get(name, ()) if isinstance(v, Ref) or v == Const.of(None)]
    if len(options) < 2:
        return target.arguments.get(name)
    picked = choices.picked(m, (ref.id, place[1]), options, f"the {name} of {target.label}", target.site)
    m.overlay.attributes[place] = picked
    return picked


def use(m: Machine, ref: Ref, what: str) -> Value | None:
    """What an object of a library was given as `what` ("body", "status"), by the parameter that the rules name."""
    entry = entry_of(m, ref)
    name = entry.uses.get(what) if entry is not None else None
    if name is None:
        return None
    found = argument(m, ref, name)
    spread = argument(m, ref, "**") if found is None else None
    if isinstance(spread, Reply):
        return stores.reply_item(m, spread, Const.of(name))
    return found if spread is None else spread


def entry_of(m: Machine, value: Value) -> Entry | None:
    """The rule that describes an object: of its own class, or of the nearest library base of its class of the tree."""
    if not isinstance(value, Ref):
        return None
    of = m.object(value).of
    if isinstance(of, Entry):
        return of
    if isinstance(of, ClassValue):
        for base in classes.library_bases(m, of):
            entry = m.rules.entry(base.name)
            if entry is not None:
                return entry
    return None


def role_of(m: Machine, value: Value) -> str:
    """The role of an object of a library, "" if it has none."""
    entry = entry_of(m, value)
    return entry.role if entry is not None else ""


def is_mapped(m: Machine, cls: ClassValue) -> bool:
    """Whether a class of the tree stands for a table."""
    entries = (m.rules.entry(base.name) for base in classes.library_bases(m, cls))
    return any(entry is not None and bool(entry.options.get("mapped")) for entry in entries)


def is_foreign(m: Machine, cls: ClassValue) -> bool:
    """Whether a class of the tree inherits from one of a library that no rule describes: it may stand for a table."""
    bases = classes.library_bases(m, cls)
    return any(m.rules.entry(base.name) is None and not base.name.startswith(BUILTIN) for base in bases)


def is_column(m: Machine, value: Value) -> bool:
    """Whether a value is a column of a mapped class: comparing it gives a condition of a query, not a truth value."""
    if isinstance(value, External):
        owner = m.rules.entry(value.name.rpartition(".")[0])
        return owner is not None and owner.role == "model" and bool(owner.options.get("mapped"))
    return role_of(m, value) in ("column", "dataclass_field")


def is_a(m: Machine, ref: Ref, name: str) -> bool:
    """Whether an object is of a library's class, by name."""
    entry, wanted = entry_of(m, ref), m.rules.entry(name)
    return entry is not None and (wanted.name if wanted is not None else name) == entry.name


def describes(m: Machine, ref: Ref, name: str) -> bool:
    """Whether the rules know an attribute or method of an object."""
    entry = entry_of(m, ref)
    return entry is not None and (name in entry.methods or name in entry.attributes)


def object_attribute(m: Machine, ref: Ref, name: str, site: Site) -> Value | None:
    """An attribute of an object that a library describes, None where it does not."""
    target = m.object(ref)
    entry = entry_of(m, ref)
    if entry is None:
        return Method(ref, name) if target.kind == "namespace" and places.has(m, ref, name) else None
    if name in entry.attributes:
        return effects.apply(m, entry.attributes[name], Context(ref, entry, Arguments((), {}, site, None)))
    if target.kind == "instance" and name in entry.parameters:
        return argument(m, ref, name) or Const.of(None)
    if entry.method(name) is not None:
        return Method(ref, name)
    if "*" in entry.attributes:
        asked = Arguments((Const.of(name),), {}, site, None)  # the name is what tells one from the other
        return effects.apply(m, entry.attributes["*"], Context(ref, entry, asked))
    if target.kind == "library":
        given = argument(m, ref, name)
        if given is not None:
            return given
        return Method(ref, name) if target.where == "memory" else stores.member(m, ref, name)
    return None


def object_method(m: Machine, ref: Ref, name: str, a: Arguments) -> Value:
    """A method of an object that a library describes."""
    entry = entry_of(m, ref)
    effect = entry.method(name) if entry is not None else None
    if entry is not None and effect is not None:
        return effects.apply(m, effect, Context(ref, entry, a))
    if m.object(ref).kind == "namespace":
        return places.method(m, ref, name, a) or methods.call(m, ref, name, a) or Unknown(f"what {name} gives")
    if entry is not None:
        label = entry.name.rpartition(".")[2]
        given = (*a.positional, *a.keywords.values())
        calls.run_handed(m, given, a.site)
        return Unknown(f"what {name} of {label} gives, which no rule describes", stores.told_cursor(m, given))
    return Unknown(f"what {name} gives")


def call_object(
    m: Machine,
    ref: Ref,
    positional: tuple[Value, ...],
    keywords: dict[str, Value],
    site: Site | None,
    frame: Frame | None,
) -> Value:
    """A call of an object of a library. A response that is called as an application is sent."""
    if called_response.sent(m, ref, positional, site):
        return Const.of(None)
    return object_method(m, ref, "__call__", Arguments(positional, keywords, site or _nowhere(m), frame))


def object_item(m: Machine, ref: Ref, index: Value, site: Site) -> Value:
    """`object[index]` of an object of a library."""
    return object_method(m, ref, "__getitem__", Arguments((index,), {}, site, None))


def entered(m: Machine, manager: Value, site: Site) -> Value:
    """What `with manager as value` gives: by default the manager itself."""
    if isinstance(manager, Ref):
        entry = entry_of(m, manager)
        effect = entry.method("__enter__") if entry is not None and "__enter__" in entry.methods else None
        if entry is not None and effect is not None:
            return effects.apply(m, effect, Context(manager, entry, Arguments((), {}, site, None)))
    return manager


def awaited_object(m: Machine, ref: Ref, site: Site | None) -> Value:
    """`await object`: what the rules say, else the object."""
    entry = entry_of(m, ref)
    effect = entry.methods.get("__await__") if entry is not None else None
    if entry is not None and effect is not None:
        return effects.apply(m, effect, Context(ref, entry, Arguments((), {}, site or _nowhere(m), None)))
    return ref


def iterate(m: Machine, ref: Ref, site: Site | None, body: Callable[[Value], None]) -> None:
    """A loop over an object of a library: a counter, a queue, a subscription, an answer."""
    entry = entry_of(m, ref)
    effect = entry.methods.get("__iter__") if entry is not None else None
    if entry is None or effect is None:
        body(Unknown("an element of an object that is not understood"))
        return
    where = site or _nowhere(m)
    if effect.verb == "mints":
        for _ in range(LOOP_ROUNDS):
            body(next_of(m, ref, where))
        raise Ended
    if effect.get("live"):
        _listen(m, ref, entry, effect, where, body)
        raise Ended
    value = effects.apply(m, effect, Context(ref, entry, Arguments((), {}, where, None)))
    if value == ref:
        body(Unknown("an element of an object that is not understood"))
    else:
        iteration.iterate(m, value, site, body)


def _listen(m: Machine, ref: Ref, entry: Entry, effect: Effect, site: Site, body: Callable[[Value], None]) -> None:
    """A loop over what arrives while it runs; where it was told to begin at the cursor, what is behind that first.

    Whatever it makes is made then, also in a task that start-up began.
    """
    boot, m.boot = m.boot, False
    try:
        for number in rounds(m):
            m.round, outer = max(m.round, number + 1), m.round
            value = effects.apply(m, effect, Context(ref, entry, Arguments((), {}, site, None)))
            if isinstance(value, Reply) and value.selection == "compared" and number == 0:
                m.round = outer
                iteration.iterate(m, replace(value, live=False), site, body)
            if isinstance(value, Reply):
                with m.looking_at(Item(value, value.source, "live", "head")):
                    body(replace(value, inner=True, live=False))
            else:
                body(value)
            m.round = outer
    finally:
        m.boot = boot


def next_of(m: Machine, ref: Ref, site: Site | None) -> Value:
    """`next(object)`."""
    entry = entry_of(m, ref)
    effect = entry.methods.get("__iter__") if entry is not None else None
    if entry is not None and effect is not None and effect.verb == "mints":
        return m.minted(effect.what, site, ref.id, effect.get("note", "made here"))
    if entry is not None and effect is not None:
        return effects.apply(m, effect, Context(ref, entry, Arguments((), {}, site or _nowhere(m), None)))
    return Unknown("the next element of an object that is not understood")


kept = relayed.kept
reply_item = stores.reply_item
own_member = tables.own_member
