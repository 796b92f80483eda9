"""Values that the rules say a call gives (`gives: header`): one small function each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sselint.read.python.interpreter import calls, compare, containers, iteration, records, text
from sselint.read.python.interpreter.machine import LOOP_ROUNDS, Arguments, Ended, Frame, Hypothesis, Machine, Raised
from sselint.read.python.interpreter.values import (
    ClassValue,
    Const,
    Exceptional,
    External,
    Input,
    Method,
    Partial,
    Ref,
    Reply,
    Scope,
    Tuple,
    Unknown,
    Value,
    mentions_cursor,
)  # fmt: skip
from sselint.read.python.libraries import (
    ambient,
    environment,
    library,
    mcp,
    options,
    project,
    queries,
    record_classes,
    templates,
    validated,
)
from sselint.read.python.libraries.context import Context
from sselint.read.python.rules import Effect

NOTHING = Const.of(None)


def _self(m: Machine, effect: Effect, c: Context) -> Value:
    return c.receiver if c.receiver is not None else NOTHING


def _argument(m: Machine, effect: Effect, c: Context) -> Value:
    found = c.argument(effect, "of", "0")
    default = c.argument(effect, "default")
    if found is None and effect.get("otherwise") is not None:  # without one it makes a new one
        return m.minted(str(effect.get("otherwise")), c.arguments.site)
    return found if found is not None else default if default is not None else NOTHING


def _const(m: Machine, effect: Effect, c: Context) -> Value:
    return Const.of(effect.get("value"))


def _until(m: Machine, effect: Effect, c: Context) -> Value:
    """What a wait gives that lasts until a function says yes, or for a time that was given: it is asked like the test
    of a loop, and where it never says yes nothing comes after the wait."""
    test, site = c.argument(effect, "of", "0"), c.arguments.site
    if m.building or test is None or not calls.is_callable(test):
        return Const.of(True)
    for _ in range(LOOP_ROUNDS):
        said = calls.awaited(m, calls.call(m, test, (), {}, site, c.arguments.frame), site)
        if isinstance(said, Unknown) or m.truth(said, site):
            return Const.of(True)
        if c.argument(effect, "otherwise") is not None:
            return Const.of(False)
    raise Ended


def _pushed(m: Machine, effect: Effect, c: Context) -> Value:
    """What a function puts into a container that it is given."""
    into, value = c.argument(effect, "into", "0"), c.argument(effect, "of", "1")
    if isinstance(into, Ref) and value is not None:
        containers.add(m, into, value, c.arguments.site)
    return NOTHING


def _input(m: Machine, effect: Effect, c: Context) -> Value:
    return Input(str(effect.get("name") or f"the client's {c.entry.name.rpartition('.')[2]}"))


def _unknown(m: Machine, effect: Effect, c: Context) -> Value:
    given = (*c.arguments.positional, *c.arguments.keywords.values())
    return Unknown(str(effect.get("note") or f"what {c.entry.name} gives"), any(mentions_cursor(v) for v in given))


def _header(m: Machine, effect: Effect, c: Context) -> Value:
    return _sent(m, effect, c, "header")


def _query(m: Machine, effect: Effect, c: Context) -> Value:
    return _sent(m, effect, c, "query")


def _sent(m: Machine, effect: Effect, c: Context, carrier: str) -> Value:
    name = c.argument(effect, "key", "0") if effect.get("name") is None else Const.of(effect.get("name"))
    default = c.argument(effect, "default", "1") or c.arguments.keywords.get("default")
    value = m.world.sent(m, carrier, name, default or NOTHING, c.arguments.site)
    if c.arguments.get(2, "type") == External("builtins.int") and not isinstance(value, Const):
        try:
            value = text.to_number(m, value, c.arguments.site)
        except Raised:  # what cannot be converted counts as not sent
            value = default or NOTHING
    return _present(value, effect, c) if default is None else value


def _present(value: Value, effect: Effect, c: Context) -> Value:
    """What was sent; where nothing was, `headers[name]` raises unless the rules say otherwise."""
    if effect.get("missing") == "raises" and isinstance(value, Const) and value.value is None:
        raise Raised(Exceptional("KeyError"), c.arguments.site)
    return value


def _variable(m: Machine, effect: Effect, c: Context) -> Value:
    fixed = Const.of(effect.get("name")) if effect.get("name") else None
    name = c.argument(effect, "key", "0") or fixed
    default = c.argument(effect, "default", "1")
    if not isinstance(name, Const):
        return Unknown("an environment variable whose name is computed")
    return environment.named(m, str(name.value), default if default is not None else NOTHING, c.arguments.site)


def _image(m: Machine, effect: Effect, c: Context) -> Value:
    key = ("store", "image", c.arguments.site)
    found = m.heap.make(key, "shared", "image", c.arguments.site, True)
    found.where, found.label = "image", "a file that every process has"
    return Reply(found.id)


def _copied(m: Machine, effect: Effect, c: Context) -> Value:
    """A record with other fields: the changes are a dict that `of` names, or else the keywords. The record is the
    receiver, or else the first argument; its constructor runs again where the rules say so."""
    changes = dict(c.arguments.keywords)
    record = c.receiver or c.arguments.first()
    if effect.get("of") is not None:
        given = c.argument(effect, "of") or NOTHING
        if not isinstance(given, Ref | Const):
            return Unknown("a copy whose changes are not known")
        changes = dict(containers.known_entries(m, given)) if isinstance(given, Ref) else {}
    if "**" in changes:
        return Unknown("a copy whose changes are not known")
    return records.copied(m, record, changes, c.arguments.site, made_anew=bool(effect.get("anew")))


def _element(m: Machine, effect: Effect, c: Context) -> Value:
    """Some element of what the object was made with, or of an argument."""
    source = c.argument(effect, "of")
    if source is None and isinstance(c.receiver, Ref):
        source = library.use(m, c.receiver, "items")
    view = iteration.view_of(m, source) if source is not None else None
    return view.items[-1].value if view is not None and view.items else Unknown("an element")


def _used(m: Machine, effect: Effect, c: Context) -> Value:
    """What the object was made with."""
    found = library.argument(m, c.receiver, str(effect.get("of"))) if isinstance(c.receiver, Ref) else None
    return found if found is not None else NOTHING


def _attribute(m: Machine, effect: Effect, c: Context) -> Value:
    """What was stored under a key of an object of a library (a session, an application): by the key's name."""
    key = c.argument(effect, "key", "0")
    if not isinstance(c.receiver, Ref) or key is None:
        return Unknown("a stored attribute")
    found = m.read_attribute(c.receiver, containers.name_of_key(key), c.arguments.site)
    default = c.argument(effect, "default", "1")
    return (
        found
        if found is not None
        else default
        if default is not None
        else Unknown("an entry that nothing in the tree sets")
    )


