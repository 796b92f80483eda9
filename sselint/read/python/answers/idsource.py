"""Where the ids on the wire come from: from the values of all frames to one source, with the way that they took."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from sselint.facts import Evidence, IdKind, IdSource, Name, Scope, Truth
from sselint.facts import Minted as When
from sselint.read.python.answers.outcome import Path, evidence_of, mentions
from sselint.read.python.interpreter.heap import Heap, Object
from sselint.read.python.interpreter.machine import Hypothesis
from sselint.read.python.interpreter.values import (
    COUNTING,
    NAMES,
    Const,
    Cursor,
    Exceptional,
    Found,
    Input,
    Item,
    Length,
    Minted,
    Position,
    Ref,
    Remembered,
    Reply,
    Unknown,
    Value,
    Variable,
    Wrapped,
    leaves,
)
from sselint.read.python.interpreter.whose_keys import keys_of
from sselint.read.python.libraries import environment
from sselint.read.python.libraries.wire import Frame
from sselint.read.python.source.modules import Site
from sselint.read.python.stores import writers

NO_IDS = "no event carries an id"
ORDER = (Scope.OVERLAPPING, Scope.ORDERED_LOCAL, Scope.UNIQUE_LOCAL, Scope.UNKNOWN, Scope.SHARED)
"""Of several ids on one wire the worst decides."""


@dataclass(frozen=True)
class Source:
    """The source of one id."""

    kind: IdKind
    scope: Scope
    why: str
    value: Value
    frame: Frame
    local: bool
    found: bool


def is_constant(target: Object) -> bool:
    """A table that is the same everywhere: made at start-up from what is written down or shipped, never added to."""
    made = all(isinstance(v, Const | Reply) or _plain(v) for v in (*target.elements, *(v for _, v in target.pairs)))
    return (
        target.boot
        and target.kind in ("list", "dict", "set")
        and target.grows is None
        and made
        and bool(target.elements or target.pairs)
    )


def _plain(value: Value) -> bool:
    return all(isinstance(leaf, Const | Reply | Ref) for leaf in leaves(value))


def id_source(heap: Heap, paths: Sequence[Path]) -> IdSource:
    """The source of the ids of an endpoint."""
    frames = [(p, f) for p in paths for f in p.frames]
    named = [(p, f) for p, f in frames if f.id is not None]
    if not named:
        return _without(heap, frames, any(p.raw_frames for p in paths))
    sources = [source_of(heap, f) for _, f in named]
    made = [s for s in sources if s.kind is not IdKind.CONSTANT or s.scope is not Scope.NONE] or sources
    made = [s for s in made if s.kind is not IdKind.CLIENT_SUPPLIED or s.frame.item is not None] or made
    worst = min(
        made, key=lambda s: (not s.found, s.kind is IdKind.CONSTANT, ORDER.index(s.scope) if s.scope in ORDER else 9)
    )
    counted = [s for s in made if s.kind is not IdKind.CONSTANT] or made  # the first number is written down
    when = When.CONNECTION if all(s.local for s in counted) else When.PUBLISHED
    fresh = Truth.of(any(p.hypothesis is Hypothesis.MISSING for p, _ in named))
    if worst.kind is IdKind.UNKNOWN and not worst.frame.literal and fresh is Truth.YES:
        fresh = Truth.UNKNOWN  # an event that is made out of sight may as well have none
    if fresh is Truth.NO and any(map(_waits_for_what_is_out_of_sight, paths)):
        fresh = Truth.UNKNOWN
    names = {leaf.kind for leaf in environment.as_if_not_set(leaves(worst.value)) if isinstance(leaf, Minted)}
    apart = frozenset(Name(kind) for kind in names & NAMES) if worst.kind is IdKind.REPLICA_PREFIXED else frozenset()
    return IdSource(worst.kind, worst.scope, worst.why, _evidence(worst), when, fresh, apart)


def _waits_for_what_is_out_of_sight(path: Path) -> bool:
    """Whether a first connection waits where nothing in the tree is seen to put anything: that may well carry an id."""
    return path.hypothesis is Hypothesis.MISSING and any(e.data.get("fed") == "nothing" for e in path.events("live"))


def _without(heap: Heap, frames: Sequence[tuple[Path, Frame]], seen: bool) -> IdSource:
    unknown = [f for _, f in frames if not f.framed or set(f.fields) == {"text"}]
    stored = [f for f in unknown if any(mentions(v, Reply) for v in f.fields.values())]
    if stored:
        why = "text of a store is sent as it is, and what was put there, with an id or without, is not known"
        sent = evidence_of([(stored[0].site, "sent here")])
        return IdSource(IdKind.UNKNOWN, Scope.UNKNOWN, why, sent, reaches_fresh_client=Truth.UNKNOWN)
    if unknown and len(unknown) == len(frames):
        value = next(iter(unknown[0].fields.values()))
        why = next(
            (leaf.why for leaf in leaves(value) if isinstance(leaf, Unknown)),
            "what is sent is put together out of sight",
        )
        return IdSource(
            IdKind.UNKNOWN,
            Scope.UNKNOWN,
            f"what is sent is not known: {why}",
            evidence_of([(unknown[0].site, "sent here")]),
            reaches_fresh_client=Truth.UNKNOWN,
        )
    if not seen:
        why = "what is sent is not seen on any path that was followed"
        return IdSource(IdKind.UNKNOWN, Scope.UNKNOWN, why, (), reaches_fresh_client=Truth.UNKNOWN)
    shown = [(f.site, "sent without an id") for _, f in frames[:1]]
    return IdSource(IdKind.NONE, Scope.NONE, NO_IDS, evidence_of(shown), reaches_fresh_client=Truth.NO)


def source_of(heap: Heap, frame: Frame) -> Source:
    """The source of the id of one frame."""
    value = frame.id if frame.id is not None else Const.of(None)
    found = [key for leaf in environment.as_if_not_set(leaves(value)) for key in _random_names(heap, leaf)]
    found = [leaf for leaf in found if not isinstance(leaf, Const) or isinstance(leaf, Remembered)]
    local = bool(found) and all(
        isinstance(leaf, Minted)
        and leaf.local
        and not leaf.boot
        and not _placed(heap, leaf)
        and not _stored(heap, leaf)
        for leaf in found
        if not isinstance(leaf, Input)
    )
    kind, scope, why = _place_in_store(heap, found, frame.item) or classify(heap, value, found, frame.item)
    return Source(kind, scope, why, value, frame, local and scope is not Scope.SHARED, bool(found))


def _random_names(heap: Heap, leaf: Value) -> list[Value]:
    """What a name is that the client chose and a container of the process was seen to have: random, where it takes all
    its keys at random, and otherwise the client's."""
    if not isinstance(leaf, Found):
        return [leaf]
    keys = [[part for part in leaves(key) if isinstance(part, Minted)] for key in keys_of(heap, heap[leaf.among])]
    random = bool(keys) and all(any(part.kind == "random" for part in parts) for parts in keys)
    return [part for parts in keys for part in parts] if random else [leaf]


