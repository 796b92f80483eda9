"""Where events live: what a reconnect is answered from, and what the same connection hears of afterwards."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from sselint.facts import Replay, Truth, Where
from sselint.read.python.answers.idsource import is_constant
from sselint.read.python.answers.outcome import Path, doubtful, evidence_of, written_down
from sselint.read.python.interpreter.heap import Heap, Object
from sselint.read.python.interpreter.machine import Hypothesis
from sselint.read.python.interpreter.trace import Event
from sselint.read.python.interpreter.values import Const, Minted, Reply, leaves
from sselint.read.python.source.modules import Site

WORST = (Where.MEMORY, Where.UNKNOWN, Where.POD_DISK, Where.SHARED, Where.NONE)
SAME = "replayed from a table that is the same on every process"
RELAYED = "then a task of the process passes on what any process put into the shared store"
OWN_PLACES = frozenset({"memory", "process"})
UNSEEN = "what wakes it for what others publish is not seen"
PLACES = {
    "shared": Where.SHARED,
    "image": Where.SHARED,
    "pod_disk": Where.POD_DISK,
    "process": Where.MEMORY,
    "unknown": Where.UNKNOWN,
}
"""`process` is a database in the memory of the process."""


def place_of(target: Object) -> Where:
    """Where an object lives, as a reconnect sees it."""
    if target.where == "pod_disk" and target.grows is None:
        return Where.POD_DISK
    if target.where in PLACES:
        return PLACES[target.where]
    return Where.SHARED if is_constant(target) else Where.MEMORY


def replay_of(heap: Heap, paths: Sequence[Path], may_overlap: bool = True) -> Replay:
    """What all the paths of an endpoint say of replay and live tail. `may_overlap`: another process may have its own
    event of an id, so that the memory of each may answer for it."""
    sources = _sources(heap, paths)
    if not may_overlap:
        sources = _behind_caches(heap, paths, sources)
    places = {place_of(heap[n]) for n in sources}
    where = min(places, key=WORST.index) if places else Where.NONE
    if where is Where.SHARED and all(place_of(heap[n]) is Where.SHARED and heap[n].where == "memory" for n in sources):
        why = SAME
    else:
        why = _why(heap, sources, where)
    if where is Where.NONE and any(map(written_down, paths)) and not any(map(_tells_of_what_is_made, paths)):
        where, why = Where.SHARED, SAME
    doubt = next((d for d in map(doubtful, paths) if d is not None), None) if where is Where.NONE else None
    if doubt is not None:
        where, why = Where.UNKNOWN, f"what is replayed is not understood: {doubt.why}"
    tail, tail_why, sites = _tail(heap, paths, sources)
    if doubt is not None and not sites:
        tail, tail_why = Where.UNKNOWN, "and neither is what comes after it"
    ends = _ends(paths)
    if ends is Truth.YES:
        tail, tail_why = Where.NONE, "then the response ends"
    evicts = next((heap[n].bounded for n in sources if heap[n].bounded is not None), None)
    places_shown = [(heap[n].site, f"events are kept here ({_label(heap[n])})") for n in sources]
    if evicts is not None:
        places_shown.append((evicts, "the oldest are dropped here"))
    path = next((heap[n].details.get("path") for n in sources if heap[n].where == "pod_disk"), None)
    return Replay(
        where,
        tail,
        f"{why}; {tail_why}",
        evidence_of([*places_shown, *sites]),
        ends,
        Truth.of(evicts is not None),
        str(path.value) if isinstance(path, Const) else None,
    )


def _label(target: Object) -> str:
    if target.where in PLACES:
        return target.label or target.where
    return "the memory of this process"


def _sent(heap: Heap, paths: Sequence[Path]) -> list[int]:
    """The containers and stores whose elements are sent, other than from a queue. How things stand, which is told
    without an id before what happens is told with one, is no replay where nothing asks how far the client has come."""
    found: dict[int, None] = {}
    named = any(f.id is not None for p in paths for f in p.frames) and not any(p.events("cursor") for p in paths)
    for path in paths:
        for frame in path.frames:
            item = frame.item if frame.id is not None or not named else None
            if item is not None and not frame.live and item.source in heap.objects and item.phase != "live":
                found.setdefault(item.source)
    return list(found)


def _sources(heap: Heap, paths: Iterable[Path]) -> list[int]:
    """The containers and stores whose elements are sent, or else those that are asked for them. What the process reads
    once, when it loads its settings, is none."""
    paths = list(paths)
    sent = _sent(heap, paths)
    if sent:
        return sent
    found: dict[int, None] = {}
    for path in paths:
        inboxes = {event.data["source"] for event in path.events("live")}
        for event in path.events("read"):
            number = int(event.data["container"])
            if (
                number in heap.objects
                and number not in inboxes
                and path.hypothesis is not Hypothesis.MISSING
                and path.asks_cursor
                and not event.data.get("at_start")
            ):
                found.setdefault(number)
    found = found or dict.fromkeys(_looked_up(heap, paths))
    asking = [p for p in paths if p.hypothesis is not Hypothesis.MISSING and p.asks_cursor]
    return list(found or dict.fromkeys(n for p in asking for n in p.state if n in heap.objects))


def _behind_caches(heap: Heap, paths: Sequence[Path], sources: list[int]) -> list[int]:
    """Without what a process remembers in front of a store: it answers for the ids that it knows, and for any other the
    store is asked, which has them all. What it only has from there, and sends when the store was asked, has come
    since."""
    asking = [p for p in paths if p.hypothesis is not Hypothesis.KNOWN and p.asks_cursor]
    foreign = _sent(heap, asking)
    behind = [n for n in foreign if place_of(heap[n]) in (Where.SHARED, Where.POD_DISK)]
    at_first = _sent(heap, [_until_asked(p, behind) for p in asking])
    answering = [n for n in foreign if n in at_first or not is_relayed(heap[n])]
    caches = {n for n in sources if n not in answering and place_of(heap[n]) is Where.MEMORY}
    return [n for n in sources if n not in caches] if behind else sources


def is_relayed(target: Object, passes: str = "") -> bool:
    """Whether all that a container of the process ever holds is what any process put into a shared store: read from
    there (`passes`: the kind of a store that it stands in front of), or what it puts into both itself."""
    fed_by = target.fed_by | ({passes} if passes else set())
    return bool(fed_by) and target.own_puts <= target.published_puts and not fed_by & OWN_PLACES


def _until_asked(path: Path, stores: Sequence[int]) -> Path:
    """What a path does before it asks one of these stores for the cursor."""
    for number, event in enumerate(path.trace):
        other = event.data.get("other")
        asked = other.source if event.kind == "compare" and isinstance(other, Reply) else None
        asked = event.data["container"] if event.kind == "lookup" else asked
        if asked in stores:
            return replace(path, trace=path.trace[:number])
    return path


def _looked_up(heap: Heap, paths: Iterable[Path]) -> Iterator[int]:
    """Where a cursor is found of which only the way leads to the events: each of them knows the one that comes next."""
    for path in filter(_tells_of_what_is_made, paths):
        for event in path.events("lookup"):
            number = int(event.data["container"])
            if event.data["hit"] and number in heap.objects:
                yield number


def _tells_of_what_is_made(path: Path) -> bool:
    """Whether a cursor that is known is answered with events whose ids are made as they are published, and that come
    neither out of a container nor as they arrive."""
    if path.hypothesis is Hypothesis.MISSING or not path.asks_cursor:
        return False
    loose = [f.id for f in path.frames if f.id is not None and not f.live and (f.item is None or not f.item.source)]
    return any(isinstance(leaf, Minted) for id in loose for leaf in leaves(id))


def _why(heap: Heap, sources: Sequence[int], where: Where) -> str:
    if where is Where.NONE:
        return "nothing is replayed"
    chosen = next((heap[n] for n in sources if place_of(heap[n]) is where), None)
    if where is Where.MEMORY:
        return "replayed from the memory of one process"
    if where is Where.UNKNOWN:
        return f"replayed from {_named(chosen)}, and where that is is not known"
    return f"replayed from {_named(chosen)}"


def _named(store: Object | None) -> str:
    return store.label if store is not None and store.label else "a store"


def _ends(paths: Sequence[Path]) -> Truth:
    """Whether the response ends after the replay."""
    ends = {p.how for p in paths if p.is_stream and p.refusal is None and p.how in ("open", "closed")}
    return Truth.of(ends == {"closed"}) if ends else Truth.NO


def _tail(
    heap: Heap, paths: Sequence[Path], sources: Sequence[int]
) -> tuple[Where, str, list[tuple[Site | None, str]]]:
    found = [*_waits(heap, paths), *_sent_live(heap, paths)]
    if found:
        worst = min(found, key=lambda f: WORST.index(f[0]))
        return worst[0], worst[1], [(worst[2], "waits for new events here")]
    polled = _polled(heap, paths)
    if polled:
        own = [n for n in polled if not is_relayed(heap[n])]
        if not own:
            return Where.SHARED, RELAYED, []
        where = min((place_of(heap[n]) for n in own), key=WORST.index)
        return where, "then the same place is asked for what is new", []
    if any(p.how == "open" for p in paths):
        return Where.MEMORY, "then what the handler itself makes is sent", []
    return Where.NONE, "then the response ends", []


def _waits(heap: Heap, paths: Sequence[Path]) -> Iterator[tuple[Where, str, Site | None]]:
    """Where what a stream waits for comes from. A wait that only wakes tells of nothing: what is asked then does."""
    for event, wakes in ((e, _only_wakes(heap, p, e)) for p in paths for e in p.events("live")):
        target = heap.objects.get(int(event.data["source"]))
        if target is None or (wakes and event.data.get("timed")):
            continue
        if target.where in PLACES:
            yield PLACES[target.where], f"then what {_named(target)} passes on arrives", event.site
            continue
        through = heap.objects.get(int(event.data.get("through") or 0))
        passes = through.where if through is not None and through.where in PLACES else ""
        if not (target.fed_by or target.own_puts or passes) and event.data.get("fed") == "nothing":
            waited = target.label or "the queue"
            yield Where.UNKNOWN, f"nothing in the tree puts anything into {waited} that it then waits for", event.site
        elif is_relayed(target, passes):
            if wakes:
                continue
            yield Where.SHARED, RELAYED, event.site
        elif wakes:
            yield Where.UNKNOWN, f"then this process wakes it to ask again, and {UNSEEN}", event.site
        else:
            yield Where.MEMORY, "then only what this process publishes arrives", event.site


def _only_wakes(heap: Heap, path: Path, event: Event) -> bool:
    """Whether what is waited for says nothing, and what is sent then is read again in every round from a store."""
    if not event.data.get("mark"):
        return False
    sent = {frame.item.source for frame in path.frames if frame.item is not None}
    asked = sent.intersection(_polled(heap, [path]))
    return bool(asked) and event.data["source"] not in sent and all(heap[n].where in PLACES for n in asked)


def _sent_live(heap: Heap, paths: Sequence[Path]) -> Iterator[tuple[Where, str, Site | None]]:
    """Where what is sent as it arrives was read from."""
    for frame in (f for p in paths for f in p.frames if f.live and f.item is not None):
        target = heap.objects.get(frame.item.source) if frame.item is not None else None
        if target is not None and target.where in PLACES:
            yield PLACES[target.where], f"then what {_named(target)} passes on arrives", frame.site


def _polled(heap: Heap, paths: Iterable[Path]) -> list[int]:
    """What an endless loop reads in every round."""
    found: dict[int, None] = {}
    for path in paths:
        if path.how != "open":
            continue
        for event in path.events("read"):
            number = int(event.data["container"])
            if event.data["round"] >= 1 and number in heap.objects:
                found.setdefault(number)
    return list(found)
