"""Each stream that corrupts although one of the five conditions is false, with its shortest run."""

from __future__ import annotations

from sselint.conditions import DEFINITIONS
from sselint.facts import Outcome, Scope, Where
from sselint.model import Situation, Witness, search
from tests.model.situations import exceptions


def run_of(s: Situation) -> list[str]:
    """The shortest run: "publish A", "reconnect B drain" ..."""
    result = search(s)
    assert isinstance(result, Witness)
    return [" ".join((a.kind, "AB"[a.process], a.after)).removesuffix(" plain").strip() for a in result.actions]


def end_of(s: Situation) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What the client received after it came back, and what it was owed."""
    result = search(s)
    assert isinstance(result, Witness)
    return result.states[-1].answer, result.states[-1].owed


def false_conditions(s: Situation) -> list[str]:
    return [name for name, holds in DEFINITIONS.items() if not holds(s)]


def test_overlapping_ids_under_a_handler_that_refuses_unknown_ones() -> None:
    s = Situation(scope=Scope.OVERLAPPING, on_foreign=Outcome.FAIL_CLOSED)
    assert exceptions(s) == ["overlapping_under_fail_closed"]
    assert false_conditions(s) == ["unknown_id_tolerated"]
    assert run_of(s) == ["open A", "publish A", "publish B", "publish B", "cut A", "reconnect B"]
    assert end_of(s) == (("b2",), ())


def test_a_cursor_that_is_never_read_although_published_ids_promise_it() -> None:
    s = Situation(scope=Scope.SHARED, reads_cursor=False, processes=1, elsewhere=())
    assert exceptions(s) == ["never_read"]
    assert false_conditions(s) == ["per_process_ids", "lb_can_route_elsewhere"]
    assert run_of(s) == ["open A", "publish A", "cut A", "publish A", "reconnect A"]
    assert end_of(s) == ((), ("a2",))


def test_a_cursor_that_is_never_read_and_everything_sent_again() -> None:
    s = Situation(scope=Scope.SHARED, reads_cursor=False, processes=1, elsewhere=(), on_missing=Outcome.REPLAY_ALL)
    assert run_of(s) == ["open A", "publish A", "cut A", "reconnect A"]
    assert end_of(s) == (("a1",), ())


def test_a_hop_that_strips_the_header_while_ids_are_sent() -> None:
    s = Situation(scope=Scope.SHARED, replay=Where.SHARED, live_tail=Where.SHARED, stripped=True)
    assert exceptions(s) == ["stripped"]
    assert false_conditions(s) == ["no_shared_replay", "per_process_ids"]
    assert run_of(s) == ["open A", "publish A", "cut A", "publish A", "reconnect A"]
    assert end_of(s) == ((), ("a2",))


def test_a_hop_that_strips_the_header_before_a_handler_that_would_refuse() -> None:
    s = Situation(scope=Scope.UNIQUE_LOCAL, on_foreign=Outcome.FAIL_CLOSED, stripped=True, processes=1, elsewhere=())
    assert run_of(s) == ["open A", "publish A", "cut A", "publish A", "reconnect A"]


def test_nothing_is_kept_that_could_be_replayed() -> None:
    s = Situation(scope=Scope.SHARED, replay=Where.NONE, live_tail=Where.SHARED, processes=1, elsewhere=())
    assert exceptions(s) == ["nothing_kept"]
    assert false_conditions(s) == ["per_process_ids", "lb_can_route_elsewhere"]
    assert run_of(s) == ["open A", "publish A", "cut A", "publish A", "reconnect A"]
    assert end_of(s) == ((), ("a2",))


def test_shared_replay_with_a_local_live_tail() -> None:
    s = Situation(scope=Scope.SHARED, replay=Where.SHARED, live_tail=Where.MEMORY, on_foreign=Outcome.COMPARED)
    assert exceptions(s) == ["shared_replay_local_tail"]
    assert false_conditions(s) == ["per_process_ids"]
    assert run_of(s) == ["open A", "publish A", "cut A", "reconnect B", "publish A"]
    assert end_of(s) == ((), ("a2",))


def test_a_finite_replay_that_closes_needs_no_live_tail() -> None:
    """The look-alike of the one above: the client asks again."""
    s = Situation(scope=Scope.SHARED, replay=Where.SHARED, live_tail=Where.NONE, on_foreign=Outcome.COMPARED)
    assert not isinstance(search(s), Witness)


def test_shared_ids_over_a_replay_that_each_process_keeps_for_itself() -> None:
    s = Situation(scope=Scope.SHARED, on_foreign=Outcome.COMPARED)
    assert exceptions(s) == ["shared_ids_local_replay"]
    assert false_conditions(s) == ["per_process_ids"]
    assert run_of(s) == ["open A", "publish A", "publish B", "cut A", "reconnect B"]
    assert end_of(s) == (("b1",), ())


def test_shared_ids_and_every_process_hears_every_event() -> None:
    """The look-alike of the one above: each process keeps everything, so that any of them continues any cursor."""
    s = Situation(scope=Scope.SHARED, live_tail=Where.SHARED, on_foreign=Outcome.COMPARED)
    assert not isinstance(search(s), Witness)


def test_one_shared_log_and_a_counter_in_each_process() -> None:
    s = Situation(scope=Scope.OVERLAPPING, replay=Where.SHARED, live_tail=Where.SHARED, elsewhere=())
    assert exceptions(s) == ["one_log_two_counters"]
    assert false_conditions(s) == ["no_shared_replay", "lb_can_route_elsewhere"]
    assert run_of(s) == ["open A", "publish A", "publish B", "cut A", "reconnect A"]
    assert end_of(s) == (("b1",), ())


def test_one_shared_log_and_ids_that_tell_the_processes_apart() -> None:
    """The look-alike of the one above: a uuid in the shared log is found by whoever looks for it."""
    s = Situation(scope=Scope.UNIQUE_LOCAL, replay=Where.SHARED, live_tail=Where.SHARED)
    assert not isinstance(search(s), Witness)


def test_a_key_that_lapses_under_strict_affinity() -> None:
    """Strict holds for a client that presents its key; one whose key has lapsed has none to present."""
    s = Situation(scope=Scope.OVERLAPPING, on_foreign=Outcome.COMPARED, elsewhere=("key_lapsed",))
    assert run_of(s) == ["open A", "publish A", "cut A", "publish A", "reconnect B key_lapsed"]
    assert not isinstance(search(Situation(scope=Scope.OVERLAPPING, elsewhere=())), Witness)


def test_a_restart_of_the_only_process_is_told_apart() -> None:
    """Not in the verdict `corrupt`, which speaks of what is written; in `latent`, which asks for it."""
    s = Situation(scope=Scope.OVERLAPPING, on_foreign=Outcome.COMPARED, processes=1, elsewhere=())
    assert not isinstance(search(s), Witness)
    restarted = Situation(
        scope=Scope.OVERLAPPING, on_foreign=Outcome.COMPARED, processes=1, elsewhere=(), restarts=True
    )
    assert run_of(restarted) == ["open A", "publish A", "restart A", "publish A", "reconnect A"]


def test_a_bounded_buffer_loses_events_on_one_process() -> None:
    s = Situation(scope=Scope.OVERLAPPING, on_foreign=Outcome.COMPARED, processes=1, elsewhere=(), evicts=True)
    assert run_of(s) == ["open A", "publish A", "evict A", "cut A", "publish A", "evict A", "reconnect A"]
    assert end_of(s) == ((), ("a2",))
    told = Situation(scope=Scope.OVERLAPPING, on_foreign=Outcome.FAIL_CLOSED, processes=1, elsewhere=(), evicts=True)
    assert not isinstance(search(told), Witness)


def test_a_cursor_that_is_not_continued_even_by_the_process_that_holds_it() -> None:
    """As good as never read: whatever the handler does instead, one process is enough."""
    for instead in (Outcome.FROM_HEAD, Outcome.REPLAY_ALL, Outcome.EMPTY, Outcome.IGNORED):
        s = Situation(scope=Scope.SHARED, on_held=instead, processes=1, elsewhere=())
        assert isinstance(search(s), Witness)
    refused = Situation(scope=Scope.SHARED, on_held=Outcome.FAIL_CLOSED, processes=1, elsewhere=())
    assert not isinstance(search(refused), Witness)