def _place_in_store(heap: Heap, found: Sequence[Value], item: Item | None) -> tuple[IdKind, Scope, str] | None:
    """The number of an element of a list of a store that was asked for from there on, counted on by the reader."""
    if item is None or not isinstance(item.value, Reply) or not item.value.placed:
        return None
    counted = [leaf for leaf in found if isinstance(leaf, Minted) and leaf.kind == "counter" and leaf.local]
    given = [leaf for leaf in found if isinstance(leaf, Cursor) and item.selection != "all"]
    if not found or len(counted) + len(given) < len(found):
        return None
    store = heap[item.value.source]
    scope = Scope.SHARED if store.where in ("shared", "image") else Scope.UNKNOWN
    return IdKind.INDEX, scope, f"the place in a list of {store.label}, which is the same for every process"


def _placed(heap: Heap, made: Minted) -> bool:
    """Whether it is a position in a container that other connections see."""
    return made.kind == "index" and made.about in heap.objects


def _stored(heap: Heap, made: Minted) -> bool:
    """Whether what was minted is kept in a container of the process, where other connections find it."""
    return bool(made.trail) and (made.kind, made.trail[0].site) in _kept(heap, heap.version)


@lru_cache(maxsize=1)
def _kept(heap: Heap, version: int) -> frozenset[tuple[str, Site]]:
    """What was minted of all that containers hold, by its kind and where. The heap is looked through once for each
    `version` of it: doing so for each event that is sent took a fifth of the time of a large tree."""
    held = (
        value
        for target in heap.objects.values()
        for value in (*target.elements, *(part for pair in target.pairs for part in pair))
    )
    made = (leaf for value in held for leaf in _deep(heap, value) if isinstance(leaf, Minted) and leaf.trail)
    return frozenset((leaf.kind, leaf.trail[0].site) for leaf in made)


def _deep(heap: Heap, value: Value, depth: int = 0) -> Iterable[Value]:
    for leaf in leaves(value):
        yield leaf
        if isinstance(leaf, Ref) and depth < 3 and leaf.id in heap.objects:
            target = heap[leaf]
            for held in target.attributes.values():
                for inner in held:
                    yield from _deep(heap, inner, depth + 1)
            for _, inner in target.pairs:
                yield from _deep(heap, inner, depth + 1)


