"""Abstract values: what the interpreter knows of a value, and by which way it came (`trail`).

Values are frozen and compare without their trail, so that a summary of a container holds each kind of thing once.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from sselint.read.python.source import ir
from sselint.read.python.source.modules import Module, Site


@dataclass(frozen=True)
class Step:
    """One station on the way of a value: "made here", "stored here"."""

    site: Site
    note: str


NO_ROW = "nothing"
"""The selection of an answer without a row."""
NEWEST, OLDEST, SINCE = "newest", "oldest", "since"
"""The selection of an answer that is the last or the first of all entries, and of what has come behind the last."""
FIRST = "first"
"""The phase of a number that is the place of the first element that is kept."""
STORED = "stored here"
"""What a step says of a value that was put where other runs find it."""
COUNTING = frozenset({"counter", "index", "state"})
"""The kinds of what is minted that are numbers of a process."""
NAMES = frozenset({"host", "process", "replica"})
"""The kinds of what is minted that name a process, or what it runs in."""
Trail = tuple[Step, ...]
MAX_TRAIL = 8


@dataclass(frozen=True)
class Value:
    """Anything an expression can stand for."""

    trail: Trail = field(default=(), compare=False, kw_only=True)


@dataclass(frozen=True)
class Const(Value):
    """A value that is written down. `kind` keeps 1, True and 1.0 apart."""

    value: Any
    kind: str = ""

    @classmethod
    def of(cls, value: Any, *trail: Step) -> Const:
        """The constant."""
        return cls(value, type(value).__name__, trail=trail)


@dataclass(frozen=True)
class Remembered(Const):
    """A number that was read from the memory of the process: counting on from it makes a counter."""

    about: int = 0


@dataclass(frozen=True)
class Unknown(Value):
    """Nobody can say, because `why`. `cursor` is True where the cursor had a say in it."""

    why: str
    cursor: bool = False


@dataclass(frozen=True)
class External(Value):
    """A name of a library, by its dotted import name."""

    name: str


@dataclass(frozen=True)
class Ref(Value):
    """An object on the heap. `serial` numbers the objects that one run made at the same place; 0 is their summary."""

    id: int
    serial: int = 0


@dataclass(frozen=True, eq=False)
class Scope:
    """The variables of a running function, module or class body; `parent` is the enclosing function's."""

    module: Module
    variables: dict[str, Value]
    parent: Scope | None = None


@dataclass(frozen=True)
class Function(Value):
    """A function of the tree, with the scope that it was defined in and, for a method, its object and class."""

    node: ir.FunctionNode | ir.Lambda
    module: Module
    scope: Scope | None = field(default=None, compare=False)
    receiver: Value | None = None
    owner: ClassValue | None = None
    wrapped: Value | None = None
    """What `functools.wraps` says that it stands in front of: what tells apart all that one decorator made."""

    @property
    def name(self) -> str:
        """The function's name."""
        return self.node.name if isinstance(self.node, ir.FunctionNode) else "<lambda>"


@dataclass(frozen=True)
class ClassValue(Value):
    """A class of the tree. `attributes` is filled when the class body is run."""

    node: ir.ClassNode
    module: Module
    bases: tuple[Value, ...] = field(compare=False)
    attributes: dict[str, Value] = field(compare=False, repr=False)
    fields: dict[str, tuple[ir.Expression | None, ir.Expression | None, Scope]] = field(compare=False, repr=False)
    """Annotated class attributes: (annotation, default, scope), in order, for dataclasses, models and settings."""
    flags: dict[str, Any] = field(compare=False, repr=False)

    @property
    def name(self) -> str:
        """The class's name."""
        return self.node.name


@dataclass(frozen=True)
class ModuleValue(Value):
    """A module of the tree."""

    module: Module


@dataclass(frozen=True)
class Lazy(Value):
    """`from module import name` of a module that has not been needed yet."""

    module: Module
    name: str


@dataclass(frozen=True)
class Descriptor(Value):
    """A function under property, classmethod, staticmethod or cached_property."""

    kind: str
    function: Value


@dataclass(frozen=True)
class Super(Value):
    """`super()` in a method of `owner`."""

    receiver: Value
    owner: ClassValue


@dataclass(frozen=True)
class Method(Value):
    """A method of something that is not an instance of a class of the tree."""

    receiver: Value
    name: str


@dataclass(frozen=True)
class Partial(Value):
    """`functools.partial(function, ...)`."""

    function: Value
    positional: tuple[Value, ...]
    keywords: tuple[tuple[str, Value], ...]


@dataclass(frozen=True)
class Callback(Value):
    """A callable of the interpreter's own (`call_next`, `send`), by name."""

    name: str
    data: Any = field(default=None, compare=False)


