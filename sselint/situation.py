"""From a deployment to the situations that the model can search: unknown facts are completed, every way they can be.

A `Fact` is one thing that the model reads, with the values it may have: one where it is known. A `Completion` fixes all
of them. This page only translates; what is true of a deployment stands in `conditions.py`, what follows from it in
`policies.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import product
from operator import mul
from typing import Any

from sselint.deployment import Deployment
from sselint.facts import (
    IdKind,
    KeyOrigin,
    Minted,
    Outcome,
    Replay,
    Scope,
    Span,
    Stream,
    Truth,
    Where,
)
from sselint.model import Situation
from sselint.routing import BROWSER, Way, choices, elsewhere, senders, stripping, ways

COMPLETIONS = 600
"""The bound: past so many ways in which the unknown facts can turn out, nothing is told but what is unknown."""

TOLERANT = (Outcome.FROM_HEAD, Outcome.REPLAY_ALL, Outcome.COMPARED, Outcome.IGNORED, Outcome.EMPTY)
ON_FILE = {
    "scope": (Scope.OVERLAPPING, Scope.SHARED),
    "replay": (Where.MEMORY, Where.SHARED),
    "live_tail": (Where.MEMORY, Where.SHARED),
}
"""What is on a file is as shared as its volume: what it comes to where that is not shared, and where it is."""
LOCAL_SCOPES = (Scope.UNIQUE_LOCAL, Scope.ORDERED_LOCAL, Scope.OVERLAPPING)


@dataclass(frozen=True)
class Fact:
    """One thing that the model reads. `open` says what is not known and what would settle it, where there are several
    values; `about_routing` is True for facts about hops, processes and the way back to one."""

    name: str
    values: tuple[Any, ...]
    open: str = ""
    about_routing: bool = False


@dataclass(frozen=True)
class Completion:
    """One way in which all facts of a deployment can turn out. `per_connection`: ids are made anew for each connection,
    so that they name nothing outside it."""

    situation: Situation
    way: Way
    per_connection: bool


def facts(deployment: Deployment) -> tuple[Fact, ...]:
    """What the model reads of this deployment."""
    stream = deployment.stream
    return (
        Fact("disk", _disk(deployment), _open_disk(deployment)),
        Fact("scope", _scopes(stream), f"where the ids are made: {stream.ids.why}"),
        Fact("per_connection", _per_connection(stream), f"whether ids outlive one connection: {stream.ids.why}"),
        Fact("replay", _replays(stream.replay), f"where events are kept for a reconnect: {stream.replay.why}"),
        Fact("live_tail", _live_tails(stream.replay), f"what a connection hears of later: {stream.replay.why}"),
        Fact("reads_cursor", _reads(stream), f"whether `Last-Event-ID` is read: {_why_read(stream)}"),
        Fact("on_foreign", _on_foreign(stream), f"what answers a cursor of another process: {stream.on_foreign.why}"),
        Fact("on_held", _on_held(deployment), f"what answers a cursor that is known: {_why_held(stream)}"),
        Fact("on_missing", (_on_missing(stream),)),
        Fact("guarded", _guarded(stream), _open_guard(stream)),
        Fact("stripped", (stripping(deployment) is not None,)),
        Fact("client_sends", _sends(deployment), _open_client(deployment)),
        Fact("way", ways(deployment, without_workers=starts_alone(stream)), _open_way(deployment), about_routing=True),
    )


def count(known: Sequence[Fact]) -> int:
    """How many completions there are."""
    return reduce(mul, (len(f.values) for f in known), 1)


def completions(known: Sequence[Fact]) -> Iterator[tuple[dict[str, Any], Completion]]:
    """Every completion, with the values that make it."""
    for values in product(*(f.values for f in known)):
        chosen = {f.name: value for f, value in zip(known, values, strict=True)}
        yield chosen, completed(chosen)


def completed(chosen: Mapping[str, Any]) -> Completion:
    """The completion with these values."""
    values = dict(chosen)
    way, per_connection, shared = values.pop("way"), values.pop("per_connection"), values.pop("disk")
    for name, of_file in ON_FILE.items():
        if values[name] is Where.POD_DISK:
            values[name] = of_file[shared]
    if values["replay"] is Where.NONE and values["live_tail"] is Where.NONE:
        values["live_tail"] = Where.MEMORY  # what the handler itself makes while it is connected
    processes = 2 if way.several else 1
    return Completion(Situation(**values, processes=processes, elsewhere=way.elsewhere), way, per_connection)


def truth(known: Sequence[Fact], names: Sequence[str], holds: Callable[[Situation], bool]) -> Truth:
    """Whether a predicate that reads only the named facts holds in every completion, in none, or in some."""
    outcomes = {holds(c.situation) for _, c in completions(about(known, names))}
    return Truth.of(outcomes.pop() if len(outcomes) == 1 else None)


def about(known: Sequence[Fact], names: Sequence[str]) -> tuple[Fact, ...]:
    """The facts for a question that reads only the named ones: of the others one value is enough."""
    return tuple(f if f.name in names else replace(f, values=f.values[:1]) for f in known)


def deciding(known: Sequence[Fact], verdicts: Sequence[tuple[dict[str, Any], Any]]) -> tuple[Fact, ...]:
    """The facts on which a verdict turns: those that change it while all others stay."""
    found = []
    for fact in (f for f in known if len(f.values) > 1):
        seen: dict[tuple[Any, ...], Any] = {}
        for chosen, verdict in verdicts:
            others = tuple(value for name, value in chosen.items() if name != fact.name)
            if seen.setdefault(others, verdict) != verdict:
                found.append(fact)
                break
    return tuple(found)


# -- the source


def starts_alone(stream: Stream) -> bool:
    """Whether the server refuses to start with more than one worker."""
    return any(g.origin is KeyOrigin.STARTUP for g in stream.guards)


def scope_of(deployment: Deployment) -> Scope:
    """The scope of the ids in this deployment: where a file hands them out, its volume decides."""
    stream = deployment.stream
    if _scopes(stream) == (Where.POD_DISK,):
        disk = _disk(deployment)
        return ON_FILE["scope"][disk[0]] if len(disk) == 1 else Scope.UNKNOWN  # type: ignore[return-value]
    return Scope.NONE if stream.ids.kind is IdKind.NONE else stream.ids.scope


def _scopes(stream: Stream) -> tuple[Scope | Where, ...]:
    if stream.ids.kind is IdKind.NONE:
        return (Scope.NONE,)
    placed = stream.ids.kind is IdKind.INDEX and stream.ids.scope is Scope.SHARED
    if (stream.ids.kind is IdKind.STORE or placed) and stream.replay.where is Where.POD_DISK:
        return (Where.POD_DISK,)
    return (Scope.SHARED, *LOCAL_SCOPES) if stream.ids.scope is Scope.UNKNOWN else (stream.ids.scope,)


def _per_connection(stream: Stream) -> tuple[bool, ...]:
    if stream.ids.minted is Minted.UNKNOWN:
        return False, True
    return (stream.ids.minted is Minted.CONNECTION,)


def _disk(deployment: Deployment) -> tuple[bool, ...]:
    """Whether all processes see the same file, where there is one."""
    replay = deployment.stream.replay
    if Where.POD_DISK not in (replay.where, replay.live_tail):
        return (False,)
    shared = deployment.pod_disk_shared
    return (False, True) if shared is Truth.UNKNOWN else (shared is Truth.YES,)


def _open_disk(deployment: Deployment) -> str:
    path = deployment.stream.replay.disk_path
    seen = f"whether all processes see the file{' ' + path if path else ''}"
    return f"{seen}: {deployment.pod_disk_why or 'no volume is known'}"


def _replays(replay: Replay) -> tuple[Where, ...]:
    return (Where.MEMORY, Where.SHARED, Where.NONE) if replay.where is Where.UNKNOWN else (replay.where,)


def _live_tails(replay: Replay) -> tuple[Where, ...]:
    """NONE where nothing follows the replay: the response ends, or may as well."""
    if replay.live_tail is Where.NONE or replay.ends is Truth.YES:
        return (Where.NONE,)
    tails = (Where.MEMORY, Where.SHARED) if replay.live_tail is Where.UNKNOWN else (replay.live_tail,)
    return (*tails, Where.NONE) if replay.ends is Truth.UNKNOWN else tails


def _reads(stream: Stream) -> tuple[bool, ...]:
    """A refusal needs no reading: a server that turns every cursor away is none that ignores it."""
    outcome = stream.on_foreign.outcome
    if outcome is Outcome.FAIL_CLOSED:
        return (True,)
    if outcome is Outcome.NOT_READ or stream.cursor.read is Truth.NO:
        return (False,)
    return (True, False) if stream.cursor.read is Truth.UNKNOWN else (True,)


def _why_read(stream: Stream) -> str:
    return stream.cursor.why or stream.on_foreign.why or "what happens to it could not be followed"


def _on_foreign(stream: Stream) -> tuple[Outcome, ...]:
    outcome = stream.on_foreign.outcome
    return (Outcome.FAIL_CLOSED, *TOLERANT) if outcome is Outcome.UNKNOWN else (outcome,)


def _on_held(deployment: Deployment) -> tuple[Outcome, ...]:
    """The run with a known cursor, where there is one; else it continues, unless every cursor goes the same way."""
    stream = deployment.stream
    if stream.on_overlap is not None:
        if stream.on_overlap.outcome is Outcome.UNKNOWN:
            return Outcome.COMPARED, Outcome.FAIL_CLOSED
        return (stream.on_overlap.outcome,)
    if stream.cursor.read is Truth.NO:
        return (stream.on_foreign.outcome if stream.on_foreign.outcome is Outcome.FAIL_CLOSED else Outcome.COMPARED,)
    return (Outcome.COMPARED, Outcome.IGNORED) if stream.on_foreign.outcome is Outcome.IGNORED else (Outcome.COMPARED,)


def _why_held(stream: Stream) -> str:
    return (stream.on_overlap or stream.on_foreign).why


def _on_missing(stream: Stream) -> Outcome:
    """Everything, or from now on; which of the two never changes a verdict (tests/model/test_theorems.py)."""
    everything = stream.on_missing is not None and stream.on_missing.outcome is Outcome.REPLAY_ALL
    return Outcome.REPLAY_ALL if everything else Outcome.FROM_HEAD


def _guarded(stream: Stream) -> tuple[bool, ...]:
    """Only a key minted at random in one process cannot exist in another one."""
    origins = {g.origin for g in stream.guards}
    if KeyOrigin.RANDOM_LOCAL in origins:
        return (True,)
    return (False, True) if KeyOrigin.UNKNOWN in origins else (False,)


def _open_guard(stream: Stream) -> str:
    guard = next((g for g in stream.guards if g.origin is KeyOrigin.UNKNOWN), None)
    return f"who makes `{guard.key}`, which is looked up first{place(guard.evidence)}: {guard.why}" if guard else ""


# -- the client and the way


def _sends(deployment: Deployment) -> tuple[bool, ...]:
    """Yes by default once a fresh client can learn an id."""
    reaches = deployment.stream.ids.reaches_fresh_client
    sends = {c.sends_last_event_id for c in deployment.clients or (BROWSER,)}
    if reaches is Truth.NO or sends == {Truth.NO}:
        return (False,)
    return (True,) if reaches is Truth.YES and Truth.YES in sends else (True, False)


def _open_client(deployment: Deployment) -> str:
    if deployment.stream.ids.reaches_fresh_client is Truth.UNKNOWN:
        return f"whether a client that comes for the first time is given ids: {deployment.stream.ids.why}"
    unknown = [c.name for c in deployment.clients if c.sends_last_event_id is Truth.UNKNOWN]
    return f"whether {' and '.join(unknown)} sends `Last-Event-ID`: describe it under [tool.sselint], or name another"


def _open_way(deployment: Deployment) -> str:
    """What is not known of the hops, and what would settle it."""
    clients = senders(deployment)
    doubtful = [c for c in choices(deployment) if c.is_open or elsewhere(c, clients) is Truth.UNKNOWN]
    asked = []
    for choice in doubtful:
        if choice.kind == "unknown":
            asked.append(f"how many processes run it ({choice.members.why}): a manifest, `--assume replicas=N` or")
            asked[-1] += " [[tool.sselint.deployments]] would settle it"
        elif choice.is_open:
            asked.append(f"how many members {choice.name} has{place(choice.evidence)}: {choice.members.why}")
        elif choice.affinity is not None:
            asked.append(f"whether {choice.name} brings a client back{place(choice.evidence)}: {choice.affinity.why}")
        else:
            released = choice.rolling_evidence or choice.evidence
            asked.append(f"whether a release of {choice.name} runs two generations side by side{place(released)}")
    return "; ".join(asked)


def place(evidence: Sequence[Span]) -> str:
    """ " (path:line)" of the first span, or nothing."""
    return f" ({evidence[0]})" if evidence else ""
