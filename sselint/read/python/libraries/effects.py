"""Applies what the rules say of a call: one small function a verb."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from sselint.read.python.interpreter import (
    builtin_calls,
    calls,
    classes,
    containers,
    iteration,
    placeholders,
    queued,
    records,
    regular,
    tasks,
    text,
)
from sselint.read.python.interpreter.heap import MAX_VALUES, Object
from sselint.read.python.interpreter.machine import Arguments, Ended, Machine, Raised
from sselint.read.python.interpreter.values import (
    NO_ROW,
    Callback,
    ClassValue,
    Const,
    Exceptional,
    External,
    Function,
    Item,
    Minted,
    Partial,
    Ref,
    Reply,
    Tuple,
    Unknown,
    Value,
    Wrapped,
    leaves,
    stepped,
)
from sselint.read.python.libraries import ambient, gives, library, options, wire
from sselint.read.python.libraries.context import Context, bind_arguments
from sselint.read.python.rules import Effect
from sselint.read.python.source.modules import Site
from sselint.read.python.stores import asked, keyed, newest, relayed, rows, stores, tables, unique

NOTHING = Const.of(None)


def apply(m: Machine, effect: Effect, context: Context) -> Value:
    """What a call gives, after what it does."""
    if effect.get("listener") is not None:
        _listens(m, effect, context)
    return VERBS[effect.verb](m, effect, context)


def _listens(m: Machine, effect: Effect, c: Context) -> None:
    """Runs a function that a store calls with what is new: as the argument that the rules count, from 0."""
    function = c.argument(effect, "listener")
    if function is None or not isinstance(c.receiver, Ref):
        return
    heard = Reply(stores.store_of(m, c.receiver).id, "head", live=True, passed="told")
    before = tuple(Unknown("what a listener is told") for _ in range(int(effect.get("hears", 0))))
    calls.run_apart(m, calls.call(m, function, (*before, heard), {}, c.arguments.site, None), c.arguments.site)


# -- values --------------------------------------------------------------------------------------------------------


def _gives(m: Machine, effect: Effect, c: Context) -> Value:
    handler = gives.GIVES.get(effect.what)
    if handler is not None:
        return handler(m, effect, c)
    a = c.arguments
    found = builtin_calls.run(m, effect.what, a.positional, a.keywords, a.site, a.frame)
    if found is None and "." in effect.what:
        return External(effect.what)
    return found if found is not None else Unknown(f"`gives: {effect.what}`, which no primitive is called")


def _makes(m: Machine, effect: Effect, c: Context) -> Value:
    a = c.arguments
    chosen = c.argument(effect, "as")
    if isinstance(chosen, ClassValue):  # the caller names a class of the tree that is one of these
        return classes.instantiate(m, chosen, (), {}, a.site, a.frame)
    if effect.what in containers.KINDS:
        return _container(m, effect, c)
    entry = m.rules.entry(effect.what)
    if entry is None:
        return Unknown(f"`makes: {effect.what}`, which no rule describes")
    parent = c.receiver if isinstance(c.receiver, Ref) else None
    sign = HELD.get(str(effect.get("fields")))
    if sign is not None:  # `filter_by(id=1)`: each of them is a column that has to be equal, or must not be
        held: dict[str, Value] = {
            name: value if "__" in name else Wrapped(f"condition:{sign}:{name}", value)
            for name, value in a.keywords.items()
        }
        a = replace(a, keywords=held)
    parameters = effect.get("parameters")
    if parameters is not None:
        bound = bind_arguments(tuple(map(str, parameters)), a.positional, a.keywords)
        a = replace(a, positional=(), keywords=bound)
    only = effect.get("only")
    if only is not None and not _among(effect, only, a):
        return NOTHING
    made = library.make_object(m, entry, a, parent)
    if entry.options.get("opens") and isinstance(made, Ref) and wire.is_event_stream(m, made):
        m.note("stream", a.site)
    return Tuple((made, Unknown("what ends it"))) if effect.get("pair") else made


def _among(effect: Effect, only: Any, a: Arguments) -> bool:
    """Whether an argument is one of the values for which the rule holds."""
    for name, wanted in dict(only).items():
        value = a.keywords.get(name)
        if not isinstance(value, Const) or value.value not in wanted:
            return False
    return True


def _container(m: Machine, effect: Effect, c: Context) -> Value:
    """A list, dict or set of the process, perhaps filled, bounded or with a default factory."""
    a = c.arguments
    ref = m.make(effect.what, effect.what, a.site, a.frame)
    target = m.object(ref)
    bound = c.argument(effect, "bounded")
    if bound is not None and not (isinstance(bound, Const) and bound.value is None):
        target.bounded = a.site
    default = c.argument(effect, "default")
    if default is None and effect.get("otherwise"):
        default = External(str(effect.get("otherwise")))
    if default is not None and not isinstance(default, Const):
        target.default = default
    filled = c.argument(effect, "of")
    if filled is not None and effect.what != "dict":
        iteration.iterate(m, filled, a.site, lambda v: containers.add(m, ref, v, a.site, growing=False))
    elif filled is not None:
        for name, value in containers.known_entries(m, filled).items():
            containers.put(m, ref, Const.of(name), value, a.site, growing=False)
    return ref


def _mints(m: Machine, effect: Effect, c: Context) -> Value:
    """A value that is made. Of what begins at a seed that is written down, each process makes the same in its turn."""
    about = c.receiver.id if isinstance(c.receiver, Ref) else 0
    seed = library.argument(m, c.receiver, str(effect.get("key"))) if isinstance(c.receiver, Ref) else None
    seeded = isinstance(seed, Const) and seed.value is not None
    kind = str(effect.get("otherwise", effect.what)) if seeded else effect.what
    return m.minted(kind, c.arguments.site, about, str(effect.get("note", "made here")))


def _converts(m: Machine, effect: Effect, c: Context) -> Value:
    a = c.arguments
    value = c.argument(effect, "of", "0") or a.first()
    if effect.what == "json":
        return Wrapped("json", value)
    if effect.what == "from_json":
        return value.inner if isinstance(value, Wrapped) and value.form == "json" else value
    if effect.what == "match":
        pattern = c.argument(effect, "pattern", "0")
        if isinstance(c.receiver, Ref):
            pattern = library.argument(m, c.receiver, "pattern")
        subject = c.argument(effect, "text", "1")
        return regular.matched(m, pattern or Unknown("a pattern"), subject or a.first(), a.site)
    if effect.what == "split":
        return text.split(m, c.argument(effect, "text", "1") or a.first(), None, a.site)
    if effect.what == "number":
        written = isinstance(value, Const) and value.value is not None  # by whoever wrote it so that it can be read
        return value if written else text.to_number(m, value, a.site)
    if effect.what == "hash":
        key = c.argument(effect, "key")
        of_process = key is not None and any(isinstance(leaf, Minted) for leaf in leaves(key))
        return Wrapped("hash", text.join([key, value]) if key is not None and of_process else value)
    if effect.what == "condition":
        return Wrapped("condition", value)
    return value


# -- stores and queues ---------------------------------------------------------------------------------------------


def _read_before(m: Machine, site: Site) -> bool:
    """Whether this run has read there before."""
    return any(event.kind == "read" and event.site == site for event in m.trace)


def _reads(m: Machine, effect: Effect, c: Context) -> Value:
    receiver = _keeper(m, effect, c)
    if not isinstance(receiver, Ref):
        return Unknown(f"what {c.entry.name} holds")
    if effect.what == "queue":
        return _take(m, effect, c)
    held = m.overlay.attributes.get((receiver, LAST_ANSWER)) if not c.arguments.positional else None
    if effect.what == "sql" and isinstance(held, Reply):
        return asked.rows(effect, held)
    store = stores.store_of(m, receiver)
    named = [*_named(c), *asked.made_with(m, receiver)]
    given = [part for _, value in named for part in stores.parts(m, value)]
    telling = [value for name, value in named if name == effect.get("head_by")] if effect.get("head_by") else given
    from_head = stores.asks_for_head(telling, effect.get("head_at"))
    default = "head" if from_head else str(effect.get("default_selection", "all"))
    chosen = str(effect.get("selects") or stores.selection(given, default, lambda: _read_before(m, c.arguments.site)))
    if chosen == "compared":
        m.note("compare", c.arguments.site, other=Reply(store.id), phase="")
    m.note("read", c.arguments.site, container=store.id, shared=store.where in stores.COMMON)
    if store.where not in stores.SHARED_PLACES:
        return Unknown(f"what {c.entry.name} holds, whose place is not known")
    _may_fail(m, effect, c, store.label)
    if effect.get("by") == "key" and not keyed.holds(m, effect, store, named, c.arguments.site):
        return keyed.missing(effect, c.arguments.site)
    made = Reply(store.id, chosen, bool(effect.get("live")), passed=str(c.entry.options.get("passes_on", "")))
    made = replace(made, placed=effect.get("by") == "position", row=tables.row_class(given))
    question = asked.query(m, store, c.arguments.positional) if effect.what == "sql" else None
    made = replace(made, table=question.statement.table if question is not None else tables.asked_for(m, given))
    if effect.what == "sql" and question is None and c.arguments.positional:
        table, columns = rows.selected(m, c.arguments.positional[0])
        made = replace(made, table=made.table or table, columns=columns)
    orders = tuple(map(str, c.entry.options.get("compares", ())))
    terms = asked.terms(m, question, named, orders)
    made = replace(made, within=asked.within(terms, made.table))
    made = newest.behind(made, terms, bool(orders) or effect.what == "sql" or effect.get("by") == "question")
    if made.selection == "all":
        made = replace(made, selection=newest.asked_for(m, effect, question, named) or "all")
    if effect.what == "sql" or effect.get("by") == "question":
        made = _asked(m, effect, c, store, question, terms, made)
    answer = stepped(made, c.arguments.site, f"read from {store.label}")
    return asked.rows(effect, answer) if isinstance(answer, Reply) else answer


LAST_ANSWER = "the last answer"
HELD = {"keywords": "==", "left_out": "!="}
"""What columns that are given by keyword are held against their values with."""


def _asked(
    m: Machine,
    effect: Effect,
    c: Context,
    store: Object,
    question: asked.Query | None,
    terms: list[asked.Term],
    made: Reply,
) -> Reply:
    """The answer to a question that was put in a language of the store: nothing, where it asks for the entry of the
    cursor and there is none. A cursor of a database keeps it until its rows are fetched."""
    if question is not None:
        asked.put(m, store, question, c.arguments.site)
        made = replace(made, columns=question.statement.selects)
    elif effect.what == "sql":
        rows.by_statement(m, store, c.arguments.positional, c.arguments.site)
    made = replace(made, narrowed=asked.narrowed(terms))
    if asked.names_entry(question, terms) and not keyed.is_there(m, store, c.arguments.site):
        made = replace(made, selection=NO_ROW)
    if isinstance(c.receiver, Ref) and c.arguments.positional:
        m.overlay.attributes[(c.receiver, LAST_ANSWER)] = made
    return made


def _keeper(m: Machine, effect: Effect, c: Context) -> Value | None:
    """The object that stands for the store: the receiver, or a client that the rules name for what has none."""
    entry = m.rules.entry(str(effect.get("into"))) if effect.get("into") else None
    return library.make_object(m, entry, replace(c.arguments, positional=(), keywords={})) if entry else c.receiver


def _named(c: Context) -> list[tuple[str, Value]]:
    return [*((str(n), value) for n, value in enumerate(c.arguments.positional)), *c.arguments.keywords.items()]


def _may_fail(m: Machine, effect: Effect, c: Context, label: str) -> None:
    """Where the tree is prepared for a failure of the store, the failure is one of the ways to go."""
    if any(m.guarded) and effect.get("fails", True):
        site = c.arguments.site
        if m.once(2, ("failure", site), "failure", f"whether {label} answers", site) == 1:
            raise Raised(Exceptional(classes.STORE_FAILURE), site)


def _take(m: Machine, effect: Effect, c: Context) -> Value:
    """Takes the next element from a queue or channel: what arrives while the connection is open."""
    ref = c.receiver
    if not isinstance(ref, Ref):
        return Unknown("what a queue holds")
    linked = m.object(ref).details.get("queue")
    if isinstance(linked, Ref):
        ref = linked
    target = m.object(ref)
    waiting = m.overlay.items.get(ref, [])
    if m.own(ref):
        if not waiting:
            raise Ended
        item = waiting.pop(0)
        if len(waiting) == 0 and m.round > 1:
            waiting.append(item)
        else:
            m.queued += 1
        return queued.received(m, ref, item, c.arguments.site)
    if waiting and (waiting[0].source or ref.serial):
        # others know the queue too, and this request has put into it what it is to be told before all else
        m.queued += 1
        return queued.received(m, ref, waiting.pop(0), c.arguments.site)
    options = placeholders.without(m, dict.fromkeys([*(i.value for i in waiting), *target.elements]))[:MAX_VALUES]
    if not options:
        m.note("live", c.arguments.site, source=ref.id, fed="nothing")
        return Unknown(placeholders.UNFED + (target.label or "the queue"))
    value = options[m.choose(len(options), ("queue", ref.id, m.round), "value", "what comes next", c.arguments.site)]
    m.live = Item(value, ref.id, "live")
    given, mark = m.as_state(value, ref.id), isinstance(value, Const)
    m.note("live", c.arguments.site, source=ref.id, fed="", gave=given, mark=mark, timed=_lasts(c, effect))
    return given


def _writes(m: Machine, effect: Effect, c: Context) -> Value:
    if not isinstance(c.receiver, Ref | ClassValue):
        return Unknown(f"what {c.entry.name} gives")
    if effect.what == "store":
        return _stores(m, effect, c, c.receiver)
    a = c.arguments
    if not isinstance(c.receiver, Ref):
        return NOTHING
    if effect.what == "queue":
        containers.add(m, c.receiver, c.argument(effect, "of", "0") or a.first(), a.site)
        return NOTHING
    key, value = c.argument(effect, "key", "0"), c.argument(effect, "value", "1")
    if key is not None and value is not None:
        m.write_attribute(c.receiver, containers.name_of_key(key), value, a.site)
    return NOTHING


def _stores(m: Machine, effect: Effect, c: Context, receiver: Ref | ClassValue) -> Value:
    """Puts something into a store: an object, or a row by its columns where the rules call the keywords columns."""
    a = c.arguments
    keeper = _keeper(m, effect, c)
    if not isinstance(keeper, Ref):
        return Unknown(f"what {c.entry.name} gives")
    store = stores.store_of(m, keeper)
    about = [*a.positional, *((v for _, v in asked.made_with(m, receiver)) if isinstance(receiver, Ref) else ())]
    if keeper != receiver:
        about.append(receiver)
    by_column = effect.get("fields") == "keywords"
    given = about if by_column else [*about, *a.keywords.values()]
    relayed.published(m, store, given)
    _may_fail(m, effect, c, store.label)
    if effect.get("replaces"):
        unique.replaces(m, store, tables.asked_for(m, unique.classes_of(m, given)))
    stores.write(m, store, given, a.site, c.argument(effect, "explicit_id"), told=bool(effect.get("tells")))
    if by_column:
        rows.by_keyword(m, store, a.keywords, about, a.site)
    m.note("write", a.site, container=store.id)
    if store.grows is None and m.building:
        store.grows = a.site
    made = replace(m.minted("store", a.site, store.id, f"given out by {store.label}"), local=False)
    if effect.get("assigns") is not None:
        stored = c.argument(effect, "of") if effect.get("of") else receiver
        records.assigned(m, stored, list(map(str, effect.get("assigns"))), made, a.site)
    if effect.get("returns") == "id":
        return made
    return Reply(store.id, "part") if effect.get("returns") == "answer" else NOTHING


# -- the application -----------------------------------------------------------------------------------------------


def _registers(m: Machine, effect: Effect, c: Context) -> Value:
    """Registers a route, a mount, a middleware or a handler; where the handler is still to come, a decorator."""
    bound = c.bound(effect)
    values = {
        name: bound[str(effect.get(name))] for name in REGISTERED if effect.get(name) and str(effect.get(name)) in bound
    }
    values.update({f"with {k}": v for k, v in bound.items()})
    handler = values.get("handler")
    receiver = c.receiver
    if receiver is None and effect.get("into"):  # the library's own application
        receiver = ambient.the_one(m, str(effect.get("into")), c.arguments.site)
        if effect.what == "server":
            values.setdefault("target", receiver)
    bare = bound.get("0") if set(bound) == {"0"} else None
    if effect.get("handler") == "decorated" and isinstance(bare, Function):  # `@app.before_serving`, without brackets
        m.world.register(m, effect.what, receiver, bare, {}, effect, c.arguments.site)
        return bare
    if (handler is None and effect.get("handler") is not None) or effect.get("handler") == "decorated":
        return Callback("register", (effect, receiver, values, c.arguments.site))
    m.world.register(m, effect.what, receiver, handler, values, effect, c.arguments.site)
    return c.receiver if c.receiver is not None else NOTHING


REGISTERED = ("path", "handler", "target", "exception", "methods", "prefix")


def _runs(m: Machine, effect: Effect, c: Context) -> Value:
    """Runs something in a task or thread of its own, or at once (`awaits`), and perhaps gives its value."""
    a = c.arguments
    function = c.argument(effect, "of", "0") or a.first()
    rest = a.positional[1:] if effect.get("passes", False) else ()
    given = c.argument(effect, "args")
    if isinstance(given, Tuple):
        rest = given.items
    if effect.what == "here":
        named = a.keywords if effect.get("passes", False) else {}
        asked = isinstance(function, Unknown) and bool(rest or named)  # what it gives may depend on that
        value = calls.call(m, function, rest, named, a.site, a.frame) if asked or not _ready(function) else function
        result = calls.awaited(m, value, a.site)
        if m.trace and m.trace[-1].kind == "live" and _lasts(c, effect):
            m.trace[-1].data["timed"] = True
        return result
    if not _ready(function):  # it is called there: one that never returns is no end of what begins it
        function = Partial(function, tuple(rest), tuple(a.keywords.items()) if effect.get("passes") else ())
        if m.boot:  # it goes on when there is more than start-up has made: it is run again then
            m.world.register(m, "task", None, function, {}, effect, a.site)
    lasting = tasks.lasting(m, function) if m.building and not m.boot else None
    if lasting is not None:
        m.world.register(m, "lasting", None, lasting, {}, effect, a.site)
    return calls.run_apart(m, function, a.site)


def _lasts(c: Context, effect: Effect) -> bool:
    """Whether a wait ends by itself after a time that the call says."""
    limit = c.argument(effect, "otherwise") if effect.get("otherwise") else None
    return limit is not None and limit != NOTHING


def _ready(value: Value) -> bool:
    """Whether a value is what is to be waited for itself, and not something to be called for it."""
    return not calls.is_callable(value)


def _decorates(m: Machine, effect: Effect, c: Context) -> Value:
    """What a decorator makes of a function: the function itself, or one whose result is kept."""
    function = c.arguments.first()
    if effect.what in ("command", "option"):
        marks = options.decorator(effect, c)
        return options.mark(m, function, marks.data) if isinstance(function, Function) else marks
    if effect.what == "wraps":
        return Callback("wrap", function)
    if not isinstance(function, Function | Callback):
        return Callback("decorate", (effect, c.entry))
    return m.world.decorated(m, effect, function)


def _sends(m: Machine, effect: Effect, c: Context) -> Value:
    wire.send(m, effect, c)
    return NOTHING


def _begins(m: Machine, effect: Effect, c: Context) -> Value:
    """The head of a response leaves: of one that is an event stream by itself, or by its headers."""
    m.begun = True
    m.note("begin", c.arguments.site)
    if effect.what == "stream" or (isinstance(c.receiver, Ref) and wire.is_event_stream(m, c.receiver)):
        m.note("stream", c.arguments.site)
    return c.receiver or NOTHING


def _refuses(m: Machine, effect: Effect, c: Context) -> Value:
    status = c.argument(effect, "status", "0") or Const.of(effect.get("code", 500))
    raise Raised(Exceptional("refusal", (status,)), c.arguments.site)


VERBS: dict[str, Callable[[Machine, Effect, Context], Value]] = {
    "gives": _gives, "makes": _makes, "mints": _mints, "converts": _converts, "reads": _reads, "writes": _writes,
    "registers": _registers, "runs": _runs, "decorates": _decorates, "sends": _sends, "begins": _begins,
    "refuses": _refuses,
}  # fmt: skip
