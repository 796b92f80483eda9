"""A witness reads like the account of an incident, in the reader's own names and lines."""

from __future__ import annotations

from typing import Any

import pytest

from sselint.deployment import Hop
from sselint.facts import (
    Count,
    CursorTreatment,
    IdKind,
    Meets,
    Outcome,
    Pool,
    Rolling,
    RoutingEvent,
    Scope,
    Strength,
    Target,
    Truth,
    Where,
)
from sselint.findings import Judgement, Step
from sselint.routing import RELEASE
from sselint.story import HAPPENS
from tests.model.builders import at, ids, judged, pinned, pool, refuses, replay, route, run, workers

SHARED = ids(Scope.SHARED, IdKind.STORE, why="the id is what XADD returns")


def steps(judgement: Judgement) -> tuple[Step, ...]:
    assert judgement.witness is not None
    return judgement.witness


def told(*hops: Hop, **facts: Any) -> list[str]:
    """The steps with the places that show them."""
    return [
        step.text + (f" ({', '.join(map(str, step.evidence))})" if step.evidence else "")
        for step in steps(judged(*hops, **facts))
    ]


def test_a_lost_server_behind_a_cookie_that_something_undoes() -> None:
    best_effort = pinned(Strength.BEST_EFFORT, undone_by=at("haproxy.cfg", 7, "option redispatch"))
    judgement = judged(route(best_effort))
    assert told(route(best_effort)) == [
        "A client opens /feed and is served by feed-a, which backend feed notes in the cookie `SRV` (app.py:16)",
        "feed-a publishes the event `1` (`tick` counts events); the client receives it (app.py:8)",
        "The connection breaks off",
        "feed-a publishes the event `2` while the client is away",
        "feed-a goes down",
        "The client comes back with `Last-Event-ID: 1` and is sent to feed-b: option redispatch "
        "(haproxy.cfg:13, haproxy.cfg:7)",
        "feed-b answers 200 and sends nothing of what came after it: feed-b has no event `1` yet; `n > after` sends "
        "what compares greater (app.py:21)",
    ]
    assert judgement.why == (
        "a client that comes back is sent to feed-b once feed-a goes down; feed-b has no event `1` yet; `n > after` "
        "sends what compares greater"
    )
    assert (
        judgement.damage == "lost: event `2` of feed-a; in other runs events of another stream are taken for this one's"
    )


def test_somebody_elses_event_under_a_handler_that_refuses_unknown_ones() -> None:
    facts = {"on_foreign": refuses(), "on_overlap": run(Outcome.COMPARED, "what stands behind it is sent")}
    assert told(workers(2), **facts) == [
        "A client opens /feed and is served by worker A (app.py:16)",
        "Worker A publishes the event `1` (`tick` counts events); the client receives it (app.py:8)",
        "Worker B publishes an event of its own, again with the id `1` (app.py:8)",
        "Worker B publishes an event of its own, with the id `2`",
        "The connection breaks off",
        "The client comes back with `Last-Event-ID: 1` and is sent to worker B: gunicorn: --workers 2, behind one "
        "socket, without affinity (Procfile:1)",
        "Worker B answers 200 and sends event `2`: worker B has another event `1`; what stands behind it is sent "
        "(app.py:21)",
    ]
    assert (
        judged(workers(2), **facts).damage
        == "taken for the stream's: event `2` of worker B; in other runs events are lost"
    )


def test_a_release_brings_the_other_process_into_being_before_it_does_anything() -> None:
    surge = pool(1, Rolling.SURGE_WRITTEN)
    texts = told(surge, on_foreign=refuses())
    release = texts.index("A release starts the new process beside the old process (k8s.yaml:9)")
    assert all("the new process" not in text.lower() for text in texts[:release])
    assert texts[release + 1].startswith("The new process publishes an event of its own")


def test_one_process_as_written_is_told_as_what_will_be() -> None:
    texts = told(pool(1))
    assert "is sent to pod B, as it will be when there are two" in texts[-2]
    assert judged(pool(1)).why.startswith(
        "only this keeps a reconnect with its own process: Deployment app: replicas: 1; without it, a client"
    )


def test_strict_affinity_is_told_as_what_will_be_without_it() -> None:
    assert "is sent to feed-b, as it can be once nothing pins it" in told(route(pinned()))[-2]


def test_a_restart() -> None:
    """Ids that are refused elsewhere and begin again after a restart: no second process is needed."""
    assert told(route(pinned()), on_foreign=refuses())[2:] == [
        "feed-a is restarted: what it kept in memory is gone, and the connection with it (app.py:9)",
        "feed-a publishes an event, again with the id `1` while the client is away (app.py:8)",
        "The client comes back with `Last-Event-ID: 1` to feed-a",
        "feed-a answers 200 and sends nothing of what came after it: feed-a has another event `1`; it goes on "
        "behind it",
    ]


def test_a_header_that_is_stripped() -> None:
    stripping = route(last_event_id=CursorTreatment.STRIPPED, last_event_id_evidence=at("haproxy.cfg", 15))
    judgement = judged(stripping, ids=SHARED, replay=replay(Where.SHARED, Where.SHARED))
    text = steps(judgement)[-2]
    assert text.text.endswith("to feed-a; backend feed removes the header on the way")
    assert text.evidence == at("haproxy.cfg", 15)
    assert judgement.why == (
        "backend feed removes `Last-Event-ID` although ids are sent, so that every resumption begins anew"
    )


