"""The verdict, the three policies, and the judgement of one deployment.

The verdict comes from one place: `verdict_of` asks the model about one completion of the unknown facts, and `join` puts
the verdicts of all completions together. Conditions, claims and ways out explain it and decide nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from sselint.conditions import (
    client_honours_last_event_id,
    conditions,
    names_nothing,
    unknown_id_tolerated,
)
from sselint.deployment import Deployment
from sselint.facts import RoutingEvent, Scope, Truth
from sselint.findings import Judgement, Verdict
from sselint.model import Safe, Situation, Witness, search
from sselint.reasons import claims, reason, turns_on
from sselint.situation import COMPLETIONS, Completion, Fact, about, completions, count, deciding, facts
from sselint.story import Story, tell
from sselint.ways_out import ways_out

PLAIN = (RoutingEvent.PLAIN.value,)
BAD = (Verdict.CORRUPT, Verdict.LATENT)
SAFE = (Verdict.LOUD, Verdict.PINNED_FAIL_CLOSED, Verdict.SHARED_REPLAY, Verdict.NO_RESUMPTION, Verdict.NONE)
"""The verdicts under which no stream corrupts, the weakest claim first."""


# -- the three policies


def keeps_shared_replay(s: Situation) -> bool:
    """Policy 1: however clients are routed, every cursor is continued, and rightly."""
    result = search(_anywhere(s))
    return isinstance(result, Safe) and result.continues and not result.refuses


def keeps_pinned_fail_closed(s: Situation, returns: bool) -> bool:
    """Policy 2: `returns` (something brings a client back to its process, where its cursor is continued), every other
    process refuses it, and so does the same one after a restart."""
    result = search(scaled(s))
    return returns and not unknown_id_tolerated(s) and isinstance(result, Safe) and result.returns


def keeps_no_resumption(s: Situation) -> bool:
    """Policy 3: no client ever comes back with a cursor."""
    return not client_honours_last_event_id(s)


# -- the verdict


def verdict_of(completion: Completion) -> Verdict:
    """The verdict where every fact is known."""
    s = completion.situation
    if keeps_no_resumption(s):
        return Verdict.NO_RESUMPTION
    if names_nothing(s, completion.per_connection):
        return Verdict.NONE
    if isinstance(search(_told_once(s)), Witness):
        return Verdict.CORRUPT
    if isinstance(search(scaled(s)), Witness):
        return Verdict.LATENT
    if keeps_shared_replay(s):
        return Verdict.SHARED_REPLAY
    return Verdict.PINNED_FAIL_CLOSED if keeps_pinned_fail_closed(s, completion.way.returns) else Verdict.LOUD


def join(verdicts: Iterable[Verdict]) -> Verdict:
    """One verdict for all the ways in which the unknown facts can turn out.

    Bad in all of them: corrupt, or latent if only some corrupt today (the source is the same bad one, and hops and
    processes decide). Bad in none: the weakest claim. Bad in some: nobody can say.
    """
    found = set(verdicts)
    if found <= set(BAD):
        return Verdict.CORRUPT if found == {Verdict.CORRUPT} else Verdict.LATENT
    if found & {*BAD, Verdict.UNKNOWN}:
        return Verdict.UNKNOWN
    return next(verdict for verdict in SAFE if verdict in found)


def scaled(s: Situation) -> Situation:
    """The day on which the deployment is scaled or restarted, and nothing brings a client back."""
    return replace(s, processes=2, elsewhere=PLAIN, restarts=True)


def _anywhere(s: Situation) -> Situation:
    return replace(s, processes=2, elsewhere=PLAIN)


def _told_once(s: Situation) -> Situation:
    """The same with one of the events that bring a client elsewhere: which one it is changes no verdict."""
    return replace(s, elsewhere=s.elsewhere[:1] and PLAIN)


# -- the judgement


@dataclass(frozen=True)
class _Trial:
    """All completions of a deployment with their verdicts; none where there are too many."""

    deployment: Deployment

    @cached_property
    def known(self) -> tuple[Fact, ...]:
        known = facts(self.deployment)
        values = {f.name: f.values for f in known}
        no_cursor = values["client_sends"] == (False,) or values["scope"] == (Scope.NONE,)
        return about(known, ()) if no_cursor else known  # then nothing reads what the others may be

    @cached_property
    def verdicts(self) -> Sequence[tuple[dict[str, Any], Completion, Verdict]]:
        if count(self.known) > COMPLETIONS:
            return ()
        return tuple((chosen, c, verdict_of(c)) for chosen, c in completions(self.known))

    @cached_property
    def verdict(self) -> Verdict:
        return join(v for _, _, v in self.verdicts) if self.verdicts else Verdict.UNKNOWN

    @cached_property
    def open_facts(self) -> tuple[Fact, ...]:
        if not self.verdicts:
            return tuple(f for f in self.known if len(f.values) > 1)
        return deciding(self.known, [(chosen, v) for chosen, _, v in self.verdicts])

    @cached_property
    def story(self) -> Story | None:
        """The shortest corrupting run of all completions, told; of a latent deployment what would happen."""
        if self.verdict not in BAD:
            return None
        today = [c for _, c, v in self.verdicts if v is Verdict.CORRUPT]
        cases = [(c, c.situation) for c in today] or [
            (c, later) for _, c, _ in self.verdicts for later in _later(c.situation)
        ]
        runs = [(c, s, search(s)) for c, s in cases]
        found = [(c, s, run) for c, s, run in runs if isinstance(run, Witness)]
        completion, situation, witness = min(found, key=lambda item: len(item[2].actions))
        return tell(self.deployment, completion, situation, witness)

    @cached_property
    def forgets(self) -> bool:
        """Whether only a bounded buffer, which drops events without telling, makes the difference."""
        evicts = self.deployment.stream.replay.evicts is Truth.YES
        situations = [c.situation for _, c, v in self.verdicts if v in SAFE] if evicts else []
        return any(isinstance(search(replace(s, evicts=True)), Witness) for s in situations)


def _later(s: Situation) -> tuple[Situation, ...]:
    """What a latent deployment may become, the likeliest first."""
    return (_anywhere(s), replace(s, restarts=True), scaled(s))


def judge_deployment(deployment: Deployment) -> Judgement:
    """The judgement of one deployment: the verdict, and everything that explains it."""
    trial = _Trial(deployment)
    known = conditions(deployment)
    story = trial.story
    said = claims(deployment, trial.verdict, known, forgets=trial.forgets)
    return Judgement(
        deployment=deployment,
        verdict=trial.verdict,
        why=reason(deployment, trial.verdict, known, story, trial.open_facts),
        conditions=known,
        witness=story.steps if story else None,
        damage=story.damage if story else "",
        decides=turns_on(deployment, trial.verdict, trial.open_facts),
        advertises=said.advertises,
        implements=said.implements,
        assumes=said.assumes,
        ways_out=ways_out(deployment, trial.verdict, known),
    )
