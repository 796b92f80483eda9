"""The least change to each of the three policies, concrete to the code and the configuration at hand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from sselint.deployment import Deployment
from sselint.facts import CursorTreatment, KeyOrigin, Outcome, Rolling, Scope, Strength, Truth, Where
from sselint.findings import Condition, Policy, Verdict, WayOut
from sselint.reasons import SHARED_REPLAY, TOLERATED, pins, sends_ids
from sselint.routing import Choice, choices, forgetful, senders, stripping
from sselint.situation import LOCAL_SCOPES, scope_of, starts_alone


def ways_out(
    deployment: Deployment, verdict: Verdict, conditions: Sequence[Condition]
) -> Mapping[Policy, tuple[WayOut, ...]]:
    """For each policy what is still to do; nothing for the one that the deployment keeps."""
    values = {c.name: c.value for c in conditions}
    changes = {
        Policy.SHARED_REPLAY: _to_shared_replay(deployment, values),
        Policy.PINNED_FAIL_CLOSED: _to_pinned_fail_closed(deployment, values),
        Policy.NO_RESUMPTION: _to_no_resumption(deployment),
    }
    return {policy: () if policy.value == verdict.value else tuple(out) for policy, out in changes.items()}


def _to_shared_replay(deployment: Deployment, values: Mapping[str, Truth]) -> Iterator[WayOut]:
    stream = deployment.stream
    ids, replay, scope = stream.ids, stream.replay, scope_of(deployment)
    if not sends_ids(stream):
        yield WayOut("Send ids that a shared store hands out (an `XADD` id, a sequence), and read `Last-Event-ID`")
    elif scope in LOCAL_SCOPES:
        text = "Let a store that all processes share hand out the id (an `XADD` id, a sequence), instead of"
        yield WayOut(f"{text} this: {ids.why}", ids.evidence[:1])
    elif scope is Scope.UNKNOWN:
        yield WayOut(f"Make sure that a shared store hands out the ids: {ids.why}", ids.evidence[:1])
    if values[SHARED_REPLAY] is not Truth.NO:
        yield from _share(deployment)
    if stream.cursor.read is Truth.NO or stream.on_foreign.outcome in (Outcome.IGNORED, Outcome.NOT_READ):
        yield WayOut(f"Read `Last-Event-ID` in `{stream.symbol}`, and continue behind it", stream.evidence[:1])
    yield from _pass_on(deployment)
    if any(g.origin is KeyOrigin.RANDOM_LOCAL for g in stream.guards):
        guard = next(g for g in stream.guards if g.origin is KeyOrigin.RANDOM_LOCAL)
        yield WayOut(f"Look `{guard.key}` up in the shared store too, so that any process knows it", guard.evidence[:1])
    if replay.evicts is Truth.YES:
        yield WayOut("Answer 410 for a cursor that is older than what is kept", replay.evidence[:1])


def _share(deployment: Deployment) -> Iterator[WayOut]:
    replay = deployment.stream.replay
    if replay.where is Where.POD_DISK:
        why = deployment.pod_disk_why or replay.why
        yield WayOut(f"Put the file where all processes see it, or the events into a store: {why}", replay.evidence[:1])
    elif replay.where is not Where.SHARED:
        yield WayOut(f"Serve the replay from that store, instead of this: {replay.why}", replay.evidence[:1])
    if replay.live_tail is not Where.SHARED and replay.ends is not Truth.YES:
        text = "Feed open connections from the store as well (or end the response after the replay), not from what"
        yield WayOut(f"{text} one process publishes", replay.evidence[-1:])


def _pass_on(deployment: Deployment) -> Iterator[WayOut]:
    route = stripping(deployment)
    if route is not None:
        yield WayOut(f"Let {route.name} pass `Last-Event-ID` on", route.last_event_id_evidence[:1])


def _to_pinned_fail_closed(deployment: Deployment, values: Mapping[str, Truth]) -> Iterator[WayOut]:
    stream = deployment.stream
    if not sends_ids(stream):
        yield WayOut("Send ids with a token made at boot in front, keep the events, and read `Last-Event-ID`")
    guarded = any(g.origin is KeyOrigin.RANDOM_LOCAL for g in stream.guards)
    if scope_of(deployment) in (Scope.OVERLAPPING, Scope.UNKNOWN) and sends_ids(stream) and not guarded:
        text = "Put a token made at boot in front of the id, so that ids of two processes never meet"
        yield WayOut(f"{text}: {stream.ids.why}", stream.ids.evidence[:1])
    if stream.replay.where is Where.NONE:
        yield WayOut(f"Keep the events, so that a client's own process can continue: {stream.replay.why}")
    if values[TOLERATED] is not Truth.NO or starts_alone(stream):
        yield _refuse(deployment)
    yield from _pass_on(deployment)
    chain = choices(deployment)
    pinnable = any(c.kind == "route" and c.is_several for c in chain)
    for choice in chain:
        if not (pinnable and choice.kind == "replicas" and choice.is_several):  # the route in front is where to pin
            yield from _pin(choice, deployment)


def _refuse(deployment: Deployment) -> WayOut:
    stream = deployment.stream
    run = stream.on_foreign
    not_404 = " (not 404, which under MCP means that the session is gone)" if stream.protocol == "mcp" else ""
    text = f"Answer 409{not_404} in `{stream.symbol}` for an id that this process does not hold"
    if run.late or run.outcome is Outcome.EMPTY:
        text += ", before the response has begun"
    return WayOut(f"{text}; now {run.why}", (run.evidence or stream.cursor.evidence or stream.evidence)[-1:])


def _pin(choice: Choice, deployment: Deployment) -> Iterator[WayOut]:
    """What makes one hop bring a client back to its process or to an error."""
    if pins(choice, deployment):
        return
    client = forgetful(choice, senders(deployment))
    affinity, route = choice.affinity, choice.route
    if choice.kind == "unknown":
        yield WayOut(f"Pin clients strictly to their process in front of {deployment.stream.path}")
    elif choice.kind == "workers":
        text = f"Give each worker an address of its own, or run one: nothing can pin behind one socket ({choice.name})"
        yield WayOut(text, choice.evidence[:1])
    elif affinity is None:
        if choice.pool is None or not deployment.is_one_of_several(choice.pool):
            yield from _pin_replicas(choice)
    elif route is not None and route.last_event_id is CursorTreatment.ROUTED_ON:
        yield WayOut(f"Do not choose by `Last-Event-ID` in {choice.name}", route.last_event_id_evidence[:1])
    elif affinity.no_effect and affinity.strength is Strength.NONE:
        idle = affinity.no_effect[0].note or affinity.why
        yield WayOut(f"Make the affinity of {choice.name} take effect: {idle}", affinity.no_effect[:1])
    elif affinity.strength is Strength.NONE:
        yield WayOut(f"Pin clients strictly at {choice.name}: {affinity.why}", choice.evidence[:1])
    else:
        yield from _tighten(choice)
        if client is not None:
            key = f"`{affinity.key.name}`" if affinity.key.name else "the routing key"
            text = f"Pin by something that {client.name} returns, other than {key}, at {choice.name}"
            yield WayOut(text, choice.evidence[:1])


def _pin_replicas(choice: Choice) -> Iterator[WayOut]:
    if choice.is_several or choice.is_open:
        yield WayOut(f"Put a balancer with strict affinity in front of {choice.name}", choice.evidence[:1])
    elif choice.rolling is not Rolling.REPLACED:
        text = f"Replace {choice.name} at a release instead of running two side by side (`Recreate`)"
        yield WayOut(text, (choice.rolling_evidence or choice.evidence)[:1])


def _tighten(choice: Choice) -> Iterator[WayOut]:
    affinity = choice.affinity
    assert affinity is not None
    for span in affinity.undone_by:
        yield WayOut(f"Take out what undoes the affinity of {choice.name}: {span.note or 'this line'}", (span,))
    if affinity.strength is not Strength.STRICT and not affinity.undone_by:
        text = f"Make the affinity of {choice.name} strict, an error where the client's own process is gone"
        yield WayOut(f"{text}: {affinity.why}", choice.evidence[:1])
    if affinity.key.seconds is not None:
        key = f"`{affinity.key.name}`" if affinity.key.name else "the routing key"
        yield WayOut(f"Let {key} outlive any stream: it lapses after {affinity.key.seconds:.9g} s", choice.evidence[:1])


def _to_no_resumption(deployment: Deployment) -> Iterator[WayOut]:
    stream = deployment.stream
    if not sends_ids(stream):
        return
    wire = stream.ids.evidence[-1:]
    if stream.protocol == "mcp":
        yield WayOut("Give the server no event store, so that it sends no ids", stream.replay.evidence[:1] or wire)
    else:
        yield WayOut(f"Leave the id out of what `{stream.symbol}` sends", wire)
    if stream.cursor.read is Truth.YES and stream.protocol != "mcp":
        yield WayOut("Stop reading `Last-Event-ID`; clients ask again for what they need", stream.cursor.evidence[:1])