def classify(heap: Heap, value: Value, found: Sequence[Value], item: Item | None) -> tuple[IdKind, Scope, str]:
    """Kind and scope of an id, by what it is put together from."""
    if not found:
        return _constant(heap, value, item)
    minted = [leaf for leaf in found if isinstance(leaf, Minted)]
    kinds = {leaf.kind for leaf in minted}
    boot = next((leaf for leaf in minted if leaf.boot and leaf.kind in ("random", "clock", "ordered")), None)
    if any(leaf.kind == "random" and not leaf.boot for leaf in minted):
        return IdKind.RANDOM, Scope.UNIQUE_LOCAL, "a random id, which no other process has"
    if boot is not None:
        return (
            IdKind.EPOCH_PREFIXED,
            Scope.UNIQUE_LOCAL,
            "a token made at start-up stands in front, so that another process can tell that the id is foreign",
        )
    if kinds & NAMES:
        return IdKind.REPLICA_PREFIXED, Scope.UNIQUE_LOCAL, _named_after(kinds)
    if kinds & {"clock", "ordered"} and _is_hashed(value):
        return IdKind.RANDOM, Scope.UNIQUE_LOCAL, "hashed from the clock, so that nothing compares with it"
    if kinds & {"clock", "ordered"}:
        return IdKind.CLOCK, Scope.ORDERED_LOCAL, "made from the clock: foreign, and yet comparable"
    counted = _counted(heap, found)
    if counted is not None:
        return _in_front(found, *counted)
    return _elsewhere(heap, found)


def _named_after(kinds: set[str]) -> str:
    if kinds & NAMES == {"process"}:
        return "the number of the process stands in front, which tells the workers of a replica apart"
    return "the replica's name stands in front, which tells replicas apart, but not two lives of one"


def _is_hashed(value: Value) -> bool:
    """Whether a value is the hash of something, or a part of one."""
    return isinstance(value, Wrapped) and (value.form == "hash" or _is_hashed(value.inner))


def _constant(heap: Heap, value: Value, item: Item | None) -> tuple[IdKind, Scope, str]:
    if any(isinstance(leaf, Const) and leaf.value in (None, "None") for leaf in leaves(value)):
        return IdKind.UNKNOWN, Scope.UNKNOWN, "it is not seen what gives the id its value"
    if item is not None and item.source in heap.objects and not is_constant(heap[item.source]):
        return IdKind.COUNTER, Scope.OVERLAPPING, "numbers that are written down for every process"
    return IdKind.CONSTANT, Scope.SHARED, "written down, and so the same on every process"


def _in_front(found: Sequence[Value], kind: IdKind, scope: Scope, why: str) -> tuple[IdKind, Scope, str]:
    """What is counted, behind a variable of the environment: open where nothing says whether all have the same."""
    open_ones = [leaf.name for leaf in found if isinstance(leaf, Variable) and not leaf.for_all]
    made = next((leaf.why for leaf in found if isinstance(leaf, Unknown) and not leaf.cursor), None)
    if scope is Scope.OVERLAPPING and made is not None:
        return kind, Scope.UNKNOWN, f"counted by each process behind something of which it is open whose it is: {made}"
    if scope is not Scope.OVERLAPPING or not open_ones:
        return kind, scope, why
    return kind, Scope.UNKNOWN, f"counted by each process behind its {open_ones[0]}; whether all have the same is open"


def _counted(heap: Heap, found: Sequence[Value]) -> tuple[IdKind, Scope, str] | None:
    for leaf in found:
        if isinstance(leaf, Minted) and leaf.kind in COUNTING:
            about = heap.objects.get(leaf.about)
            if (
                leaf.kind == "index"
                and about is not None
                and (about.where in ("shared", "image") or is_constant(about))
            ):
                continue
            if leaf.writers == writers.ONE:
                return IdKind.COUNTER, Scope.SHARED, "counted by the one run whose random name it is kept under"
            if leaf.writers == writers.LOG:
                return IdKind.COUNTER, Scope.SHARED, "its place in a log for all, which takes no place twice"
            if leaf.writers == writers.TABLE:
                return IdKind.STORE, Scope.SHARED, "counted by each process; the table that keeps it refuses one twice"
            if leaf.writers == writers.SOME:
                why = "counted by each run for itself; whether another one writes under the same name is open"
                return IdKind.COUNTER, Scope.UNKNOWN, why
            if leaf.kind == "index" and about is not None and about.where == "pod_disk":
                return IdKind.INDEX, Scope.SHARED, f"a place in {about.label}, the same to all that read the same"
            if about is not None and about.kind == "shared" and about.where in ("shared", "pod_disk", "unknown"):
                why = f"counted by each process; whether a table of {about.label} takes a number twice is open"
                return IdKind.COUNTER, Scope.UNKNOWN, why
            if leaf.kind == "index":
                return (
                    IdKind.INDEX,
                    Scope.OVERLAPPING,
                    "a position in a list of this process; another process has its own",
                )
            return (
                IdKind.COUNTER,
                Scope.OVERLAPPING,
                "counted by each process for itself; another process has its own event of that number",
            )
        if isinstance(leaf, Length | Position):
            about = heap.objects.get(leaf.about)
            if about is not None and (about.where in ("shared", "image") or is_constant(about)):
                continue
            if about is not None and about.kind == "shared" and about.where in ("pod_disk", "unknown"):
                why = f"a place in {about.label}, the same to all that read the same"
                return IdKind.STORE, Scope.SHARED if about.where == "pod_disk" else Scope.UNKNOWN, why
            return IdKind.INDEX, Scope.OVERLAPPING, "the length of a list of this process; another process has its own"
        if isinstance(leaf, Remembered):
            return IdKind.COUNTER, Scope.OVERLAPPING, "a number kept in the memory of each process"
    return None


