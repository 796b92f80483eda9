"""Words that several reports share, so that one thing is called the same everywhere."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from sselint.facts import Count, CursorTreatment, Pool, Rolling, Route, Span, Strength
from sselint.findings import Judgement, Policy, Verdict

STRENGTHS = {
    Strength.NONE: "no affinity",
    Strength.BEST_EFFORT: "best effort",
    Strength.STRICT: "strict",
    Strength.UNKNOWN: "affinity unknown",
}


def count_words(count: Count, one: str, many: str) -> str:
    """ "3 replicas", "2 to 6 replicas", "1 or more replicas", "an unknown number of replicas"."""
    if count.high == count.low:
        return f"{count.low} {one if count.low == 1 else many}"
    if count.high is not None:
        return f"{count.low} to {count.high} {many}"
    return f"an unknown number of {many}" if count.low <= 1 else f"{count.low} or more {many}"


def plural(number: int, one: str, many: str = "") -> str:
    """ "1 finding", "2 findings"."""
    return f"{number} {one if number == 1 else many or one + 's'}"


def joined_places(spans: Iterable[Span]) -> str:
    """ "app.py:8, :22, k8s.yaml:7": places in their order, a file named once where its lines follow each other."""
    words: list[str] = []
    path = None
    for span in dict.fromkeys((span.path, span.line) for span in spans):
        words.append(f":{span[1]}" if span[0] == path else f"{span[0]}:{span[1]}")
        path = span[0]
    return ", ".join(words)


def verdict_words(verdict: Verdict | Policy) -> str:
    """A verdict or a policy as people read it: the policies with their numbers."""
    for policy in Policy:
        if policy.value == verdict.value:
            return f"policy {policy.number} ({policy.value})"
    return str(verdict.value)


def counted_verdicts(judgements: Iterable[Judgement]) -> Mapping[Verdict, int]:
    """How many deployments have which verdict, in the order in which the judgements come."""
    return Counter(judgement.verdict for judgement in judgements)


def route_words(route: Route) -> str:
    """What a route does with a client that comes back: "cookie insert; best effort; 2 members"."""
    strength = STRENGTHS[route.affinity.strength]
    mechanism = route.affinity.mechanism or "balanced"
    pinned = mechanism if mechanism.endswith(strength) else f"{mechanism}, {strength}"
    parts = [pinned] if route.members.high != 1 else []
    return "; ".join([*parts, count_words(route.members, "member", "members")])


def pool_words(pool: Pool, per_member: bool = False) -> str:
    """How many processes a pool is: "3 replicas of 4 workers each", "1 replica per member" (of the route before it)."""
    of = " per member" if per_member else ""
    if pool.kind == "workers":
        return count_words(pool.processes, "worker", "workers") + of
    words = count_words(pool.processes, "replica", "replicas") + of
    if pool.workers and pool.workers.processes.high != 1:
        words += f" of {count_words(pool.workers.processes, 'worker', 'workers')} each"
    if pool.processes.high == 1 and pool.rolling is Rolling.SURGE_WRITTEN:
        words += ", two during a release"
    return words


def needs_behind(route: Route) -> Mapping[Policy, str]:
    """What a server behind a route without one would need under each policy."""
    stripped = route.last_event_id is CursorTreatment.STRIPPED
    if route.members.high == 1:
        pinned = "a 409 for ids that it does not hold; the route has one member"
    elif route.affinity.strength is Strength.STRICT:
        pinned = "a 409 for ids that it does not hold; the route pins strictly"
    else:
        has = {Strength.NONE: "this has none", Strength.UNKNOWN: "whether this is, is not known"}
        strength = has.get(route.affinity.strength, f"this is {STRENGTHS[route.affinity.strength]}")
        pinned = f"strict affinity first ({strength}), then a 409 for ids that it does not hold"
    header = "Last-Event-ID must be passed on first" if stripped else ""
    return {
        Policy.SHARED_REPLAY: header or "ids, replay and live tail from a store that all processes share",
        Policy.PINNED_FAIL_CLOSED: f"{header}, as for policy 1" if header else pinned,
        Policy.NO_RESUMPTION: "no id: fields",
    }
