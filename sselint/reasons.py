"""Why a verdict is what it is, in sentences: the reason, what it turns on, and what the deployment claims and does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sselint.conditions import describe, without_repeats
from sselint.deployment import Deployment
from sselint.facts import IdKind, Scope, Stream, Truth, Where
from sselint.findings import CONDITION_NAMES, Condition, Verdict
from sselint.routing import Choice, choices, elsewhere, senders, stripping
from sselint.situation import LOCAL_SCOPES, Fact, place, scope_of
from sselint.story import Story

SHARED_REPLAY, IDS, CLIENT, ELSEWHERE, TOLERATED = CONDITION_NAMES


def reason(
    deployment: Deployment,
    verdict: Verdict,
    conditions: Sequence[Condition],
    story: Story | None,
    open_facts: Sequence[Fact],
) -> str:
    """The verdict's reason in one sentence without a full stop."""
    why = {c.name: c.why for c in conditions}
    stream = deployment.stream
    if verdict is Verdict.CORRUPT and story:
        return story.turn
    if verdict is Verdict.LATENT:
        return f"{_what_stands_between(conditions)} {story.turn if story else why[IDS]}"
    if verdict is Verdict.LOUD:
        return f"{_refusal(why, stream)}, and {_unpinned(deployment)}"
    if verdict is Verdict.PINNED_FAIL_CLOSED:
        return f"{_refusal(why, stream)}; {why[ELSEWHERE]}"
    if verdict is Verdict.SHARED_REPLAY:
        return f"any process continues any cursor: {why[SHARED_REPLAY]}"
    if verdict is Verdict.NO_RESUMPTION:
        return why[CLIENT]
    if verdict is Verdict.NONE:
        return f"ids are made for each connection anew and name nothing outside it: {stream.ids.why}"
    return "; ".join(f.open for f in open_facts[:2]) or "nothing in the tree decides it"


def _refusal(why: dict[str, str], stream: Stream) -> str:
    return f"a cursor of another process is refused: {why[TOLERATED]}"


def _unpinned(deployment: Deployment) -> str:
    """What fails to bring a client back, or that the way is not known."""
    clients, chain = senders(deployment), choices(deployment)
    loose = [c for c in chain if elsewhere(c, clients) is Truth.YES] or [
        c for c in chain if elsewhere(c, clients) is Truth.UNKNOWN
    ]
    if loose:
        known = elsewhere(loose[-1], clients) is Truth.YES
        says = "nothing brings a client back" if known else "nothing is known to bring a client back"
        choice = loose[-1]
        where = describe(choice, clients) if choice.affinity else f"{choice.name} ({choice.members.why})"
        return f"{says} to its own process: {where}"
    return f"so is every other one: {deployment.stream.on_foreign.why}"


def _what_stands_between(conditions: Sequence[Condition]) -> str:
    where = next(c for c in conditions if c.name == ELSEWHERE)
    if where.value is Truth.YES:
        return "every process hears and keeps every event, until one restarts:"
    if where.value is Truth.NO:
        return f"only this keeps a reconnect with its own process: {where.why}; without it,"
    return f"it is not known whether a reconnect can meet another process: {where.why}; if it can,"


def turns_on(deployment: Deployment, verdict: Verdict, open_facts: Sequence[Fact]) -> tuple[str, ...]:
    """The facts on which the verdict turns, and what would settle each; for a latent deployment in which all is known,
    what must stay as it is."""
    if open_facts:
        return tuple(f.open for f in open_facts)
    if verdict is not Verdict.LATENT:
        return ()
    clients = senders(deployment)
    chain = without_repeats(choices(deployment))
    return tuple(dict.fromkeys(f"that this stays so{place(c.evidence)}: {describe(c, clients)}" for c in chain))


# -- what the deployment claims and does


@dataclass(frozen=True)
class Claims:
    """What a deployment advertises, what it implements, and what it assumes: in an unsafe one these are three
    different policies."""

    advertises: str
    implements: str
    assumes: str


