"""The state of a run and what every part of the interpreter does with it: decide, make objects, read and write them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING, Any

from sselint.read.python.interpreter import counters, placeholders
from sselint.read.python.interpreter.choices import picked
from sselint.read.python.interpreter.heap import Object, Overlay
from sselint.read.python.interpreter.kept import as_kept
from sselint.read.python.interpreter.oracle import Decision, Oracle
from sselint.read.python.interpreter.trace import Event
from sselint.read.python.interpreter.values import (
    STORED,
    ClassValue,
    Collection,
    Const,
    Cursor,
    Function,
    Generator,
    Input,
    Item,
    Join,
    Length,
    Method,
    Minted,
    Ref,
    Remembered,
    Reply,
    Scope,
    Tuple,
    Unknown,
    Value,
    Variable,
    leaves,
    settled,
    stepped,
)
from sselint.read.python.interpreter.ways import Ways
from sselint.read.python.source import ir
from sselint.read.python.source.modules import Module, Site

if TYPE_CHECKING:
    from collections.abc import Callable

    from sselint.read.python.server.endpoint import Endpoint
    from sselint.read.python.server.world import World

MAX_DEPTH = 28
LOOP_ROUNDS = 2
COUNTED = 3
"""So many numbers in a row are counted, and not written down."""
SIGNS = frozenset({"cursor", "stream", "start", "frame"})


class Hypothesis(str, Enum):
    """What is assumed about the cursor that the client presents."""

    BUILD = "build"
    """No paper run: code is run to see what it puts where."""
    MISSING = "missing"
    FOREIGN = "foreign"
    """Well formed, minted by another process, unknown here."""
    KNOWN = "known"
    """Equal to an id of this process."""
    MALFORMED = "malformed"


class Signal(Exception):  # noqa: N818 - a signal, not an error
    """A jump of the interpreted program."""


class Returned(Signal):
    """`return value`; `said`: the value is written down."""

    def __init__(self, value: Value, said: bool) -> None:
        self.value, self.said = value, said


class Broke(Signal):
    """`break`."""


class Continued(Signal):
    """`continue`."""


class Ended(Signal):
    """The path goes on for ever: the stream stays open."""


class Answered(Ended):
    """A library has answered the request by itself: nothing that the handler does afterwards is sent."""


class Started(Ended):
    """Start-up is over: what stands behind it is done when the server stops."""


class Raised(Signal):
    """An exception of the interpreted program."""

    def __init__(self, exception: Value, site: Site | None) -> None:
        self.exception = exception
        self.site = site


class Passing(Exception):  # noqa: N818 - a signal, not an error
    """A signal from the body of a loop on its way through the generator that feeds the loop."""

    def __init__(self, owner: object, signal: Signal) -> None:
        self.owner = owner
        self.signal = signal


@dataclass
class Frame:
    """A running piece of code."""

    module: Module
    scope: Scope
    names: ir.Names | None = None
    function: Function | None = None
    on_yield: Callable[[Value, Site], None] | None = None
    handling: Raised | None = None
    level: str = "function"
    """What kind of body runs: function, class or module."""

    @property
    def receiver(self) -> Value | None:
        """`self` of the running method."""
        return self.function.receiver if self.function is not None else None


@dataclass(frozen=True)
class Arguments:
    """The arguments of a call, and where it stands."""

    positional: tuple[Value, ...]
    keywords: dict[str, Value]
    site: Site
    frame: Frame | None

    def first(self) -> Value:
        """The first argument."""
        return self.positional[0] if self.positional else next(iter(self.keywords.values()), Const.of(None))

    def get(self, position: int, name: str = "") -> Value | None:
        """An argument by position or name."""
        if position < len(self.positional):
            return self.positional[position]
        return self.keywords.get(name)


class Machine:
    """One run: an oracle that decides, an overlay on the heap, and the trace of what happened."""

    def __init__(self, world: World, oracle: Oracle, hypothesis: Hypothesis, overlay: Overlay | None = None) -> None:
        self.world = world
        self.heap = world.heap
        self.rules = world.rules
        self.oracle = oracle
        self.hypothesis = hypothesis
        self.overlay = overlay or Overlay()
        self.trace: list[Event] = []
        self.boot = False
        self.depth = 0
        self.calls: list[object] = []
        self.current: list[Item] = []
        """Representative elements that are being looked at, innermost last."""
        self.guarded: list[bool] = []
        """For each `try` around: whether it would catch a failing store."""
        self.prepared: list[bool] = []
        """For each `try` around: whether it would catch that something is not there."""
        self.endless = 0
        """Depth of endless loops, and whether one is in its second round."""
        self.round = 0
        self.queued = 0
        """How often the run has taken from a queue what it had put there itself."""
        self.constructing: list[Ref] = []
        self.shape: Value | None = None
        """The id on the wire, as far as it is known: what a well-formed cursor looks like."""
        self.request: dict[str, Value] = {}
        self.serving: Endpoint | None = None
        self.signs: int | None = None
        """How many decisions had been taken when the first thing was done that has to do with the stream."""
        self.variables: dict[str, None] = {}
        """Environment variables that the run asked for."""
        self.written: dict[tuple[Ref, str], tuple[Value, int]] = {}
        """What the run has set attributes to, and how many decisions it had taken then."""
        self.first = (0, 0)
        """The answer to the test that is being evaluated which is tried first, and in how deep a call it is asked."""
        self.hopeful = False
        """Whether what nothing has been seen to fill yet may be full all the same, also while the heap is built."""
        self.alone: object = None
        """The function that is run by itself, with arguments that nobody gives."""
        self.sink: Callable[[Value, Site | None], None] | None = None
        self.begun = False
        """Whether the head of the response has left: then a refusal has no status any more."""
        self.media = ""
        self.raw_replies = False
        self.pending: list[Value] = []
        self.frame_fields: dict[str, Value] = {}
        self.frame_site: Site | None = None
        """The frame that is being sent in pieces."""
        self.frame_made: Site | None = None
        """Where its text was put together."""
        self.written_to: dict[Ref, tuple[list[Value], dict[str, Value]]] = {}
        """The frames that are being sent in pieces on the connections of others."""
        self.ran: set[object] = set()
        self.visited: set[str] = set()
        """Files whose functions have run."""
        self.apart = 0
        """How deep the run is inside tasks and threads that it started."""
        self.goes_on = False
        """Whether a task of the request goes on sending events when the handler has come to its end."""
        self.publishing = False
        """Whether what is made now is made for all who listen, not for one connection."""
        self.call_sites: list[Site | None] = []
        self.drawn: dict[Generator, Any] = {}
        """The generators that are asked for one element at a time, with what is left of them."""
        self.ways = Ways()
        self.live: Item | None = None
        """What was taken last from a queue or channel: the event that is on its way now."""

    @property
    def building(self) -> bool:
        """Whether the base heap is being built."""
        return self.hypothesis is Hypothesis.BUILD

    # -- decisions --------------------------------------------------------------------------------------------------

    def choose(
        self, options: int, key: object, kind: str, label: str = "", site: Site | None = None, first: int = 0
    ) -> int:
        """The oracle's answer; `first` is tried before the others."""
        if kind == "condition" and self.first[0] == self.depth:
            first = self.first[1] or first
        return self.oracle.choose(options, key, kind, label, site, self.ways.within, first)

    def once(
        self, options: int, key: object, kind: str, label: str = "", site: Site | None = None, first: int = 0
    ) -> int:
        """The oracle's answer, the same for the whole run."""
        if key not in self.overlay.known:
            self.overlay.known[key] = self.choose(options, key, kind, label, site, first)
        found = self.overlay.known[key]
        return min(found, options - 1) if isinstance(found, int) else 0

    def note(self, kind: str, site: Site | None, **data: Any) -> None:
        """Adds to the trace."""
        if self.signs is None and kind in SIGNS:
            self.signs = len(self.oracle.decisions)
        self.ways.noted(kind)
        self.trace.append(Event(kind, site, {**data, "round": self.round}))

    # -- objects ----------------------------------------------------------------------------------------------------

    def make(self, kind: str, of: object, site: Site | None, frame: Frame | None = None, label: str = "") -> Ref:
        """A new object, made at `site` by the method or function that runs in `frame`."""
        owner = frame.receiver if frame is not None else None
        caller = self.call_sites[-1] if self.call_sites and isinstance(of, ClassValue) and not self.boot else None
        key = (site, label, owner.id if isinstance(owner, Ref) else 0, kind, caller)
        found = self.heap.make(key, kind, of, site, self.boot)
        if self.boot:
            found.boot = True
            ref = Ref(found.id)
            if kind not in ("instance", "library", "namespace"):
                self.overlay.items.setdefault(ref, [])
            return ref
        self.overlay.serial += 1
        ref = Ref(found.id, self.overlay.serial)
        self.overlay.items[ref] = []
        self.overlay.pairs[ref] = []
        return ref

    def object(self, ref: Ref) -> Object:
        """What is known of an object."""
        return self.heap[ref.id]

    def own(self, ref: Ref) -> bool:
        """Whether this run made the object and nobody else can see it."""
        return ref.serial != 0 and ref not in self.overlay.escaped

    def escape(self, value: Value) -> None:
        """Marks the run's own objects in a value as seen by others."""
        for leaf in leaves(value):
            if isinstance(leaf, Ref) and leaf.serial and leaf not in self.overlay.escaped:
                self.overlay.escaped.add(leaf)
                self._publish(leaf)

    def _publish(self, ref: Ref) -> None:
        """What a run put into an object before others could see it becomes part of what they see."""
        target = self.object(ref)
        for item in self.overlay.items.get(ref, []):
            self.escape(item.value)
            if self.building:
                self.heap.add_element(target, as_kept(self, item.value), written=True)
        for key, value in self.overlay.pairs.get(ref, []):
            self.escape(key)
            self.escape(value)
            if self.building:
                kept = stepped(value, target.site, STORED) if isinstance(value, Length) else value
                self.heap.add_pair(target, settled(key), as_kept(self, kept))
        for value in self.overlay.attributes_of(ref).values():
            self.escape(value)

    def read_attribute(self, ref: Ref, name: str, site: Site | None = None) -> Value | None:
        """The value of an attribute that was written, or None. Where several were, the oracle picks one."""
        found = self.overlay.attributes.get((ref, name))
        if found is not None:
            return self.as_state(found, ref.id) if not self.own(ref) and self._counted(ref, name) else found
        if ref.serial and ref not in self.overlay.escaped:
            return None
        options = placeholders.without(self, self.object(ref).attributes.get(name, ()))
        if not options:
            return None
        place, shown = (ref.id, name), name.strip("['\"]")
        chosen = counters.so_far(self, ("counter", *place), options)
        chosen = chosen or (picked(self, place, options, shown, site) if len(options) > 1 else options[0])
        if name in self.object(ref).rewritten or self._counted(ref, name) or _counts_on(options):
            chosen = self.as_state(chosen, ref.id)
        self.overlay.attributes[(ref, name)] = chosen
        return chosen

    def _counted(self, ref: Ref, name: str) -> bool:
        """Whether the class's file counts the attribute on, be it that no run has come there yet."""
        of = self.object(ref).of
        return not self.boot and isinstance(of, ClassValue) and name in of.module.counted

    def as_state(self, value: Value, about: int) -> Value:
        """A number that was read from the memory of the process counts something, whatever its first value is."""
        if isinstance(value, Const) and type(value.value) is int and not isinstance(value, Remembered):
            return Remembered(value.value, value.kind, about, trail=value.trail)
        if isinstance(value, Tuple):
            return replace(value, items=tuple(self.as_state(i, about) for i in value.items))
        return value

    def write_attribute(self, ref: Ref, name: str, value: Value, site: Site | None) -> None:
        """Sets an attribute."""
        self.overlay.attributes[(ref, name)] = value
        if not self.own(ref):
            self.escape(value)
        if self.building:
            target = self.object(ref)
            if ref not in self.constructing:
                target.rewritten.add(name)
            held, written = target.attributes.setdefault(name, {}), as_kept(self, value)
            if written not in held:  # the way of a value tells no two apart: the first that is kept is the one cited
                written = as_kept(self, stepped(value, site, STORED))
            self.heap.add(held, written)
            before, decisions = self.written.get((ref, name)), self.oracle.decisions
            self.world.choices.wrote((ref.id, name), written, decisions)
            if before is not None and before[0] != written:
                self.world.choices.replaced((ref.id, name), decisions[before[1] :])
            self.written[(ref, name)] = (written, len(decisions))

    # -- truth ------------------------------------------------------------------------------------------------------

    def truth(self, value: Value, site: Site | None) -> bool:
        """Whether a value is true; where nobody can know, the oracle says."""
        if isinstance(value, Const):
            return bool(value.value)
        taken = self.overlay.taken.get(id(value))
        if taken is not None:
            return taken[1]
        if isinstance(value, Cursor | Minted | Function | ClassValue | Generator):
            return True
        if isinstance(value, Tuple):
            return bool(value.items)
        if isinstance(value, Collection):
            return bool(value.items)
        if isinstance(value, Join):
            return True
        if isinstance(value, Variable):
            return self.world.decide_variable(self, value, "is set", site, lambda v: bool(v))
        if isinstance(value, Ref):
            return self._object_truth(value, site)
        if isinstance(value, Length):
            return value.extra or not self.is_empty(Ref(value.about), site)
        if isinstance(value, Method):
            return self._member_truth(value, site)
        kind = "opaque" if isinstance(value, Unknown) and value.cursor else "condition"
        if isinstance(value, Reply) and value.is_there:
            return True  # the answer is there; and a store without any entry has none to send
        if isinstance(value, Input):
            return self.choose(2, ("truth", site), kind, value.name, site, value.first) == 0
        if isinstance(value, Reply | Unknown):
            label = "the answer of the store" if isinstance(value, Reply) else value.why
            return self.choose(2, ("truth", site), kind, label, site) == 0
        return True

    def take_for(self, value: Value, holds: bool) -> Value:
        """The value as one of which it was found that it is true, or that it is not: asked again, wherever it has gone,
        it is the same."""
        if not isinstance(value, Reply | Input | Unknown) or id(value) in self.overlay.taken:
            return value
        same = copy(value)
        self.overlay.taken[id(same)] = (same, holds)
        return same

    def _member_truth(self, member: Method, site: Site | None) -> bool:
        """Whether a member of a library's object is true: one that no rule describes may be a method, or a value
        such as `pool.closed`."""
        from sselint.read.python.libraries import library

        holder = member.receiver
        if not isinstance(holder, Ref) or self.object(holder).kind != "library":
            return True
        if library.describes(self, holder, member.name):
            return True
        label = f"{member.name}, which no rule describes"
        return self.once(2, ("member", holder.id, member.name), "condition", label, site) == 0

    def _object_truth(self, ref: Ref, site: Site | None) -> bool:
        if self.object(ref).kind in ("list", "dict", "set"):
            return not self.is_empty(ref, site)
        return True

    def is_empty(self, ref: Ref, site: Site | None) -> bool:
        """Whether a container is empty."""
        if self.own(ref):
            return not self.overlay.items.get(ref) and not self.overlay.pairs.get(ref)
        if self.hypothesis is Hypothesis.KNOWN or self.overlay.items.get(ref) or self.overlay.pairs.get(ref):
            return False
        found = self.object(ref)
        if self.building and not self.hopeful and not found.elements and not found.pairs:
            return True  # nothing has been seen to fill it yet
        return self.once(2, ("empty", ref.id), "empty", f"whether {found.label or 'the container'} is empty", site) == 1

    # -- representative elements ------------------------------------------------------------------------------------

    def phases(self) -> tuple[str, ...]:
        """Where representative elements stand relative to the cursor."""
        if self.hypothesis is Hypothesis.KNOWN:
            return ("before", "at", "after")
        if self.hypothesis is Hypothesis.FOREIGN:
            return ("low", "high")
        return ("one", "two")

    @contextmanager
    def looking_at(self, item: Item) -> Iterator[None]:
        """Makes `item` the element that comparisons speak of."""
        self.current.append(item)
        try:
            yield
        finally:
            self.current.pop()

    def phase(self) -> str:
        """The phase of the innermost element that is looked at, "" if none is."""
        for item in reversed(self.current):
            if item.phase:
                return item.phase
        return ""

    @property
    def source(self) -> int:
        """The container of the innermost element that is looked at."""
        for item in reversed(self.current):
            if item.source:
                return item.source
        return 0

    def minted(self, kind: str, site: Site | None, about: int = 0, note: str = "made here") -> Minted:
        """A value that is made now."""
        value = Minted(kind, about, self.boot, not self.building and not self.boot and not self.publishing)
        return replace(value, trail=stepped(value, site, note).trail)

    def site(self, frame: Frame, node: ir.Node) -> Site:
        """The place of a node."""
        return frame.module.site(node.cst)


def _counts_on(options: list[Value]) -> bool:
    """Whether records of one place have one number after the other: each was counted on from the one before."""
    numbers = sorted(v.value for v in options if isinstance(v, Const) and type(v.value) is int)
    return len(numbers) >= COUNTED and numbers == list(range(numbers[0], numbers[0] + len(numbers)))


__all__ = [
    "Answered",
    "Broke",
    "Continued",
    "Decision",
    "Ended",
    "Event",
    "Frame",
    "Hypothesis",
    "Machine",
    "Passing",
    "Raised",
    "Returned",
    "Signal",
    "Started",
]