@dataclass(frozen=True)
class Tuple(Value):
    """A tuple of known length."""

    items: tuple[Value, ...]


@dataclass(frozen=True)
class Join(Value):
    """Text (or bytes) put together from parts in order."""

    parts: tuple[Value, ...]


@dataclass(frozen=True)
class Wrapped(Value):
    """A value that was changed in form only: `json`, `hash`, `slice` of text. Where it comes from is still known."""

    form: str
    inner: Value


@dataclass(frozen=True)
class Minted(Value):
    """Something that a process makes: `kind` is counter, index, clock, ordered, random, host, process, replica, state
    or store.

    `about` is the object it counts or stands in; `boot` says that it was made once when the process started, `local`
    that it was made in the run of one connection.
    """

    kind: str
    about: int = 0
    boot: bool = False
    local: bool = field(default=False, compare=False)
    phase: str = field(default="", compare=False)
    writers: str = field(default="", compare=False)
    under: tuple[str, ...] = field(default=(), compare=False)
    """Of a number in a store: who else writes there (see `writers`), and the fields beside it that name its run."""


@dataclass(frozen=True)
class Length(Value):
    """`len()` of a container (heap id); `extra` where a constant was added or taken off, `less` where something was
    taken off."""

    about: int
    extra: bool = False
    less: bool = False
    of: Collection | None = field(default=None, compare=False)
    """The part of the container that was counted, where it was not the whole."""


@dataclass(frozen=True)
class Position(Value):
    """A place in a container that was found by the cursor. `after` is True for one past it."""

    about: int
    after: bool = False


@dataclass(frozen=True)
class Cursor(Value):
    """What the client presented, or a part of it: `part` is the index among the parts that a split gave."""

    part: int | None = None
    number: bool = False
    shape: Value | None = field(default=None, compare=False)
    """What this part looks like in the ids of this process, where that is known."""
    back: str = ""
    """Where it was taken off a number of this process, the kind of that: then it says how far behind it stands."""


@dataclass(frozen=True)
class Input(Value):
    """Anything else that the client chose: `name` reads like "path parameter run_id"."""

    name: str
    first: ClassVar[int] = 0
    """Which answer is tried first where it is asked whether it is there: that it is, or (1) that it is not."""

    @staticmethod
    def under(carrier: str, name: str, default: Value) -> Input:
        """What a client sent under a name, `default` where it sent nothing."""
        made = LeftOut if carrier == "query" and default == Const.of(None) else Input
        return made(f"{carrier} {name}")


@dataclass(frozen=True)
class LeftOut(Input):
    """What a client may leave out of its query, and mostly does: what it would filter by."""

    first: ClassVar[int] = 1


@dataclass(frozen=True)
class Body(Input):
    """The body of a request, or what its headers or query say (`carrier`), as a record of the tree: each field is
    something of its own that the client chose."""

    of: ClassValue
    carrier: str = "body"


@dataclass(frozen=True)
class Found(Input):
    """What the client chose, and what a container of the process, `among`, was seen to have: one of its keys."""

    among: int


@dataclass(frozen=True)
class Variable(Value):
    """An environment variable: its value if it is not set is `default`. `for_all` says that all replicas have
    the same there: the deployment's files say so, or its name does not speak of one of them."""

    name: str
    default: Value | None
    number: bool = False
    for_all: bool = field(default=False, compare=False)
    through: tuple[str, ...] = ()
    """The methods of text that it has gone through (`strip`, `lower`), in their order."""


@dataclass(frozen=True)
class Item:
    """One representative element of a container: `phase` says where it stands relative to the cursor (before, at,
    after; or low, high where the cursor is unknown here), `source` is the heap id of the container."""

    value: Value
    source: int = 0
    phase: str = ""
    selection: str = ""
    at: Value | None = field(default=None, compare=False)
    """The index that it was picked by."""


@dataclass(frozen=True)
class Collection(Value):
    """A view of a container: what a read, copy, slice or filter took from it.

    `selection` is all, compared (what compares greater than the cursor), located (what stands behind it), head (what
    comes from now on), part, or of a store newest, oldest or since.
    """

    source: int
    items: tuple[Item, ...]
    selection: str = "all"


