"""Guards: lookups of another key that refuse before the cursor is interpreted, and who makes that key."""

from __future__ import annotations

from collections.abc import Iterator

from sselint.facts import Guard, KeyOrigin
from sselint.read.python.answers.outcome import evidence_of
from sselint.read.python.interpreter.heap import Heap, Object
from sselint.read.python.interpreter.machine import Event
from sselint.read.python.interpreter.values import Const, Input, Minted, Ref, Reply, Unknown, Value, leaves
from sselint.read.python.server.endpoint import Endpoint
from sselint.read.python.server.references import references
from sselint.read.python.server.world import World

NEVER_FILLED = "nothing in the tree adds such a key"


def guard_of(heap: Heap, event: Event, refusal: Event) -> Guard:
    """The guard that a failed lookup is."""
    target = heap[int(event.data["container"])]
    key = name_of(event.data["key"])
    origin, why = origin_of(target)
    status = refusal.data.get("status")
    says = "the event that refuses it" if status is None else f"{status} is sent here"
    places = [(event.site, f"`{key}` is looked up here"), (refusal.site, says)]
    made = next(
        (leaf for value in _keys(target) for leaf in leaves(value) if isinstance(leaf, Minted) and leaf.trail), None
    )
    if made is not None:
        places.append((made.trail[0].site, f"`{key}` is made here"))
    return Guard(key, origin, why, evidence_of(places), None if status is None else int(status))


def name_of(key: Value) -> str:
    """A key in the words of the source: "path parameter run_id" is `run_id`."""
    for leaf in leaves(key):
        if isinstance(leaf, Input):
            return leaf.name.rpartition(" ")[2]
    return "a key"


def _keys(target: Object) -> list[Value]:
    return [*(k for k, _ in target.pairs), *(target.elements if target.kind != "dict" else ())]


def origin_of(target: Object) -> tuple[KeyOrigin, str]:
    """Who makes the keys of a container: only what is random and minted in this process cannot exist in another one."""
    if target.where != "memory":
        return KeyOrigin.SHARED, f"{target.label} knows it, which every process asks"
    origins = [_origin(value) for value in _keys(target)]
    if not origins:
        return KeyOrigin.UNKNOWN, NEVER_FILLED
    if KeyOrigin.CLIENT in origins:
        return KeyOrigin.CLIENT, "the client chooses it, so that another process may know the same one"
    for wanted in (KeyOrigin.UNKNOWN, KeyOrigin.SHARED):
        if wanted in origins:
            return (
                wanted,
                "who makes it is out of sight" if wanted is KeyOrigin.UNKNOWN else "it is the same on every process",
            )
    return KeyOrigin.RANDOM_LOCAL, "it is minted at random in the process that knows it"


def _origin(value: Value) -> KeyOrigin:
    found = [leaf for leaf in leaves(value) if not isinstance(leaf, Const)]
    if any(isinstance(leaf, Minted) and leaf.kind == "random" for leaf in found):
        return KeyOrigin.RANDOM_LOCAL
    if any(isinstance(leaf, Input) for leaf in found):
        return KeyOrigin.CLIENT
    if any(isinstance(leaf, Reply) or (isinstance(leaf, Minted) and leaf.kind == "store") for leaf in found):
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
