"""What holds of the model whatever the facts are."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from sselint.conditions import DEFINITIONS
from sselint.facts import Outcome, Scope, Where
from sselint.findings import Verdict
from sselint.model import A, Safe, Situation, State, Witness, corrupted, moves, search
from sselint.policies import BAD, SAFE, join, verdict_of
from sselint.routing import Way
from sselint.situation import Completion
from tests.model.situations import HANDLERS, PLACES, ROUTING, SCOPES, every_situation, exceptions


@st.composite
def situations(draw: st.DrawFn) -> Situation:
    """Any situation, also with a restart or a bounded buffer."""
    (replay, tail), handler = draw(st.sampled_from(PLACES)), draw(st.sampled_from(list(HANDLERS.values())))
    processes, elsewhere = draw(st.sampled_from(list(ROUTING.values())))
    return Situation(
        scope=draw(st.sampled_from(SCOPES)),
        replay=replay,
        live_tail=tail,
        on_foreign=handler[0],
        on_held=handler[1],
        reads_cursor=handler[2],
        on_missing=draw(st.sampled_from((Outcome.FROM_HEAD, Outcome.REPLAY_ALL))),
        guarded=draw(st.booleans()),
        stripped=draw(st.sampled_from((False, False, True))),
        client_sends=draw(st.sampled_from((True, True, True, False))),
        processes=processes,
        elsewhere=elsewhere,
        restarts=draw(st.booleans()),
        evicts=draw(st.sampled_from((False, False, True))),
    )


def corrupts(s: Situation) -> bool:
    return isinstance(search(s), Witness)


@given(situations())
@settings(deadline=None)
def test_the_same_facts_give_the_same_result(s: Situation) -> None:
    assert search.__wrapped__(s) == search.__wrapped__(s)


@given(situations())
@settings(deadline=None)
def test_a_witness_replays_step_by_step_to_the_same_end(s: Situation) -> None:
    result = search(s)
    assume(isinstance(result, Witness))
    assert isinstance(result, Witness)
    state = result.states[0]
    assert state.held == state.stream == ()
    for n, (action, after) in enumerate(zip(result.actions, result.states[1:], strict=True), 1):
        assert (action, after) in list(moves(s, state))
        assert corrupted(action, after) is (n == len(result.actions))
        state = after


def shortest(s: Situation, limit: int) -> int | None:
    """The length of the shortest corrupting run up to a limit, looked for by another way: depth first, deeper and
    deeper, remembering nothing."""
    starts = [State(), State(named=(1, 0))] if s.processes > 1 else [State()]
    return next((n for n in range(1, limit + 1) if any(_reaches(s, start, n) for start in starts)), None)


def _reaches(s: Situation, state: State, length: int) -> bool:
    for action, after in moves(s, state):
        bad = corrupted(action, after)
        if bad if length == 1 else not bad and _reaches(s, after, length - 1):
            return True
    return False


@given(situations())
@settings(deadline=None, max_examples=50)
def test_no_shorter_run_corrupts(s: Situation) -> None:
    result = search(s)
    assume(isinstance(result, Witness))
    assert isinstance(result, Witness)
    assume(len(result.actions) <= 6)
    assert shortest(s, len(result.actions)) == len(result.actions)


@given(situations())
@settings(deadline=None)
def test_what_a_client_is_owed_is_the_stream_after_its_cursor(s: Situation) -> None:
    result = search(s)
    for state in result.states if isinstance(result, Witness) else ():
        assert state.owed == state.stream[state.behind :]
        if state.cursor is not None and state.since == len(state.held):
            assert state.stream[state.behind - 1] == state.cursor.event


@given(situations())
@settings(deadline=None)
def test_failing_closed_never_makes_a_safe_deployment_corrupt(s: Situation) -> None:
    assume(not corrupts(s))
    assert not corrupts(replace(s, on_foreign=Outcome.FAIL_CLOSED))


@given(situations())
@settings(deadline=None)
def test_pinning_harder_never_makes_a_safe_deployment_corrupt(s: Situation) -> None:
    assume(not corrupts(s))
    assert not corrupts(replace(s, elsewhere=()))
    assert not corrupts(replace(s, guarded=True))


@given(situations())
@settings(deadline=None)
def test_sharing_ids_replay_and_tail_never_makes_a_safe_deployment_corrupt(s: Situation) -> None:
    assume(not corrupts(s) and s.scope is not Scope.NONE)
    assert not corrupts(replace(s, scope=Scope.SHARED, replay=Where.SHARED, live_tail=Where.SHARED))
    assert not corrupts(replace(s, scope=Scope.SHARED))


def test_sharing_the_replay_alone_can_corrupt_what_was_safe() -> None:
    """Why the property above shares all three: half of policy 1 is worse than policy 2."""
    pinned = Situation(scope=Scope.UNIQUE_LOCAL, on_foreign=Outcome.FAIL_CLOSED)
    assert not corrupts(pinned)
    assert corrupts(replace(pinned, replay=Where.SHARED))


@given(situations(), st.sampled_from(list(ROUTING.values())))
@settings(deadline=None)
def test_more_processes_never_make_a_corrupt_deployment_safe(
    s: Situation, routing: tuple[int, tuple[str, ...]]
) -> None:
    alone = replace(s, processes=1, elsewhere=())
    assume(corrupts(alone))
    assert corrupts(replace(s, processes=routing[0], elsewhere=routing[1]))


@given(situations())
@settings(deadline=None)
def test_a_guard_is_never_passed_by_a_cursor_of_another_process(s: Situation) -> None:
    result = search(replace(s, guarded=True))
    if isinstance(result, Witness):
        reconnects = [a for a in result.actions if a.kind == "reconnect"]
        assert reconnects[-1].process == A
    else:
        assert not result.continues


# -- verdicts


verdicts = st.lists(st.sampled_from((*BAD, *SAFE)), min_size=1)


@given(verdicts, verdicts)
def test_the_join_is_a_join(one: list[Verdict], other: list[Verdict]) -> None:
    """It depends on which verdicts there are and on nothing else, and joining joins is joining all."""
    assert join(one) is join(reversed(one)) is join(one + one)
    assert join(one + other) is join([join(one), join(other)])


@given(verdicts)
def test_bad_in_all_bad_in_none_bad_in_some(found: list[Verdict]) -> None:
    bad = [v in BAD for v in found]
    verdict = join(found)
    assert (verdict in BAD) is all(bad)
    assert (verdict is Verdict.UNKNOWN) is (any(bad) and not all(bad))
    if verdict in SAFE:
        assert all(SAFE.index(verdict) <= SAFE.index(v) for v in found)


def every_process_keeps_everything(s: Situation) -> bool:
    """Shared ids, and each process hears and keeps every event: any of them continues any cursor until it restarts."""
    return (s.scope, s.replay, s.live_tail) == (Scope.SHARED, Where.MEMORY, Where.SHARED)


def test_the_verdict_of_every_combination_of_facts() -> None:
    """Whatever is not corrupt, latent or without a cursor keeps a policy or refuses; and the model and the conditions
    agree on which."""
    for s in every_situation():
        for returns in (True, False):
            verdict = verdict_of(Completion(s, Way(s.processes > 1, (), returns), per_connection=False))
            holds = {name: condition(s) for name, condition in DEFINITIONS.items()}
            if verdict is Verdict.CORRUPT:
                assert all(holds.values()) or exceptions(s)
            elif verdict is Verdict.LATENT:
                assert not holds["lb_can_route_elsewhere"] or every_process_keeps_everything(s)
            elif verdict is Verdict.SHARED_REPLAY:
                assert not holds["no_shared_replay"] or every_process_keeps_everything(s)
            elif verdict is Verdict.NO_RESUMPTION:
                assert not holds["client_honours_last_event_id"]
            else:
                assert verdict in (Verdict.LOUD, Verdict.PINNED_FAIL_CLOSED)
                result = search(s)
                assert isinstance(result, Safe)
                assert not holds["unknown_id_tolerated"] or not result.continues
                assert verdict is Verdict.LOUD or returns
