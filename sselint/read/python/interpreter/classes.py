"""Classes of the tree: defining, instantiating, attributes, inheritance, exceptions."""

from __future__ import annotations

import builtins
from collections.abc import Iterator
from dataclasses import replace

from sselint.read.python.interpreter import carried, choices, extended, placeholders, singletons, text
from sselint.read.python.interpreter.machine import Arguments, Frame, Machine
from sselint.read.python.interpreter.values import (
    Body,
    ClassValue,
    Const,
    Descriptor,
    Exceptional,
    External,
    Function,
    Input,
    Method,
    Minted,
    ModuleValue,
    Partial,
    Ref,
    Reply,
    Scope,
    Super,
    Tuple,
    Unknown,
    Value,
    Variable,
    mentions_cursor,
)
from sselint.read.python.libraries import library, proxies
from sselint.read.python.libraries.context import bind_arguments
from sselint.read.python.source import ir
from sselint.read.python.source.modules import Site

SAME_AS_OWNER = frozenset({"hex", "int", "urn", "bytes", "value", "name", "real", "raw"})
"""Attributes of an id or an enumeration member that are the same thing in another form."""

ENUMERATIONS = frozenset({"enum.Enum", "enum.StrEnum", "enum.IntEnum"})
STORE_FAILURE = "a failure of a store"
FAILURES = frozenset(
    f"builtins.{name}"
    for name in ("Exception", "BaseException", "OSError", "ConnectionError", "TimeoutError", "IOError")
)
"""What catches a store that does not answer, beside the exceptions of its library."""


# -- defining ------------------------------------------------------------------------------------------------------


OWNER, NAME = "the class of this attribute", "the name of this attribute"


def define(m: Machine, node: ir.ClassNode, frame: Frame) -> ClassValue:
    """Runs a class body."""
    from sselint.read.python.interpreter import expressions, statements

    bases = tuple(expressions.evaluate(m, a.value, frame) for a in node.bases if a.keyword is None and not a.star)
    scope = Scope(frame.module, {}, None if frame.level == "module" else frame.scope)
    found = ClassValue(node, frame.module, bases, scope.variables, {}, {})
    inner = Frame(frame.module, scope, level="class")
    for statement in node.body:
        if isinstance(statement, ir.Assign) and statement.annotation is not None:
            target = statement.targets[0]
            if isinstance(target, ir.Name):
                found.fields[target.id] = (statement.annotation, statement.value, scope)
        statements.run_block(m, (statement,), inner)
    for name, value in scope.variables.items():
        scope.variables[name] = _outside(value, scope, found)
        if isinstance(value, Ref) and m.object(value).kind == "library":  # a column is told its name by the class
            m.object(value).details.update({OWNER: found, NAME: Const.of(name)})
    found.flags["dataclass"] = any(_is_record(m, base) for base in ancestors(m, found))
    return found


def _outside(value: Value, scope: Scope, owner: ClassValue) -> Value:
    """Methods do not see the names of the class body."""
    if isinstance(value, Function) and value.owner is None:
        return replace(value, scope=scope.parent if value.scope is scope else value.scope, owner=owner)
    if isinstance(value, Descriptor):
        return replace(value, function=_outside(value.function, scope, owner))
    return value


def _is_record(m: Machine, base: Value) -> bool:
    if isinstance(base, ClassValue):
        return bool(base.flags.get("dataclass"))
    entry = m.rules.entry(base.name) if isinstance(base, External) else None
    return entry is not None and entry.role in ("model", "settings")


def decorate_class(m: Machine, decorator: ir.Expression, value: Value, frame: Frame) -> Value:
    """What a class decorator makes of a class: records gain a constructor, all others leave it as it is."""
    from sselint.read.python.interpreter import calls, expressions

    node = decorator.function if isinstance(decorator, ir.Call) else decorator
    function = expressions.evaluate(m, node, frame)
    entry = m.rules.entry(function.name) if isinstance(function, External) else None
    if entry is not None and entry.role == "model" and isinstance(value, ClassValue):
        value.flags["dataclass"] = True
        return value
    called = expressions.evaluate(m, decorator, frame)
    result = calls.call(m, called, (value,), {}, m.site(frame, decorator), frame)
    return value if isinstance(result, Unknown) else result


def ancestors(m: Machine, cls: ClassValue, depth: int = 0) -> Iterator[Value]:
    """The bases of a class, nearest first, without the class itself."""
    if depth > 12:
        return
    for base in cls.bases:
        yield base
        if isinstance(base, ClassValue):
            yield from ancestors(m, base, depth + 1)