HELD = "[held]"


def _hold(m: Machine, effect: Effect, c: Context) -> Value:
    """Sets a context variable."""
    if isinstance(c.receiver, Ref):
        m.write_attribute(c.receiver, HELD, c.arguments.first(), c.arguments.site)
    return NOTHING


def _held(m: Machine, effect: Effect, c: Context) -> Value:
    """What a context variable holds: what this run has set; else its default, or what the tree sets, where something
    may have done so on the way here that was not followed: none by default is there to be set by its own file."""
    if not isinstance(c.receiver, Ref):
        return Unknown("a context variable")
    mine = m.overlay.attributes.get((c.receiver, HELD))
    default = c.arguments.get(0, "default") or library.argument(m, c.receiver, "default")
    if mine is not None:
        return mine
    site = c.arguments.site
    target = m.object(c.receiver)
    set_here = target.site is not None and ".set(" in target.site.module.source.text
    is_set = bool(target.attributes.get(HELD)) or (default == NOTHING and set_here)
    if default is not None and is_set:
        is_set = m.once(2, ("context", c.receiver.id), "condition", "whether a context variable is set", site) == 0
    if not is_set and default is not None:
        return default
    return m.read_attribute(c.receiver, HELD) or Unknown("a context variable")


def _application(m: Machine, effect: Effect, c: Context) -> Value:
    """The application that serves the request."""
    found = m.request.get("application")
    entry = m.rules.entry(str(effect.get("otherwise"))) if found is None and effect.get("otherwise") else None
    if entry is not None:
        found = m.request["application"] = library.make_object(m, entry, c.arguments)
    return found if found is not None else Unknown("the application of the request")


def _method(m: Machine, effect: Effect, c: Context) -> Value:
    """The request's method: GET on paper, any while the program is being built."""
    return Input("the request's method") if m.building else Const.of("GET")


def _header_pairs(m: Machine, effect: Effect, c: Context) -> Value:
    """All headers: the one that matters, and another. That they are gone through does not yet say that it is read."""
    raw = effect.get("raw", True)
    name: Any = b"last-event-id" if raw else "last-event-id"
    value = m.world.sent(m, "header", Const.of(name), NOTHING, c.arguments.site)
    m.trace[-1].data["among_others"] = True
    other = Tuple((Const.of(b"accept" if raw else "accept"), Input("header accept")))
    if isinstance(value, Const) and value.value is None:
        return Tuple((other,))
    return Tuple((Tuple((Const.of(name), value)), other))


def _header_names(m: Machine, effect: Effect, c: Context) -> Value:
    """The names of all headers, which say nothing of what a client holds."""
    other = Const.of("accept")
    return Tuple((other,) if m.hypothesis is Hypothesis.MISSING else (Const.of("last-event-id"), other))