def claims(deployment: Deployment, verdict: Verdict, conditions: Sequence[Condition], *, forgets: bool) -> Claims:
    """The claims of a deployment, in words. `forgets`: a bounded buffer drops what a cursor may still ask for."""
    values = {c.name: c.value for c in conditions}
    why = {c.name: c.why for c in conditions}
    if verdict is Verdict.NONE:
        made = f"ids that name events of one connection: {deployment.stream.ids.why}"
        return Claims("nothing that anyone could resume", made, "nothing of the routing: no cursor means anything")
    assumes = _assumes(deployment, values, why)
    if forgets:
        assumes += "; and that no client stays away for longer than the bounded buffer reaches back"
    return Claims(_advertises(deployment.stream), _implements(deployment, values, why), assumes)


def sends_ids(stream: Stream) -> bool:
    """Whether ids are on the wire."""
    return stream.ids.kind is not IdKind.NONE and stream.ids.scope is not Scope.NONE


def _advertises(stream: Stream) -> str:
    if not sends_ids(stream):
        return "policy 3 (no-resumption): no ids are sent"
    if stream.ids.reaches_fresh_client is Truth.NO:
        return "nothing to a client that comes for the first time: ids are only on replayed frames"
    if stream.cursor.read is Truth.YES:
        how = f" ({stream.cursor.how})" if stream.cursor.how else ""
        return f"policy 1 (resumable): ids are sent, and `Last-Event-ID` is read{how}"
    return "policy 1 (resumable): ids are sent, and every EventSource answers them with `Last-Event-ID`"


def _implements(deployment: Deployment, values: dict[str, Truth], why: dict[str, str]) -> str:
    stream, scope = deployment.stream, scope_of(deployment)
    if not sends_ids(stream):
        return "policy 3 (no-resumption): nothing names a position"
    if values[SHARED_REPLAY] is Truth.NO and scope not in LOCAL_SCOPES:
        return f"policy 1 (shared-replay): {stream.ids.why}; {stream.replay.why}"
    if values[TOLERATED] is Truth.NO:
        half = "the fail-closed half of policy 2 (pinned-fail-closed)"
        if scope is Scope.OVERLAPPING and not stream.guards:
            return f"{half}, with ids that another process has too: {stream.ids.why}"
        return f"{half}: {why[TOLERATED]}"
    if scope in LOCAL_SCOPES:
        return f"policy 3's ids, which mean nothing on another process: {stream.ids.why}"
    if scope is Scope.UNKNOWN:
        return f"ids of which it is not known where they mean something: {stream.ids.why}"
    if stream.replay.where is Where.SHARED:
        return f"policy 1 without its live tail: {stream.replay.why}"
    if stream.replay.where is Where.NONE:
        return f"shared ids, and nothing to replay: {stream.replay.why}"
    return f"shared ids over a replay that one process holds: {stream.replay.why}"


def _assumes(deployment: Deployment, values: dict[str, Truth], why: dict[str, str]) -> str:
    stream = deployment.stream
    if not sends_ids(stream) or values[CLIENT] is Truth.NO:
        return "nothing of the routing: no cursor arrives"
    if stripping(deployment) is not None:
        return "that no cursor ever arrives, although ids ask for one"
    if values[SHARED_REPLAY] is Truth.NO and values[IDS] is Truth.NO:
        return "nothing of the routing"
    if values[ELSEWHERE] is Truth.NO:
        return f"policy 2's routing, and has it as long as this holds: {why[ELSEWHERE]}"
    assumed = "policy 2's routing, that a client always comes back to its own process"
    if stream.ids.kind is IdKind.REPLICA_PREFIXED:
        assumed += ", and that no replica starts again under its old name"
    return f"{assumed}; {'but' if values[ELSEWHERE] is Truth.YES else 'open is'}: {why[ELSEWHERE]}"


def pins(choice: Choice, deployment: Deployment) -> bool:
    """Whether this hop certainly brings the clients at hand back to their process."""
    return elsewhere(choice, senders(deployment)) is Truth.NO