def class_attribute(
    m: Machine, cls: ClassValue, name: str, after: ClassValue | None = None
) -> tuple[Value, ClassValue] | None:
    """An attribute found along the inheritance chain, with the class that defines it; `after` for `super()`."""
    line = [cls, *(a for a in ancestors(m, cls) if isinstance(a, ClassValue))]
    if after is not None:
        position = next((i for i, c in enumerate(line) if c == after), -1)
        line = line[position + 1 :]
    for candidate in line:
        if name in candidate.attributes:
            return candidate.attributes[name], candidate
    return None


def library_bases(m: Machine, cls: ClassValue) -> Iterator[External]:
    """The names of libraries that a class inherits from."""
    return (base for base in ancestors(m, cls) if isinstance(base, External))


def class_of(m: Machine, value: Value) -> ClassValue | None:
    """The class of the tree that an object is an instance of."""
    if isinstance(value, Ref):
        of = m.object(value).of
        return of if isinstance(of, ClassValue) else None
    return None


def _is_enumeration(m: Machine, cls: ClassValue) -> bool:
    return any(base.name in ENUMERATIONS for base in library_bases(m, cls))


def members(m: Machine, cls: ClassValue) -> Tuple | None:
    """The members of an enumeration, in order; None where a class is none."""
    if not _is_enumeration(m, cls):
        return None
    held = (value for name, value in cls.attributes.items() if not name.startswith("_"))
    return Tuple(tuple(value for value in held if not isinstance(value, Function | Descriptor)))


# -- instances -----------------------------------------------------------------------------------------------------


def instantiate(
    m: Machine,
    cls: ClassValue,
    positional: tuple[Value, ...],
    keywords: dict[str, Value],
    site: Site,
    frame: Frame | None,
) -> Value:
    """`cls(...)`."""
    from sselint.read.python.interpreter import calls, records

    if _is_enumeration(m, cls):
        return positional[0] if positional else Unknown("a member of an enumeration")
    entries = [m.rules.entry(base.name) for base in library_bases(m, cls)]
    if any(entry is not None and entry.options.get("is_dict") for entry in entries):
        return calls.call(m, External("builtins.dict"), positional, keywords, site, frame)
    ref = _allocated(m, cls, positional, keywords, site, frame)
    made = class_of(m, ref) or cls
    if cls not in (made, *ancestors(m, made)):  # what `__new__` gives instead is whole already
        return ref
    m.constructing.append(ref)
    try:
        found = class_attribute(m, cls, "__init__")
        if found is not None and found[1] != cls and cls.flags.get("dataclass") and not records.by_library(m, cls):
            found = None  # the decorator makes one of the class's own
        if found is None and cls.flags.get("dataclass"):
            records.made(m, cls, ref, positional, keywords, site, frame)
            return ref
        if found is not None:
            calls.call(m, bind(m, found[0], ref, found[1]), positional, keywords, site, frame)
        else:
            library_init(m, ref, cls, positional, keywords, site)
    finally:
        m.constructing.pop()
    return ref


def _allocated(
    m: Machine,
    cls: ClassValue,
    positional: tuple[Value, ...],
    keywords: dict[str, Value],
    site: Site,
    frame: Frame | None,
) -> Ref:
    """The object that `__init__` is given: a new one, or the one that the class's own `__new__` hands out."""
    from sselint.read.python.interpreter import calls

    new = class_attribute(m, cls, "__new__")
    if new is not None:
        maker = new[0].function if isinstance(new[0], Descriptor) else new[0]
        maker = replace(maker, receiver=cls, owner=new[1]) if isinstance(maker, Function) else maker
        given = calls.call(m, maker, positional, keywords, site, frame)
        if isinstance(given, Ref) and class_of(m, given) is not None:
            return given
    return extended.allocated(m, cls, site, frame)


def library_init(
    m: Machine, ref: Ref, cls: ClassValue, positional: tuple[Value, ...], keywords: dict[str, Value], site: Site
) -> None:
    """The constructor of a library's class that the tree inherits: its arguments become attributes of the same name."""
    from sselint.read.python.interpreter import records

    if records.by_library(m, cls):
        records.made(m, cls, ref, positional, keywords, site, None)
        return
    container = extended.base_of(m, cls)
    if container is not None:
        extended.filled(m, ref, container[0], Arguments(positional, keywords, site, None))
        return
    for base in library_bases(m, cls):
        entry = m.rules.entry(base.name)
        if entry is not None:
            for name, value in bind_arguments(entry.parameters, positional, keywords).items():
                m.object(ref).arguments.setdefault(name, value)
                m.write_attribute(ref, name, value, site)
            return
    if keywords:
        for name, value in keywords.items():
            m.write_attribute(ref, name, value, site)
    for number, value in enumerate(positional):
        m.write_attribute(ref, f"args[{number}]", value, site)


