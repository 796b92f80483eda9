"""Guards: lookups of another key that refuse before the cursor is interpreted, and who makes that key."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from sselint.facts import Guard, KeyOrigin
from sselint.read.python.answers.outcome import evidence_of
from sselint.read.python.interpreter.heap import Object
from sselint.read.python.interpreter.trace import Event
from sselint.read.python.interpreter.values import Const, Found, Input, Minted, Ref, Reply, Unknown, Value, leaves
from sselint.read.python.interpreter.whose_keys import keys_of
from sselint.read.python.server.endpoint import Endpoint
from sselint.read.python.server.references import references
from sselint.read.python.server.world import World
from sselint.read.python.source.modules import Site

NEVER_FILLED = "nothing in the tree adds such a key"


WEAKEST = (KeyOrigin.CLIENT, KeyOrigin.UNKNOWN, KeyOrigin.SHARED)
"""Of several that may make a key, the one that decides: another process may know a key that any of them makes."""
WHY = {
    KeyOrigin.CLIENT: "the client chooses it, so that another process may know the same one",
    KeyOrigin.UNKNOWN: "who makes it is out of sight",
    KeyOrigin.SHARED: "it is the same on every process",
}


def found_in(world: World, endpoint: Endpoint, missed: Iterable[tuple[Event, Event]]) -> tuple[Guard, ...]:
    """The guards of an endpoint, given each failed lookup with the refusal that it led to. What is looked up at one
    place may be one container or another: all that may be there decide. One of several places is enough."""
    places: dict[tuple[str, Site | None], dict[int, tuple[Event, Event]]] = {}
    for event, refusal in missed:
        place = (name_of(event.data["key"]), event.site)
        places.setdefault(place, {}).setdefault(int(event.data["container"]), (event, refusal))
    found: dict[str, Guard] = {}
    for (name, _), containers in places.items():
        guard = _weakest([guard_of(world, event, refusal) for event, refusal in containers.values()])
        known = found.get(name)
        if known is None or known.why == NEVER_FILLED:  # where another one is filled, that is the one in use
            found[name] = guard
    for guard in startup(world, endpoint):
        found.setdefault(guard.key, guard)
    return tuple(found.values())


def _weakest(several: Sequence[Guard]) -> Guard:
    filled = [guard for guard in several if guard.why != NEVER_FILLED] or several
    return next((g for origin in WEAKEST for g in filled if g.origin is origin), filled[0])


def guard_of(world: World, event: Event, refusal: Event) -> Guard:
    """The guard that a failed lookup is."""
    target = world.heap[int(event.data["container"])]
    key = name_of(event.data["key"])
    origin, why = origin_of(world, target)
    status = refusal.data.get("status")
    says = "the event that refuses it" if status is None else f"{status} is sent here"
    places = [(event.site, f"`{key}` is looked up here"), (refusal.site, says)]
    made = next((v for k in keys_of(world.heap, target) for v in leaves(k) if isinstance(v, Minted) and v.trail), None)
    if made is not None:
        places.append((made.trail[0].site, f"`{key}` is made here"))
    return Guard(key, origin, why, evidence_of(places), None if status is None else int(status))


def name_of(key: Value) -> str:
    """A key in the words of the source: "path parameter run_id" is `run_id`."""
    for leaf in leaves(key):
        if isinstance(leaf, Input):
            return leaf.name.rpartition(" ")[2]
    return "a key"


def origin_of(world: World, target: Object) -> tuple[KeyOrigin, str]:
    """Who makes the keys of a container: only what is random and minted in this process cannot exist in another one."""
    if target.where != "memory":
        return KeyOrigin.SHARED, f"{target.label} knows it, which every process asks"
    origins = _origins(world, target, frozenset())
    if not origins:
        return KeyOrigin.UNKNOWN, NEVER_FILLED
    weak = next((origin for origin in WEAKEST if origin in origins), None)
    if weak is None:
        return KeyOrigin.RANDOM_LOCAL, "it is minted at random in the process that knows it"
    return weak, WHY[weak]


def _origins(world: World, target: Object, seen: frozenset[int]) -> set[KeyOrigin]:
    """Who makes each of the keys. One that was found in another container is one of that."""
    found: set[KeyOrigin] = set()
    for value in keys_of(world.heap, target):
        if not isinstance(value, Found):
            found.add(_origin(world, value))
        elif value.among not in seen:
            found |= _origins(world, world.heap[value.among], seen | {target.id, value.among})
    return found | {KeyOrigin.SHARED} if found and _is_loaded(world, target) else found


def _is_loaded(world: World, target: Object) -> bool:
    """Whether what a store outside the process answered may stand where the container does."""
    held = [values for owner in world.heap.objects.values() for values in owner.attributes.values()]
    held += [values for names in world.globals.values() for values in names.values()]
    beside = [v for values in held if any(isinstance(v, Ref) and v.id == target.id for v in values) for v in values]
    return any(_is_answer(world, leaf) for value in beside for leaf in leaves(value))


def _is_answer(world: World, leaf: Value) -> bool:
    return isinstance(leaf, Reply) or (isinstance(leaf, Ref) and world.heap[leaf].where != "memory")


def _origin(world: World, value: Value) -> KeyOrigin:
    found = [leaf for leaf in leaves(value) if not isinstance(leaf, Const)]
    if any(isinstance(leaf, Minted) and leaf.kind == "random" for leaf in found):
        return KeyOrigin.RANDOM_LOCAL
    if any(isinstance(leaf, Input) for leaf in found):
        return KeyOrigin.CLIENT
    if any(_is_answer(world, leaf) or (isinstance(leaf, Minted) and leaf.kind == "store") for leaf in found):
        return KeyOrigin.SHARED
    if any(isinstance(leaf, Minted) for leaf in found):
        return KeyOrigin.CLIENT  # counted or timed: another process may well know the same one
    if any(isinstance(leaf, Unknown | Ref) for leaf in found):
        return KeyOrigin.UNKNOWN
    return KeyOrigin.SHARED


def startup(world: World, endpoint: Endpoint) -> Iterator[Guard]:
    """Refusals to start with more than one worker, in the modules of the applications that serve the endpoint."""
    words = set(world.rules.word_list("worker_variables"))
    own = {a.path for a in references(world, endpoint)}
    if endpoint.site is not None:
        own.add(endpoint.site.module.path)
    for refusal in world.refusals:
        names = [n for n in refusal.names if n in words]
        if names and (refusal.module.path in own or not own):
            yield Guard(
                names[0],
                KeyOrigin.STARTUP,
                f"the server does not start with several workers ({names[0]})",
                evidence_of([(refusal.site, "refuses to start here")]),
            )
