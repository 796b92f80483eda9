"""SSE0xx: the deployment as a whole."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from sselint.checks.registry import Part, deployment_check
from sselint.facts import Evidence, Truth
from sselint.findings import Confidence, Judgement, Policy, Verdict

ORDER_OF_BLAME = ("per_process_ids", "unknown_id_tolerated", "no_shared_replay", "lb_can_route_elsewhere")


def _places(judgement: Judgement) -> Evidence:
    """The id's source first, then where the cursor is tolerated, where events are kept, and what routes."""
    stream = judgement.deployment.stream
    first = stream.ids.evidence or stream.evidence
    others = [
        condition.evidence[0]
        for name in ORDER_OF_BLAME
        for condition in judgement.conditions
        if condition.name == name and condition.evidence
    ]
    return tuple(dict.fromkeys((*first[:1], *others)))


def _sure(judgement: Judgement) -> Confidence:
    """A verdict that rests on a link made for want of a better one is less sure; one that only says that nothing is
    known to bring a client back is hardly sure at all."""
    if judgement.verdict is Verdict.LOUD and _way_is_open(judgement):
        return Confidence.LOW
    assumed = judgement.deployment.assumptions or any(hop.assumed for hop in judgement.deployment.hops)
    return Confidence.MEDIUM if assumed else Confidence.HIGH


def _way_is_open(judgement: Judgement) -> bool:
    return any(c.name == "lb_can_route_elsewhere" and c.value is Truth.UNKNOWN for c in judgement.conditions)


def _keeps(judgement: Judgement) -> Mapping[Policy, str]:
    """What the verdict says of each policy: only the one that it names is kept."""
    return {p: "allows" if judgement.verdict.value == p.value else "contradicts" for p in Policy}


@deployment_check("SSE001")
def corrupt(judgement: Judgement) -> Iterator[Part]:
    """A resumed stream continues as another one, and nothing says so."""
    if judgement.verdict is Verdict.CORRUPT:
        yield Part(judgement.why, _places(judgement), _sure(judgement), policies=_keeps(judgement))


@deployment_check("SSE002")
def latent(judgement: Judgement) -> Iterator[Part]:
    """The source corrupts; only routing or process facts, missing or single, stand before it."""
    if judgement.verdict is Verdict.LATENT:
        yield Part(judgement.why, _places(judgement), _sure(judgement), policies=_keeps(judgement))


@deployment_check("SSE003")
def policy_not_met(judgement: Judgement) -> Iterator[Part]:
    """The project declares a policy, and the deployment does not keep it."""
    declared = judgement.deployment.declared_policy
    open_questions = (Verdict.UNKNOWN, Verdict.NONE)
    if declared is None or judgement.verdict in open_questions or judgement.verdict.value == declared:
        return
    policy = Policy(declared)
    message = f"declared policy {policy.number} ({policy.value}), but the verdict is {judgement.verdict.value}"
    yield Part(f"{message}: {judgement.why}", _places(judgement), _sure(judgement), policies=_keeps(judgement))


@deployment_check("SSE004")
def cannot_tell(judgement: Judgement) -> Iterator[Part]:
    """Whether the stream corrupts turns on facts that the tree does not tell."""
    if judgement.verdict is Verdict.UNKNOWN:
        yield Part(judgement.why, _places(judgement), Confidence.LOW, policies=dict.fromkeys(Policy, "allows"))


@deployment_check("SSE005")
def loud(judgement: Judgement) -> Iterator[Part]:
    """Every foreign cursor is refused, and nothing brings a client back: correct, and it fails often. Where the way is
    not known, only that nothing is known to bring one back."""
    if judgement.verdict is Verdict.LOUD:
        yield Part(judgement.why, _places(judgement), _sure(judgement), policies=_keeps(judgement))