# -- attributes ----------------------------------------------------------------------------------------------------


def bind(m: Machine, value: Value, receiver: Value, owner: ClassValue) -> Value:
    """A class attribute as an object of the class shows it."""
    from sselint.read.python.interpreter import calls

    if isinstance(value, Function):
        return replace(value, receiver=receiver, owner=owner) if value.receiver is None else value
    if isinstance(value, Descriptor):
        if value.kind == "staticmethod":
            return value.function
        if value.kind == "classmethod":
            holder = class_of(m, receiver) or receiver
            return (
                replace(value.function, receiver=holder, owner=owner)
                if isinstance(value.function, Function)
                else value.function
            )
        getter = bind(m, value.function, receiver, owner)
        return calls.call(m, getter, (), {}, None, None)
    if isinstance(value, Partial) and isinstance(value.function, Function):
        return replace(value, function=bind(m, value.function, receiver, owner))
    return value


def find_method(m: Machine, value: Value, name: str) -> Value | None:
    """A method that the object's class of the tree defines, bound to the object."""
    cls = class_of(m, value)
    if cls is None:
        return None
    found = class_attribute(m, cls, name)
    return bind(m, found[0], value, found[1]) if found is not None else None


def make_super(frame: Frame) -> Value:
    """`super()`."""
    holder = frame.function
    if holder is None or holder.owner is None or holder.receiver is None:
        return Unknown("super() outside of a method")
    return Super(holder.receiver, holder.owner)


def attribute(m: Machine, receiver: Value, name: str, site: Site, frame: Frame | None) -> Value:
    """`receiver.name`."""
    if isinstance(receiver, Ref):
        behind = proxies.behind(m, receiver, site)
        if behind is not None:
            return attribute(m, behind, name, site, frame)
        return _object_attribute(m, receiver, name, site)
    if isinstance(receiver, ClassValue):
        return _class_member(m, receiver, name, site)
    if isinstance(receiver, ModuleValue):
        return m.world.module_attribute(m, receiver.module, name)
    if isinstance(receiver, External):
        return library.external_attribute(m, receiver, name, site)
    if isinstance(receiver, Super):
        return _super_attribute(m, receiver, name)
    if isinstance(receiver, Reply):
        own = library.own_member(m, receiver, name, ("property", "cached_property"))
        return own if own is not None else library.reply_item(m, receiver, Const.of(name))
    if isinstance(receiver, Body):
        from sselint.read.python.libraries import inject

        return inject.body_field(m, receiver, name, site)
    if isinstance(receiver, Unknown | Input) or (isinstance(receiver, Variable) and not text.is_method(name)):
        return receiver
    if isinstance(receiver, Exceptional):
        return _exception_attribute(m, receiver, name)
    if (
        isinstance(receiver, Minted | Const)
        and name in SAME_AS_OWNER
        and not isinstance(getattr(receiver, "value", None), bytes)
    ):
        return receiver
    if isinstance(receiver, Function):
        held = carried.read(m, receiver, name, site)
        if held is not None:
            return held
        if name == "__name__":
            return Const.of(receiver.name)
    return Method(receiver, name)


def _object_attribute(m: Machine, ref: Ref, name: str, site: Site) -> Value:
    target = m.object(ref)
    cls = class_of(m, ref)
    if extended.is_bare(m, ref):
        return Method(ref, name)
    found = class_attribute(m, cls, name) if cls is not None else None
    if found is not None and isinstance(found[0], Descriptor) and found[0].kind in ("property", "cached_property"):
        return bind(m, found[0], ref, found[1])
    written = m.read_attribute(ref, name, site)
    if written is not None:
        return written
    if found is not None and cls is not None:
        return bind(m, found[0], ref, found[1])
    if name == "__class__" and cls is not None:
        return cls
    inherited = extended.attribute(m, ref, name)
    if inherited is not None:
        return inherited
    from sselint.read.python.interpreter import own_attributes

    held = own_attributes.as_dict(m, ref, site) if name == "__dict__" else None
    if held is not None:
        return held
    described = library.object_attribute(m, ref, name, site)
    if described is not None:
        return described
    getter = find_method(m, ref, "__getattr__") if not name.startswith("__") else None
    if getter is not None:
        from sselint.read.python.interpreter import calls

        return calls.call(m, getter, (Const.of(name),), {}, site, None)
    if ref == m.request.get("state"):
        put = m.world.set_on_request(m, name, site)
        if put is not None:
            return put
    given = list(m.world.handed_on.get(name, ())) if target.kind == "namespace" else []
    if given:
        return choices.picked(m, ("handed on", name), given, name, site) if len(given) > 1 else given[0]
    owner = cls.name if cls is not None else target.label or "an object"
    return placeholders.unset(m, ref, name, owner)