def _scope(m: Machine, effect: Effect, c: Context) -> Value:
    """An entry of an ASGI scope."""
    key = c.argument(effect, "key", "0")
    name = key.value if isinstance(key, Const) else None
    if name == "type":
        return Const.of("http")
    if name == "method":
        return _method(m, effect, c)
    if name == "headers":
        entry = m.rules.entry("sselint.header_list")
        return (
            library.make_object(m, entry, Arguments((), {}, c.arguments.site, None)) if entry is not None else NOTHING
        )
    if name in ("state", "extensions"):
        return m.world.request_state(m, c.arguments.site)
    if name == "app":
        return _application(m, effect, c)
    return Input(f"the request's {name or 'scope'}")


def _environ(m: Machine, effect: Effect, c: Context) -> Value:
    """An entry of a WSGI environ."""
    key, default = c.argument(effect, "key", "0"), c.argument(effect, "default", "1")
    if isinstance(key, Const) and key.value == "REQUEST_METHOD":
        return _method(m, effect, c)
    value = m.world.sent(m, "environ", key, default or NOTHING, c.arguments.site)
    return _present(value, effect, c) if default is None else value


def _named_input(m: Machine, effect: Effect, c: Context) -> Value:
    key = c.argument(effect, "key", "0")
    return Input(f"path parameter {key.value}" if isinstance(key, Const) else "something that the client sent")


def _channel_pair(m: Machine, effect: Effect, c: Context) -> Value:
    """The two ends of a channel in memory."""
    entry = m.rules.entry("queue.Queue")
    made = (
        library.make_object(m, entry, Arguments((), {}, c.arguments.site, c.arguments.frame))
        if entry is not None
        else NOTHING
    )
    return Tuple((made, made))


def _asgi_of(m: Machine, effect: Effect, c: Context) -> Value:
    """An ASGI application that hands every request to an object of the SDK."""
    return Method(c.arguments.first(), "handle_request")


def _begun(m: Machine, effect: Effect, c: Context) -> Value:
    """Whether the head of the response has left."""
    return Const.of(m.begun)


def _sessions(m: Machine, effect: Effect, c: Context) -> Value:
    """The sessions that a manager knows."""
    return mcp.sessions(m, c.receiver) if isinstance(c.receiver, Ref) else NOTHING


def _place(m: Machine, effect: Effect, c: Context) -> Value:
    """A namespace that belongs to an object: the state of an application. Or a dict, `as` the rules say."""
    owner = c.receiver.id if isinstance(c.receiver, Ref) else 0
    name, kind = str(effect.get("name")), str(effect.get("as", "namespace"))
    made = m.heap.make(("place", owner, name, c.entry.name if not owner else ""), kind, kind, c.arguments.site, True)
    made.boot, made.label = True, name
    return Ref(made.id)


def _collect(m: Machine, effect: Effect, c: Context) -> Value:
    """Text that is added to a buffer."""
    if isinstance(c.receiver, Ref):
        key = (c.receiver, "argument collected")
        held = m.overlay.attributes.get(key) or library.argument(m, c.receiver, "initial") or Const.of("")
        m.overlay.attributes[key] = text.join([held, c.arguments.first()])
    return NOTHING


def _collected(m: Machine, effect: Effect, c: Context) -> Value:
    """All that was added to a buffer so far."""
    found = m.overlay.attributes.get((c.receiver, "argument collected")) if isinstance(c.receiver, Ref) else None
    return found if found is not None else Const.of("")


def _prepared(m: Machine, effect: Effect, c: Context) -> Value:
    """The class itself, whose objects are made with the arguments, all but the one that `name`s the handler."""
    a, named = c.arguments, effect.get("name")
    first = 1 if named is not None and named not in a.keywords else 0
    made, given = c.receiver or NOTHING, a.positional[first:]
    keywords = {name: value for name, value in a.keywords.items() if name != named}
    return Partial(made, given, tuple(keywords.items())) if given or keywords else made


def _object(m: Machine, effect: Effect, c: Context) -> Value:
    """An object of the class of the tree that is asked for one."""
    from sselint.read.python.interpreter import classes

    if not isinstance(c.receiver, ClassValue):
        return _unknown(m, effect, c)
    return classes.instantiate(m, c.receiver, (), {}, c.arguments.site, c.arguments.frame)


def _response(m: Machine, effect: Effect, c: Context) -> Value:
    """A response made of `body`, `(body, status, headers)` or those as arguments, of which all but the first may be
    left out; what is one already stays itself."""
    a = c.arguments
    first = a.first()
    given = (*(first.items if isinstance(first, Tuple) else (first,)), *a.positional[1:])
    entry = m.rules.entry(str(effect.get("as")))
    if entry is None or (library.role_of(m, given[0]) == "response" and len(given) == 1):
        return given[0]
    named = {"headers" if isinstance(value, Ref | Tuple) else "status": value for value in given[1:]}
    return library.make_object(m, entry, Arguments(given[:1], {**named, **a.keywords}, a.site, a.frame))


