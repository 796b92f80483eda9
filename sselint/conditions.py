"""The five conditions: all true, and the stream corrupts. This is the only place that defines them.

Each is a predicate over concrete facts. Over a deployment it is three-valued: yes if it holds however the unknown facts
turn out, no if it never does, else unknown. That the model agrees (all five imply a corrupting run; any one negated
implies none, but for the named exceptions) is shown exhaustively in tests/model/test_theorems.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sselint.deployment import Client, Deployment
from sselint.facts import CursorTreatment, Evidence, Guard, IdKind, KeyOrigin, Outcome, Scope, Stream, Truth, Where
from sselint.findings import CONDITION_NAMES, Condition
from sselint.model import Situation
from sselint.routing import (
    Choice,
    choices,
    elsewhere,
    forgetful,
    senders,
    strengths,
    stripping,
    ways,
)
from sselint.situation import LOCAL_SCOPES, Fact, about, completions, facts, scope_of, starts_alone, truth

# -- the definitions


def no_shared_replay(s: Situation) -> bool:
    """C1: what can be replayed lives in one process. Not so where replay *and* live tail come from a shared store; a
    finite replay that closes, so that the client asks again, is enough."""
    return not (s.replay is Where.SHARED and s.live_tail in (Where.SHARED, Where.NONE))


def per_process_ids(s: Situation) -> bool:
    """C2: ids are minted per process."""
    return s.scope in LOCAL_SCOPES


def client_honours_last_event_id(s: Situation) -> bool:
    """C3: ids are on the wire, and some client sends the last one back."""
    return s.client_sends and s.scope is not Scope.NONE


def lb_can_route_elsewhere(s: Situation) -> bool:
    """C4: a reconnect can reach another process than the one that it came from."""
    return s.processes > 1 and bool(s.elsewhere)


def unknown_id_tolerated(s: Situation) -> bool:
    """C5: a foreign cursor gets 2xx and business as usual; a hop that removes it makes sure of that."""
    ignored = s.stripped or not s.reads_cursor
    return not s.guarded and (ignored or s.on_foreign is not Outcome.FAIL_CLOSED)


def names_nothing(s: Situation, per_connection: bool) -> bool:
    """Beside the five: ids made anew for each connection, which nothing looks up again, promise nothing."""
    return per_connection and (s.replay is Where.NONE or not s.reads_cursor)


DEFINITIONS = dict(
    zip(
        CONDITION_NAMES,
        (
            no_shared_replay,
            per_process_ids,
            client_honours_last_event_id,
            lb_can_route_elsewhere,
            unknown_id_tolerated,
        ),
        strict=True,
    )
)


TOLERANCE = ("guarded", "stripped", "reads_cursor", "on_foreign")
PROMISE = ("per_connection", "replay", "reads_cursor")
"""The facts that `unknown_id_tolerated` and `names_nothing` read."""


# -- over a deployment, with reasons


def conditions(deployment: Deployment) -> tuple[Condition, ...]:
    """The five conditions of a deployment, C1 to C5, each with its reason and the places that show it."""
    known = facts(deployment)
    return (
        _no_shared_replay(deployment, known),
        _per_process_ids(deployment, known),
        _client_honours_last_event_id(deployment, known),
        _lb_can_route_elsewhere(deployment, known),
        _unknown_id_tolerated(deployment, known),
    )


def _no_shared_replay(deployment: Deployment, known: Sequence[Fact]) -> Condition:
    replay = deployment.stream.replay
    value = truth(known, ("replay", "live_tail", "disk"), no_shared_replay)
    why, evidence = replay.why, replay.evidence
    if Where.POD_DISK in (replay.where, replay.live_tail) and deployment.pod_disk_why:
        why, evidence = f"{why}; {deployment.pod_disk_why}", (*evidence, *deployment.pod_disk_evidence)
    return Condition(CONDITION_NAMES[0], value, why, evidence)


def _per_process_ids(deployment: Deployment, known: Sequence[Fact]) -> Condition:
    ids = deployment.stream.ids
    value = truth(known, ("scope", "disk"), per_process_ids)
    return Condition(CONDITION_NAMES[1], value, ids.why, ids.evidence, scope_of(deployment))


def _client_honours_last_event_id(deployment: Deployment, known: Sequence[Fact]) -> Condition:
    ids, clients = deployment.stream.ids, deployment.clients
    value = truth(known, ("scope", "client_sends"), client_honours_last_event_id)
    why, evidence = _why_sent(deployment, value)
    places = evidence or (ids.evidence if not clients or not clients[0].named else ())
    return Condition(CONDITION_NAMES[2], value, why, places)


def _why_sent(deployment: Deployment, value: Truth) -> tuple[str, Evidence]:
    stream, clients = deployment.stream, deployment.clients
    if Scope.NONE is stream.ids.scope or stream.ids.kind is IdKind.NONE:
        return "no ids are on the wire, so that no client has one to send back", stream.ids.evidence
    if stream.ids.reaches_fresh_client is Truth.NO:
        return "ids are only on replayed frames, so that no client ever learns one", stream.ids.evidence
    if stream.ids.reaches_fresh_client is Truth.UNKNOWN:
        return f"whether a first connection is given ids is not known: {stream.ids.why}", stream.ids.evidence
    matching = [c for c in clients if c.sends_last_event_id is value]
    if not clients or (value is Truth.YES and not any(c.named for c in clients)):
        return "ids are on the wire, and every EventSource sends the last one back", stream.ids.evidence
    return "; ".join(f"{c.name}: {c.why}" for c in matching or clients), _evidence_of(matching)


def _evidence_of(clients: Sequence[Client]) -> Evidence:
    return tuple(span for client in clients for span in client.evidence)


def _lb_can_route_elsewhere(deployment: Deployment, known: Sequence[Fact]) -> Condition:
    every_way = [replace(f, values=ways(deployment)) if f.name == "way" else f for f in known]
    value = truth(every_way, ("way",), lb_can_route_elsewhere)
    clients, chain = senders(deployment), choices(deployment)
    deciding = [c for c in chain if elsewhere(c, clients) is value] or list(chain)
    shown = chain[-1:] if deployment.candidates else without_repeats(deciding) if value is Truth.NO else deciding[:1]
    why = "; ".join(dict.fromkeys(describe(c, clients) for c in shown))
    evidence = tuple(dict.fromkeys(span for c in shown for span in _places(c)))
    return Condition(CONDITION_NAMES[3], value, why, evidence)


def without_repeats(chain: Sequence[Choice]) -> list[Choice]:
    """The hops without those in front that know of the same single process, and say it with the same words."""
    last = {choice.members.why: choice for choice in chain}
    return [c for c in chain if c.is_several or c.is_open or last[c.members.why] is c]


def _places(choice: Choice) -> Evidence:
    rolling = choice.rolling_evidence if not (choice.is_several or choice.is_open) else ()
    undone = choice.affinity.undone_by if choice.affinity else ()
    return tuple(dict.fromkeys((*choice.evidence, *undone, *rolling)))


def describe(choice: Choice, clients: tuple[Client, ...]) -> str:
    """What a hop does to a reconnect, in one clause."""
    if not choice.is_several and not choice.is_open:
        return _describe_one(choice, clients)
    number = choice.members.why
    route, affinity = choice.route, choice.affinity
    if route is not None and route.last_event_id is CursorTreatment.ROUTED_ON:
        return f"{choice.name} chooses by `Last-Event-ID` itself ({number})"
    if affinity is None:
        pins = "behind one socket, without affinity" if choice.kind == "workers" else "and nothing brings a client back"
        return f"{choice.name}: {number}" if choice.kind == "unknown" else f"{choice.name}: {number}, {pins}"
    client = forgetful(choice, clients)
    if client is not None and strengths(choice, clients) != (affinity.strength,):
        who = f"{client.name} does not return" if client.named else "not every client returns"
        return f"{choice.name} pins by `{affinity.key.name or affinity.mechanism}`, which {who}"
    if affinity.key.seconds is not None:
        lapses = f"its key lapses after {affinity.key.seconds:.9g} s, open stream or not"
        return f"{choice.name}: {affinity.why}; {lapses}"
    return f"{choice.name}: {affinity.why}"


def _describe_one(choice: Choice, clients: tuple[Client, ...]) -> str:
    value = elsewhere(choice, clients)
    if value is Truth.NO:
        return f"{choice.name}: {choice.members.why}"
    written = "as written" if value is Truth.YES else "by the platform's default"
    return f"{choice.name}: {choice.members.why}, and {written} a release runs the old and the new one side by side"


def _unknown_id_tolerated(deployment: Deployment, known: Sequence[Fact]) -> Condition:
    name, stream = CONDITION_NAMES[4], deployment.stream
    if all(names_nothing(c.situation, c.per_connection) for _, c in completions(about(known, PROMISE))):
        why = "ids are made for each connection anew and nothing looks one up, so that no cursor can mean anything"
        return Condition(name, Truth.UNKNOWN, why, stream.ids.evidence)
    refusal = _refusal_at_start(deployment)
    if refusal is not None:
        return Condition(name, Truth.NO, f"a refusal at start-up: {refusal.why}", refusal.evidence)
    value = truth(known, TOLERANCE, unknown_id_tolerated)
    why, evidence = _why_tolerated(deployment, value)
    return Condition(name, value, why, evidence)


def _refusal_at_start(deployment: Deployment) -> Guard | None:
    """The guard that keeps the server from starting with several workers, unless several are certain all the same
    (replicas: each counts its own workers and starts)."""
    if not starts_alone(deployment.stream) or all(way.detours for way in ways(deployment, without_workers=True)):
        return None
    return next(g for g in deployment.stream.guards if g.origin is KeyOrigin.STARTUP)


def _why_tolerated(deployment: Deployment, value: Truth) -> tuple[str, Evidence]:
    stream = deployment.stream
    guard = _guard(stream, KeyOrigin.RANDOM_LOCAL)
    if value is Truth.NO and guard is not None:
        return f"`{guard.key}` is looked up first, and no other process has it: {guard.why}", guard.evidence
    route = stripping(deployment)
    if route is not None and value is not Truth.NO:
        return f"{route.name} removes the cursor on the way, so that none is ever refused", route.last_event_id_evidence
    guard = _guard(stream, KeyOrigin.UNKNOWN)
    if value is Truth.UNKNOWN and guard is not None:
        return f"who makes `{guard.key}`, which is looked up first, is not known: {guard.why}", guard.evidence
    run = stream.on_foreign
    return run.why or stream.cursor.why, run.evidence or stream.cursor.evidence


def _guard(stream: Stream, origin: KeyOrigin) -> Guard | None:
    return next((g for g in stream.guards if g.origin is origin), None)