def _class_member(m: Machine, cls: ClassValue, name: str, site: Site) -> Value:
    found = class_attribute(m, cls, name)
    if found is not None:
        value = found[0]
        if isinstance(value, Descriptor):
            return bind(m, value, cls, found[1])
        return singletons.read(m, found[1], name, site) if name in found[1].flags.get("rewritten", ()) else value
    if name == "__name__":
        return Const.of(cls.name)
    for base in library_bases(m, cls):
        entry = m.rules.entry(base.name)
        if entry is not None and entry.method(name) is not None:
            return Method(cls, name)
    return library.class_default(m, cls, name)


def _super_attribute(m: Machine, value: Super, name: str) -> Value:
    cls = class_of(m, value.receiver)
    if cls is None:
        cls = value.receiver if isinstance(value.receiver, ClassValue) else value.owner
    found = class_attribute(m, cls, name, value.owner)
    if found is not None:
        return bind(m, found[0], value.receiver, found[1])
    return Method(value, name)


# -- exceptions ----------------------------------------------------------------------------------------------------


def as_exception(m: Machine, value: Value, site: Site, frame: Frame) -> Value:
    """What `raise value` throws."""
    if isinstance(value, ClassValue):
        return instantiate(m, value, (), {}, site, frame)
    if isinstance(value, External):
        return Exceptional(value.name.removeprefix("builtins."))
    if isinstance(value, Ref | Exceptional):
        return value
    return Exceptional("Exception", trail=value.trail)


STATUS_NAMES = ("status_code", "status", "code")


def _exception_attribute(m: Machine, value: Exceptional, name: str) -> Value:
    from sselint.read.python.server import serve

    if name == "args":
        return Tuple(value.arguments)
    given = serve.named_arguments(value.arguments)
    if name in given:
        return given[name]
    if name in STATUS_NAMES and serve.is_http_error(m, value):
        return Const.of(serve.status_of(m, value))
    cursor = any(mentions_cursor(a) for a in value.arguments)
    return value.arguments[0] if value.arguments else Unknown(f"{name} of an exception", cursor)


def exception_names(m: Machine, value: Value) -> list[str]:
    """The names of an exception's class and its bases, as far as they are known."""
    if isinstance(value, Exceptional):
        return _with_bases(m, value.name)
    if isinstance(value, Ref):
        cls = class_of(m, value)
        if cls is not None:
            return [
                name for base in library_bases(m, cls) for name in _with_bases(m, base.name.removeprefix("builtins."))
            ]
        return _with_bases(m, m.object(value).label)
    return ["Exception"]


def _with_bases(m: Machine, name: str) -> list[str]:
    own = getattr(builtins, name, None)
    if isinstance(own, type):
        return [c.__name__ for c in own.__mro__]
    entry = m.rules.entry(name)
    bases = entry.options.get("bases", ()) if entry is not None else ()
    return [m.rules.canonical(name), *bases, "Exception", "BaseException"]


def is_absence(m: Machine, name: str) -> bool:
    """Whether an exception of a library says that something is not there, which no failure of a store is."""
    entry = m.rules.entry(name)
    return entry is not None and bool(entry.options.get("absence"))


def catches(m: Machine, types: Value, exception: Value) -> bool:
    """Whether `except types` catches an exception."""
    if isinstance(types, Tuple):
        return any(catches(m, t, exception) for t in types.items)
    if isinstance(types, ClassValue):
        cls = class_of(m, exception)
        return cls is not None and (cls == types or types in list(ancestors(m, cls)))
    if isinstance(types, External) and isinstance(exception, Exceptional) and exception.name == STORE_FAILURE:
        own = types.name.startswith("builtins.") or is_absence(m, types.name)
        return types.name in FAILURES or not own
    if isinstance(types, External):
        name = types.name.removeprefix("builtins.")
        return name in exception_names(m, exception) or m.rules.canonical(name) in exception_names(m, exception)
    return isinstance(types, Unknown) and not isinstance(exception, Ref)
