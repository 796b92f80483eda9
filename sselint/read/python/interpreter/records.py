"""Records: classes whose fields are written down with their types, and whose constructor is made from them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from sselint.read.python.interpreter import calls, classes, containers, expressions
from sselint.read.python.interpreter.machine import Frame, Machine
from sselint.read.python.interpreter.values import (
    ClassValue,
    Const,
    External,
    Function,
    Input,
    Ref,
    Reply,
    Scope,
    Unknown,
    Value,
)
from sselint.read.python.libraries import environment, library
from sselint.read.python.rules import Entry
from sselint.read.python.source import ir
from sselint.read.python.source.modules import Site
from sselint.read.python.stores import stores


def fields_of(
    m: Machine, cls: ClassValue
) -> dict[str, tuple[ir.Expression | None, ir.Expression | None, Scope, ClassValue]]:
    """The annotated fields of a record, inherited ones first."""
    found: dict[str, tuple[ir.Expression | None, ir.Expression | None, Scope, ClassValue]] = {}
    line = [a for a in classes.ancestors(m, cls) if isinstance(a, ClassValue)]
    for candidate in (*reversed(line), cls):
        for name, (annotation, default, scope) in candidate.fields.items():
            found[name] = (annotation, default, scope, candidate)
    return found


def by_library(m: Machine, cls: ClassValue) -> bool:
    """Whether a class is a record for what it inherits: then the constructor is the library's, and the class may have
    one of its own that hands on to it."""
    entries = (m.rules.entry(base.name) for base in classes.library_bases(m, cls))
    return any(entry is not None and entry.role in ("model", "settings") for entry in entries)


def made(
    m: Machine,
    cls: ClassValue,
    ref: Ref,
    positional: tuple[Value, ...],
    keywords: dict[str, Value],
    site: Site,
    frame: Frame | None,
) -> None:
    """What the constructor of a record does."""
    fill(m, cls, ref, positional, keywords, site)
    prepared(m, cls, ref, site, frame)


def fill(
    m: Machine, cls: ClassValue, ref: Ref, positional: tuple[Value, ...], keywords: dict[str, Value], site: Site
) -> None:
    """Sets the fields of a new record: from the arguments, else from the defaults."""
    described = (m.rules.entry(base.name) for base in classes.library_bases(m, cls))
    settings = next((e for e in described if e is not None and e.role == "settings"), None)
    prefix = _prefix(m, cls) if settings is not None else ""
    queue = list(positional)
    keywords = dict(keywords)
    spread = keywords.pop("**", Const.of(None))
    for name, (annotation, default, scope, owner) in fields_of(m, cls).items():
        if (
            isinstance(annotation, ir.Subscript)
            and isinstance(annotation.value, ir.Name)
            and annotation.value.id == "ClassVar"
        ):
            continue
        inits = _init_of(default)
        if inits == set():
            continue  # the record sets it itself once it is made
        if name in keywords:
            value = keywords[name]
        elif name.lstrip("_") in keywords:  # attrs takes a private field by its public name
            value = keywords[name.lstrip("_")]
        elif queue and inits is None:
            value = queue.pop(0)
        elif inits is None and _is_spread(spread, default is not None):
            value = stores.reply_item(m, spread, Const.of(name)) if isinstance(spread, Reply) else spread
        elif default is not None:
            value = field_default(m, default, scope, owner, ref)
        elif settings is None:
            value = Unknown(f"field {name}, which is not given")
        else:
            value = Unknown(f"setting {name}, which has no default")
        if settings is not None and name not in keywords:
            value = environment.named(m, prefix + name.upper(), value if default is not None else None, site)
        m.write_attribute(ref, name, value, site)
    if library.is_mapped(m, cls):
        _columns(m, cls, ref, keywords, site)


def copied(m: Machine, record: Value, changes: dict[str, Value], site: Site, made_anew: bool = False) -> Value:
    """A new record with the fields of another one and some changed; `made_anew` where its constructor runs again."""
    cls = classes.class_of(m, record)
    if cls is None or not isinstance(record, Ref):
        return Unknown("a copy with other fields") if changes else record
    ref = m.make("instance", cls, site, None, cls.name)
    held = m.overlay.attributes_of(record)
    m.constructing.append(ref)
    try:
        for name in dict.fromkeys((*fields_of(m, cls), *m.object(record).attributes, *sorted(held), *changes)):
            value = changes.get(name) or m.read_attribute(record, name, site)
            if value is not None:
                m.write_attribute(ref, name, value, site)
        if made_anew:
            prepared(m, cls, ref, site)
    finally:
        m.constructing.pop()
    return ref


def prepared(m: Machine, cls: ClassValue, ref: Ref, site: Site, frame: Frame | None = None) -> None:
    """What a record does itself once its fields are set: `__post_init__`."""
    for hook in m.rules.word_list("record_hooks"):
        after = classes.class_attribute(m, cls, hook)
        if after is not None:
            calls.call(m, classes.bind(m, after[0], ref, after[1]), (), {}, site, frame)


def _init_of(default: ir.Expression | None) -> set[str] | None:
    """Of a field that no caller gives (`field(init=False, ...)`), what else is said of it; None for any other."""
    if not isinstance(default, ir.Call) or not any(a.keyword == "init" for a in default.arguments):
        return None
    given = {a.keyword or "": a.value for a in default.arguments}
    says = given.pop("init", None)
    made = {"", "default", "default_factory", "factory"} & set(given)
    return made if isinstance(says, ir.Constant) and says.value is False else None


def _is_spread(spread: Value, has_default: bool) -> bool:
    """Whether a field comes from what `**` carries: what a store gave back was put there whole; of anything else only
    the fields that must be given are in it for sure."""
    return isinstance(spread, Reply) or (not has_default and isinstance(spread, Input | Unknown))


def _columns(m: Machine, cls: ClassValue, ref: Ref, keywords: dict[str, Value], site: Site) -> None:
    """The fields of a mapped class that no annotation names: what is given, else the default of the column where the
    mapper sets it at once."""
    known = fields_of(m, cls)
    for name, value in keywords.items():
        if name not in known:
            m.write_attribute(ref, name, value, site)
    for name, column in columns_of(m, cls).items():
        if name not in keywords and name not in known:
            default = library.use(m, column, "default")
            if default is None:
                numbered = _is_numbered(m, column)
                default = Const.of(None) if numbered else Unknown(f"column {name}, which nothing in the tree sets")
            m.write_attribute(ref, name, _column_default(m, default, site), site)


def _column_default(m: Machine, default: Value, site: Site) -> Value:
    """The default of a column: a value, or what a function makes for each object."""
    made = isinstance(default, Function | External | ClassValue)
    return calls.call(m, default, (), {}, site, None) if made else default


def columns_of(m: Machine, cls: ClassValue) -> dict[str, Ref]:
    """The columns of a class whose mapper sets their defaults when an object is made."""
    line = [cls, *(a for a in classes.ancestors(m, cls) if isinstance(a, ClassValue))]
    found = ((n, v) for c in reversed(line) for n, v in c.attributes.items() if isinstance(v, Ref))
    return {n: v for n, v in found if _sets_default(m, v)}


def _sets_default(m: Machine, column: Ref) -> bool:
    entry = library.entry_of(m, column)
    return entry is not None and entry.role == "column" and bool(entry.options.get("sets_default"))


def assigned(m: Machine, receiver: Value | None, names: list[str], made: Value, site: Site) -> None:
    """What a store gives an object that is put there: the columns that it numbers, and those of these names, as far as
    the object does not bring them along."""
    cls = classes.class_of(m, receiver) if receiver is not None else None
    if cls is None or not isinstance(receiver, Ref):
        return
    numbered = [name for name, column in columns_of(m, cls).items() if _is_numbered(m, column)]
    numbered += [name for name, (_, default, scope, _) in fields_of(m, cls).items() if _is_key(m, default, scope)]
    for name in dict.fromkeys((*names, *numbered)):
        held = m.read_attribute(receiver, name)
        if held is None or (isinstance(held, Const) and held.value is None) or library.role_of(m, held) == "column":
            m.write_attribute(receiver, name, made, site)


def keyed(m: Machine, cls: ClassValue) -> Iterator[tuple[str, frozenset[str]]]:
    """The columns of a mapped class that are keys, with what they are: the "key" of the table, or "unique" alone."""
    columns = ((n, library.entry_of(m, v), m.object(v).arguments) for n, v in columns_of(m, cls).items())
    annotated = ((n, *_described(m, default, scope)) for n, (_, default, scope, _) in fields_of(m, cls).items())
    for name, entry, given in (*columns, *annotated):
        uses = entry.uses if entry is not None else {}
        told = frozenset(use for use in ("key", "unique") if given.get(uses.get(use, "")) == Const.of(True))
        if told:
            yield name, told


def _is_numbered(m: Machine, column: Ref) -> bool:
    """Whether the store numbers a column."""
    entry = library.entry_of(m, column)
    return entry is not None and _numbers(m, entry, m.object(column).arguments)


def _numbers(m: Machine, entry: Entry, given: Mapping[str, Value]) -> bool:
    """Whether the store numbers a column that is made so: it is of a kind that is, is the key of its table, or is made
    with what numbers (`Identity()`, a sequence of the database), also as the whole column of a field."""
    told = [given.get(entry.uses[use]) for use in ("key", "numbered") if use in entry.uses]
    if entry.options.get("numbered") or any(isinstance(value, Const) and value.value is True for value in told):
        return True
    roles = {library.role_of(m, value): value for value in given.values() if isinstance(value, Ref)}
    inner = roles.get("column")
    return "numbering" in roles or (inner is not None and _is_numbered(m, inner))


def _is_key(m: Machine, default: ir.Expression | None, scope: Scope) -> bool:
    """Whether an annotated field is one that the store numbers: `number: int = column(primary_key=True)`."""
    entry, given = _described(m, default, scope)
    return entry is not None and _numbers(m, entry, given)


def _described(m: Machine, default: ir.Expression | None, scope: Scope) -> tuple[Entry | None, Mapping[str, Value]]:
    """What the rules say of the call that an annotated field is made with, and what that is given."""
    if not isinstance(default, ir.Call):
        return None, {}
    frame = Frame(scope.module, Scope(scope.module, {}, scope.parent))
    function = expressions.evaluate(m, default.function, frame)
    entry = m.rules.entry(function.name) if isinstance(function, External) else None
    if entry is None or entry.role not in ("column", "dataclass_field"):
        return None, {}
    return entry, {
        a.keyword or str(n): expressions.evaluate(m, a.value, frame) for n, a in enumerate(default.arguments)
    }


def tuple_fields(m: Machine, value: Value) -> list[Value] | None:
    """The fields of a record in order, as unpacking gives them; None where the value is no record of the tree."""
    cls = classes.class_of(m, value)
    if cls is None or not cls.flags.get("dataclass") or not isinstance(value, Ref):
        return None
    return [m.read_attribute(value, name) or Unknown(f"field {name}") for name in fields_of(m, cls)]


def _prefix(m: Machine, cls: ClassValue) -> str:
    """The prefix of environment variables: pydantic's `env_prefix`, in `model_config` or an inner `Config`."""
    found = classes.class_attribute(m, cls, "model_config")
    config = found[0] if found is not None else None
    if isinstance(config, Ref):
        value = containers.known_entries(m, config).get("env_prefix") or m.object(config).arguments.get("env_prefix")
        if isinstance(value, Const):
            return str(value.value).upper()
    inner = classes.class_attribute(m, cls, "Config")
    if inner is not None and isinstance(inner[0], ClassValue):
        value = inner[0].attributes.get("env_prefix")
        if isinstance(value, Const):
            return str(value.value).upper()
    return ""