@dataclass(frozen=True)
class Reply(Value):
    """What a store outside the process answered, or a part of it; `source` is the store's heap id."""

    source: int
    selection: str = "all"
    live: bool = False
    inner: bool = False
    passed: str = ""
    """What a store that only passes things on has it from, so that nothing in it is of the store's own making: all that
    is `put` there, or only what is `told` on its channels."""
    placed: bool = False
    """Whether it was asked for by position: then counting what comes gives its place in the store."""
    table: str = ""
    columns: tuple[tuple[str, str], ...] = ()
    """The table that was asked, and of a statement the columns: each by its name in the answer, and in the table."""
    narrowed: tuple[str, ...] = ()
    """The columns that have to be equal to something."""
    within: tuple[str, ...] = ()
    """Those of them that have to be equal to one thing, whichever process asks."""
    row: ClassValue | None = None
    """The class of the tree that its rows are objects of, where a mapper makes them."""
    turned: bool = False
    """Whether a method that the tree defines has made something of it that is not seen: a dict, a text, an event."""

    @property
    def is_nothing(self) -> bool:
        """Whether the store has no row that answers."""
        return self.selection == NO_ROW

    @property
    def is_there(self) -> bool:
        """Whether the answer itself is there, without asking: it holds nothing, or an end of all entries; a store
        without any entry has none to send."""
        return self.selection in (NO_ROW, NEWEST, OLDEST)


@dataclass(frozen=True, eq=False)
class Generator(Value):
    """A generator that was called and not yet run, or a lazy iterator made by a builtin."""

    function: Value | None
    scope: Scope | None
    kind: str = "function"
    operands: tuple[Any, ...] = ()


@dataclass(frozen=True)
class Exceptional(Value):
    """An exception of Python's own or of a library, by name."""

    name: str
    arguments: tuple[Value, ...] = ()


def stepped(value: Value, site: Site | None, note: str) -> Value:
    """The value with one more station on its way."""
    if site is None or isinstance(value, Const | Ref | ModuleValue | ClassValue | Function | External):
        return value
    if isinstance(value, Tuple):
        return replace(value, items=tuple(stepped(i, site, note) for i in value.items))
    if isinstance(value, Join):
        return replace(value, parts=tuple(stepped(p, site, note) for p in value.parts))
    if len(value.trail) >= MAX_TRAIL or (value.trail and value.trail[-1].site == site):
        return value
    return replace(value, trail=(*value.trail, Step(site, note)))


def parts_of(value: Value) -> tuple[Value, ...]:
    """The values that a value is directly made of."""
    if isinstance(value, Tuple):
        return value.items
    if isinstance(value, Join):
        return value.parts
    if isinstance(value, Wrapped):
        return (value.inner,)
    if isinstance(value, Exceptional):
        return value.arguments
    if isinstance(value, Collection):
        return tuple(i.value for i in value.items)
    return ()


def undecorated(function: Function) -> Function:
    """What stands behind decorators that say what they wrap."""
    while isinstance(function.wrapped, Function):
        function = function.wrapped
    return function


def leaves(value: Value, limit: int = 64) -> list[Value]:
    """The values at the bottom of a composite, at most `limit`."""
    found: list[Value] = []
    stack = [value]
    while stack and len(found) < limit:
        current = stack.pop()
        parts = parts_of(current)
        if parts:
            stack.extend(reversed(parts))
        else:
            found.append(current)
    return found


def mentions_cursor(value: Value) -> bool:
    """Whether the cursor had a say in a value (heap objects are not entered)."""
    return any(
        isinstance(leaf, Cursor | Position) or (isinstance(leaf, Unknown) and leaf.cursor) for leaf in leaves(value)
    )


def is_const(value: Value, *wanted: Any) -> bool:
    """Whether a value is one of these constants."""
    return isinstance(value, Const) and any(
        value.value is w or (type(value.value) is type(w) and value.value == w) for w in wanted
    )


def settled(value: Value) -> Value:
    """The value as other runs see it: objects that a run made become their summaries."""
    if isinstance(value, Ref):
        return Ref(value.id) if value.serial else value
    if isinstance(value, Generator) and value.kind == "task":
        return Unknown("a task")  # what it came to is of the run that began it
    if isinstance(value, Tuple):
        return replace(value, items=tuple(settled(i) for i in value.items))
    if isinstance(value, Join):
        return replace(value, parts=tuple(settled(p) for p in value.parts))
    if isinstance(value, Wrapped):
        return replace(value, inner=settled(value.inner))
    if isinstance(value, Function) and value.receiver is not None:
        return replace(value, receiver=settled(value.receiver))
    if isinstance(value, Method):
        return replace(value, receiver=settled(value.receiver))
    if isinstance(value, Collection):
        return replace(value, items=tuple(replace(i, value=settled(i.value)) for i in value.items))
    if isinstance(value, Partial):
        keywords = tuple((k, settled(v)) for k, v in value.keywords)
        return replace(
            value, function=settled(value.function), positional=tuple(map(settled, value.positional)), keywords=keywords
        )
    return value