def _configured(m: Machine, effect: Effect, c: Context) -> Value:
    """The object itself, which from here on has arguments more: a position that was sought, an offset. `of` is one
    argument, which `name` may call otherwise, or a list of them."""
    of = effect.get("of", "0")
    wanted = {name: name for name in of} if isinstance(of, list) else {str(effect.get("name", of)): of}
    given = c.bound(effect)
    for name, argument in wanted.items():
        if isinstance(c.receiver, Ref) and str(argument) in given:
            m.overlay.attributes[(c.receiver, f"argument {name}")] = given[str(argument)]
            m.object(c.receiver).arguments.setdefault(name, NOTHING)
    return c.receiver or NOTHING


def _called(m: Machine, effect: Effect, c: Context) -> Value:
    """What a method of the argument `of` gives, the first one unless that is said, by the name of the method; the other
    arguments are the method's."""
    from sselint.read.python.interpreter import calls, classes

    a, name = c.arguments, str(effect.get("of", "0"))
    bound = c.bound(effect)
    owner = bound.pop(name, a.first())
    others = tuple(value for key, value in bound.items() if key not in a.keywords)
    keywords = {key: value for key, value in a.keywords.items() if key != name}
    method = classes.attribute(m, owner, str(effect.get("name")), a.site, a.frame)
    return calls.call(m, method, others, keywords, a.site, a.frame)


def _imported(m: Machine, effect: Effect, c: Context) -> Value:
    """A module by its dotted name, or what a module holds by its dotted path: of the tree, else of a library."""
    name = c.arguments.first()
    if not isinstance(name, Const) or not isinstance(name.value, str):
        return Unknown("what is imported by a name that is computed")
    package = c.arguments.get(1, "package")
    home = package.value if isinstance(package, Const) else c.arguments.site.module.name
    return project.named(m, _absolute(name.value, str(home)), c.arguments.site)


def _absolute(name: str, package: str) -> str:
    """The name of a module that may be said from where its package stands, with a dot for each step up."""
    dots = len(name) - len(name.lstrip("."))
    if not dots:
        return name
    parts = package.split(".")
    return ".".join([*parts[: len(parts) - dots + 1], name[dots:]]).strip(".")


def _compared(m: Machine, effect: Effect, c: Context) -> Value:
    """Whether `of sign value`, asked by a function."""
    a = c.arguments
    one, other = (c.argument(effect, "of", "0"), c.argument(effect, "value", "1"))
    if one is None or other is None:
        return Unknown("how two values compare that are not seen")
    frame = a.frame or Frame(a.site.module, Scope(a.site.module, {}))
    return Const.of(compare.holds(m, str(effect.get("sign", "==")), one, other, a.site, frame))


def _version(m: Machine, effect: Effect, c: Context) -> Value:
    """The version of the interpreter: some Python 3."""
    return Tuple((Const.of(3), Unknown("the minor version of Python")))


GIVES: dict[str, Callable[[Machine, Effect, Context], Value]] = {
    "self": _self, "argument": _argument, "const": _const, "until": _until, "pushed": _pushed, "input": _input,
    "unknown": _unknown,
    "header": _header, "query": _query, "variable": _variable, "image": _image, "element": _element, "copied": _copied,
    "used": _used, "entry": _attribute,
    "application": _application, "nothing": lambda m, e, c: NOTHING,
    "method": _method, "header_pairs": _header_pairs, "header_names": _header_names, "scope": _scope,
    "environ": _environ, "place": _place,
    "named_input": _named_input, "configured": _configured, "response": _response, "prepared": _prepared,
    "object": _object,
    "collect": _collect, "collected": _collected, "begun": _begun, "sessions": _sessions,
    "channel_pair": _channel_pair, "asgi_of": _asgi_of, "called": _called, "imported": _imported,
    "compared": _compared, "version": _version, "option": options.added, "hold": _hold, "held": _held,
    "record_class": record_classes.record_class, "namespace": record_classes.namespace,
    "as_tuple": record_classes.as_tuple, "validated": validated.validated, "dumped": validated.dumped,
    "address": queries.address, "parsed": queries.parsed, "query_values": queries.values, "query_pairs": queries.pairs,
    "substituted": templates.substituted, "fields": record_classes.fields,
    "one": lambda m, e, c: ambient.the_one(m, str(e.get("as")), c.arguments.site),
    "state": lambda m, e, c: m.world.request_state(m, c.arguments.site),
}  # fmt: skip
