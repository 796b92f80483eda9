"""The heap of a paper run: what is known of each object of the process, and what one run changes.

The base holds what all code that was run before may have put there (weak updates: a set of values for each attribute).
A run works on an overlay of its own, with strong updates; while the base is being built, writes go to both.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from sselint.read.python.interpreter.values import Const, Item, Ref, Value
from sselint.read.python.source.modules import Site

MAX_VALUES = 10
MAX_WRITTEN = 400
"""Elements of a container that are written down: a table of routes has as many as the application has addresses."""


@dataclass
class Object:
    """What is known of one object, whoever asks.

    `kind` is instance, list, dict, set, library, shared or namespace. `of` is its class or entry. `boot` is True for
    objects that were made when the process started. `grows` is True where code other than start-up adds to it.
    """

    id: int
    kind: str
    of: object
    site: Site | None
    boot: bool
    label: str = ""
    attributes: dict[str, dict[Value, None]] = field(default_factory=dict)
    elements: dict[Value, None] = field(default_factory=dict)
    pairs: dict[tuple[Value, Value], None] = field(default_factory=dict)
    arguments: dict[str, Value] = field(default_factory=dict)
    given: dict[str, dict[Value, None]] = field(default_factory=dict)
    """All values that an argument of a library's object had, where the same call makes it on several paths."""
    taken_over: dict[Value, None] = field(default_factory=dict)
    """What was merged into a dict whole."""
    bounded: Site | None = None
    grows: Site | None = None
    added_at: set[str] = field(default_factory=set)
    """The ends where elements are added: "front" alone is a history whose newest comes first."""
    fed_by: set[str] = field(default_factory=set)
    """Where what is put into a queue comes from: the kind of a store that a task reads."""
    own_puts: int = 0
    """How often the process puts something of its own into it, on all paths that were followed."""
    published_puts: int = 0
    """How often it puts the same into a shared store, too."""
    default: Value | None = None
    where: str = "memory"
    details: dict[str, Value] = field(default_factory=dict)
    rewritten: set[str] = field(default_factory=set)
    """Attributes that are set again after the object was made."""
    heard: dict[tuple[Site | None, bool], dict[str, Value]] = field(default_factory=dict)
    """The fields of the frames that others write to a connection, by the place that writes them and whether they name
    the event: one place may send both."""

    @property
    def newest_first(self) -> bool:
        """Whether the elements stand in the other order: the last that was added is the first."""
        return self.added_at == {"front"}


class Heap:
    """All objects by number; the same place in the source, made for the same owner, is the same object."""

    def __init__(self) -> None:
        self.objects: dict[int, Object] = {}
        self._numbers: dict[tuple[object, ...], int] = {}
        self._keys: dict[int, tuple[object, ...]] = {}
        self.version = 0

    def number(self, key: tuple[object, ...]) -> int:
        """The number of the object made at `key` (place and owner)."""
        found = self._numbers.setdefault(key, len(self._numbers) + 1)
        self._keys[found] = key
        return found

    def key_of(self, number: int) -> tuple[object, ...] | None:
        """The place and owner that a number stands for."""
        return self._keys.get(number)

    def make(self, key: tuple[object, ...], kind: str, of: object, site: Site | None, boot: bool) -> Object:
        """The object made at `key`."""
        number = self.number(key)
        found = self.objects.get(number)
        if found is None:
            found = self.objects[number] = Object(number, kind, of, site, boot)
            self.version += 1
        return found

    def __getitem__(self, ref: Ref | int) -> Object:
        return self.objects[ref.id if isinstance(ref, Ref) else ref]

    def add(self, into: dict[Value, None], value: Value) -> None:
        """Adds a value to a summary, up to a number of different ones."""
        if value not in into and len(into) < MAX_VALUES:
            into[value] = None
            self.version += 1

    def add_element(self, target: Object, value: Value, written: bool) -> None:
        """Adds an element to the summary of a container; `written` where a display lists it."""
        if value not in target.elements and len(target.elements) < (MAX_WRITTEN if written else MAX_VALUES):
            target.elements[value] = None
            self.version += 1

    def add_pair(self, target: Object, key: Value, value: Value) -> None:
        """Adds an entry to the summary of a dict."""
        if (key, value) not in target.pairs and len(target.pairs) < MAX_VALUES * 3:
            target.pairs[(key, value)] = None
            self.version += 1


@dataclass
class Message:
    """What a run put into a shared store: all that it is made of, and for each container of the process the one value
    that it is a copy of."""

    parts: frozenset[Value]
    copies: dict[int, Value] = field(default_factory=dict)


@dataclass
class Overlay:
    """What one run has done to the heap so far.

    Objects with a serial number are the run's own: their content here is all there is, unless they `escaped` into an
    object that others see. `known` keeps the decisions of this run that must stay the same: which of several values an
    attribute has, whether a container is empty. `oldest` and `newest` are elements taken from the ends of a history.
    """

    attributes: dict[tuple[Ref, str], Value] = field(default_factory=dict)
    items: dict[Ref, list[Item]] = field(default_factory=dict)
    pairs: dict[Ref, list[tuple[Value, Value]]] = field(default_factory=dict)
    origins: dict[Ref, list[Item]] = field(default_factory=dict)
    """For each of the pairs that were put into a dict one by one, the element that was looked at then."""
    escaped: set[Ref] = field(default_factory=set)
    known: dict[object, object] = field(default_factory=dict)
    taken: dict[int, tuple[Value, bool]] = field(default_factory=dict)
    """Values, by their identity, that this run took for true or for false when it first asked."""
    oldest: set[Ref] = field(default_factory=set)
    newest: set[Ref] = field(default_factory=set)
    own_puts: list[tuple[Object, Value]] = field(default_factory=list)
    """What the run put into containers of the process of its own, and into no shared store so far."""
    published: list[Message] = field(default_factory=list)
    """What the run put into shared stores."""
    serial: int = 0

    def attributes_of(self, ref: Ref) -> dict[str, Value]:
        """What the run has set on one object, by name."""
        return {name: value for (holder, name), value in self.attributes.items() if holder == ref}


def lookup_pair(pairs: list[tuple[Value, Value]], key: Value) -> Value | None:
    """The last entry with exactly this key in a dict whose entries are all known."""
    for known, value in reversed(pairs):
        if known == key and isinstance(key, Const):
            return value
    return None