def field_default(m: Machine, default: ir.Expression, scope: Scope, owner: ClassValue, ref: Ref) -> Value:
    """The default of a field: the value, or what the factory of `field(default_factory=...)` makes, once an object."""
    frame = Frame(
        scope.module,
        Scope(scope.module, {}, scope.parent),
        None,
        Function(ir.Lambda(default.cst, (), default), scope.module, receiver=ref),
    )
    if isinstance(default, ir.Call):
        function = expressions.evaluate(m, default.function, frame)
        entry = m.rules.entry(function.name) if isinstance(function, External) else None
        if entry is not None and entry.role == "column" and not any(a.keyword == "default" for a in default.arguments):
            key = _is_key(m, default, scope)
            return Const.of(None) if key else Unknown("a column that nothing in the tree sets")
        if entry is not None and entry.role in ("dataclass_field", "column"):
            given = {a.keyword: a.value for a in default.arguments if a.keyword}
            if "default" in given and entry.role == "column":
                return _column_default(m, expressions.evaluate(m, given["default"], frame), m.site(frame, default))
            if "default" in given:
                return _made_for(m, expressions.evaluate(m, given["default"], frame), ref)
            factory = given.get("default_factory") or given.get("factory")
            if factory is not None:
                made = expressions.evaluate(m, factory, frame)
                return calls.awaited(
                    m, calls.call(m, made, (), {}, m.site(frame, factory), frame), m.site(frame, factory)
                )
            first = next((a.value for a in default.arguments if not a.keyword), None)
            if first is not None:
                return expressions.evaluate(m, first, frame)
            return Unknown("a field without a default")
    return _made_for(m, expressions.evaluate(m, default, frame), ref)


def _made_for(m: Machine, default: Value, ref: Ref) -> Value:
    """A default; where it is a factory given as one (`attrs.Factory`), what it makes, perhaps from the object."""
    entry = library.entry_of(m, default) if isinstance(default, Ref) else None
    if not isinstance(default, Ref) or entry is None or not entry.options.get("makes_default"):
        return default
    factory, takes = library.use(m, default, "function"), library.use(m, default, "takes_self")
    given = (ref,) if isinstance(takes, Const) and takes.value else ()
    site = m.object(default).site
    return calls.awaited(m, calls.call(m, factory or Unknown("a factory"), given, {}, site, None), site)