def test_a_live_tail_of_one_process() -> None:
    texts = told(route(), ids=SHARED, replay=replay(Where.SHARED))
    assert texts[-1] == "feed-a publishes the event `2`; the client, who is with feed-b now, does not receive it"


def test_a_cursor_that_nobody_reads() -> None:
    judgement = judged(
        pool(1), ids=SHARED, on_foreign=run(Outcome.NOT_READ, "nothing reads the header"), replay=replay(Where.NONE)
    )
    assert judgement.why == "ids are sent, and the cursor that comes back is not used: nothing reads the header"
    assert "the process" in told(pool(1), on_foreign=run(Outcome.NOT_READ))[0]


@pytest.mark.parametrize("outcome", [Outcome.IGNORED, Outcome.FROM_HEAD, Outcome.REPLAY_ALL])
def test_a_cursor_that_is_read_and_not_used(outcome: Outcome) -> None:
    held = run(outcome, "the cursor is only logged")
    judgement = judged(pool(1), on_foreign=held, on_overlap=held)
    assert judgement.verdict.value == "corrupt"
    assert judgement.why == "ids are sent, and the cursor that comes back is not used: the cursor is only logged"
    assert steps(judgement)[-1].text.endswith("the cursor is only logged")


def test_one_event_under_the_id_of_each_process_that_hears_of_it() -> None:
    """Each process hears of every event and counts it for itself; A has been up for longer."""
    texts = told(route(), replay=replay(Where.MEMORY, Where.SHARED))
    assert texts[1].startswith("feed-a publishes the event `2`, which is `1` on feed-b")
    assert texts[-1].startswith(
        "feed-b answers 200 and sends nothing of what came after it: feed-b has another event `2`"
    )


def test_two_events_of_one_id_in_one_log() -> None:
    judgement = judged(route(), replay=replay(Where.SHARED, Where.SHARED))
    assert judgement.why == "two events can have the same id: `tick` counts events"
    assert judgement.damage == "received twice: event `1`"


def test_a_response_that_ends_is_asked_again_without_a_cut() -> None:
    texts = told(route(), replay=replay(ends=Truth.YES))
    assert "the response ends with event `1`" in "".join(texts)
    assert "The connection breaks off" not in texts


def test_ids_that_name_their_process_say_so() -> None:
    texts = told(route(), ids=ids(Scope.UNIQUE_LOCAL, IdKind.RANDOM))
    assert "the event `a-1`" in texts[1]


@pytest.mark.parametrize("event", [e for e in RoutingEvent if e.value in HAPPENS], ids=lambda e: e.value)
def test_each_routing_event_is_told_before_the_reconnect_that_it_moves(event: RoutingEvent) -> None:
    moved = pinned(Strength.BEST_EFFORT, events=((event, Meets.OTHER),))
    if event is RoutingEvent.KEY_LAPSED:
        moved = pinned(seconds=3600.0)
    told = [step.event for step in steps(judged(route(moved)))]
    assert told[-3:] == [event.value, "reconnect", "answer"]


def test_the_plainest_of_several_hops_is_told() -> None:
    """Workers need nothing to happen; the cookie in front of them needs a server that goes down."""
    texts = told(route(pinned(Strength.BEST_EFFORT)), workers(2))
    assert "worker B" in texts[-1]
    assert not any("goes down" in text for text in texts)


@pytest.mark.parametrize(
    ("hop", "names"),
    [
        (route(targets=(Target("feed", 8001), Target("feed", 8002))), ("feed:8001", "feed:8002")),
        (route(targets=(Target("feed", 8000),)), ("replica A", "replica B")),
        (pool(3), ("pod A", "pod B")),
        (pool(3, format="compose", name="service web"), ("replica A", "replica B")),
        (workers(3), ("worker A", "worker B")),
    ],
)
def test_what_the_processes_are_called(hop: Hop, names: tuple[str, str]) -> None:
    texts = "\n".join(told(hop))
    assert f"is served by {names[0]}" in texts
    assert f"is sent to {names[1]}" in texts


def test_steps_are_data() -> None:
    found = steps(judged(route()))
    assert [step.n for step in found] == [1, 2, 3, 4, 5, 6]
    assert [step.event for step in found] == ["open", "publish", "cut", "publish", "reconnect", "answer"]
    assert [step.actor for step in found] == ["client", "feed-a", "client", "feed-a", "client", "feed-b"]
    assert [step.holds for step in found] == [(), ("1",), ("1",), ("1",), ("1",), ("1",)]


def test_a_replica_with_workers_is_one_story() -> None:
    inner = workers(2).pool
    outer = pool(1)
    assert isinstance(inner, Pool)
    both = pool(1, workers=inner)
    assert judged(outer).verdict.value == "latent"
    assert "worker B" in "".join(told(both))


def test_every_event_that_moves_a_client_has_words() -> None:
    for name in (RELEASE, *(e.value for e in RoutingEvent)):
        if name not in ("plain", "init", "key_lost"):
            assert name in HAPPENS


def test_an_unknown_number_is_told_with_its_reason() -> None:
    texts = told(pool(Count.unknown("replicas: {{ n }}")))
    assert "replicas: {{ n }}" in texts[-2]