def _elsewhere(heap: Heap, found: Sequence[Value]) -> tuple[IdKind, Scope, str]:
    for leaf in found:
        if isinstance(leaf, Unknown):
            return IdKind.UNKNOWN, Scope.UNKNOWN, leaf.why
        if isinstance(leaf, Exceptional | Ref):
            return IdKind.UNKNOWN, Scope.UNKNOWN, "an object whose text is not understood"
    passed = next((leaf for leaf in found if isinstance(leaf, Reply) and leaf.passed), None)
    if passed is not None:
        return _put_there(heap, heap[passed.source], passed.passed)
    store = next((heap[leaf.source] for leaf in found if isinstance(leaf, Reply)), None)
    minted = next((leaf for leaf in found if isinstance(leaf, Minted) and leaf.kind == "store"), None)
    if store is None and minted is not None:
        store = heap.objects.get(minted.about)
    if store is not None:
        if store.where == "image":
            return IdKind.CONSTANT, Scope.SHARED, "read from a file that ships with the server"
        if store.where == "process":
            return IdKind.COUNTER, Scope.OVERLAPPING, f"{store.label} numbers it in the memory of each process"
        if store.where == "pod_disk":
            return IdKind.STORE, Scope.SHARED, f"{store.label} gives it, the same to all that open one file"
        if store.where == "unknown":
            return IdKind.STORE, Scope.UNKNOWN, f"{store.label} gives it, and where that is is not known"
        return IdKind.STORE, Scope.SHARED, f"{store.label} gives it, and every process asks the same one"
    if any(isinstance(leaf, Minted) and leaf.kind == "index" for leaf in found) or any(
        isinstance(leaf, Length | Position) for leaf in found
    ):
        return IdKind.CONSTANT, Scope.SHARED, "a position in a table that is the same on every process"
    given = next((leaf for leaf in found if isinstance(leaf, Input | Cursor)), None)
    if given is not None:
        name = given.name if isinstance(given, Input) else "the cursor"
        return IdKind.CLIENT_SUPPLIED, Scope.UNKNOWN, f"taken from what the client sent ({name})"
    if any(isinstance(leaf, Variable) for leaf in found):
        return IdKind.CONSTANT, Scope.SHARED, "taken from the environment"
    return IdKind.UNKNOWN, Scope.UNKNOWN, "what it is made of is not understood"


def _put_there(heap: Heap, store: Object, how: str) -> tuple[IdKind, Scope, str]:
    """The id of an entry of a store that makes none itself: what the tree put there or told listeners (`how`),
    where that is of one kind."""
    made = [leaf for leaf in store.attributes.get(how, ()) if isinstance(leaf, Minted)]
    if made and len({(leaf.kind, leaf.boot) for leaf in made}) == 1:
        return classify(heap, made[0], made[:1], None)
    return IdKind.UNKNOWN, Scope.UNKNOWN, f"whatever is put into {store.label} names its events out of sight"


def _evidence(source: Source) -> Evidence:
    sites: list[tuple[Site | None, str]] = []
    for leaf in leaves(source.value):
        if not isinstance(leaf, Const):
            sites.extend((step.site, step.note) for step in leaf.trail)
    return evidence_of(
        [*sites[:7], (source.frame.made, "put into an event here"), (source.frame.site, "put on the wire here")]
    )


def may_overlap(ids: IdSource) -> bool:
    """Whether another process may have its own event of an id; of a name in front, the deployment says so."""
    return ids.scope in (Scope.OVERLAPPING, Scope.UNKNOWN) or ids.kind is IdKind.REPLICA_PREFIXED
