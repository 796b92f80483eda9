"""What a deployment claims and does, and the least change to each policy, concrete to the code at hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from sselint.deployment import Deployment, Hop
from sselint.facts import CursorTreatment, IdKind, IdSource, KeyOrigin, Outcome, Rolling, Scope, Strength, Truth, Where
from sselint.findings import Policy
from sselint.policies import judge_deployment
from tests.model.builders import (
    BALANCED,
    at,
    client,
    deployment,
    guard,
    ids,
    judged,
    pinned,
    pool,
    refuses,
    replay,
    route,
    run,
    stream,
    workers,
)

UNIQUE = ids(Scope.UNIQUE_LOCAL, IdKind.RANDOM)
SHARED = ids(Scope.SHARED, IdKind.STORE)
STORE = replay(Where.SHARED, Where.SHARED)
NO_IDS = ids(Scope.NONE, IdKind.NONE)
BEST_EFFORT = pinned(Strength.BEST_EFFORT)
LAPSING = pinned(seconds=3600.0)
SURGE = pool(1, Rolling.SURGE_DEFAULT)
STRIPPING = route(last_event_id=CursorTreatment.STRIPPED)

# -- claims


def test_the_three_claims_of_a_corrupt_deployment_are_three_policies() -> None:
    judgement = judged(route(BEST_EFFORT))
    assert judgement.advertises.startswith("policy 1")
    assert judgement.implements.startswith("policy 3's ids")
    assert judgement.assumes.startswith("policy 2's routing")


@pytest.mark.parametrize(
    ("facts", "implements"),
    [
        ({"ids": SHARED, "replay": STORE}, "policy 1"),
        ({"ids": UNIQUE, "on_foreign": refuses()}, "the fail-closed half of policy 2"),
        ({"ids": NO_IDS}, "policy 3 (no-resumption)"),
        ({"ids": SHARED, "replay": replay(Where.NONE)}, "shared ids, and nothing to replay"),
        ({"ids": ids(Scope.UNKNOWN, IdKind.UNKNOWN)}, "ids of which it is not known"),
    ],
)
def test_what_is_implemented(facts: dict[str, Any], implements: str) -> None:
    assert judged(route(), **facts).implements.startswith(implements)


def test_a_bounded_buffer_is_an_assumption_where_it_is_not_told() -> None:
    bounded = {"ids": SHARED, "replay": replay(Where.SHARED, Where.SHARED, evicts=Truth.YES)}
    assert "bounded buffer" in judged(route(), **bounded).assumes
    assert "bounded buffer" not in judged(route(), **bounded, on_foreign=refuses()).assumes
    assert "bounded buffer" not in judged(route(), ids=SHARED, replay=STORE).assumes


def test_a_replica_that_keeps_its_name_is_an_assumption() -> None:
    named: IdSource = replace(UNIQUE, kind=IdKind.REPLICA_PREFIXED)
    assert "under its old name" in judged(route(), ids=named, on_foreign=refuses()).assumes
    assert "under its old name" not in judged(route(), ids=UNIQUE, on_foreign=refuses()).assumes


# -- ways out


def ways(policy: Policy, *hops: Hop, **facts: Any) -> list[str]:
    return [way.text for way in judged(*hops, **facts).ways_out[policy]]


def test_each_way_out_names_the_code_at_hand() -> None:
    judgement = judged(route(replace(BEST_EFFORT, undone_by=at("haproxy.cfg", 7, "option redispatch"))))
    texts = {
        p: [f"{w.text} ({', '.join(str(s) for s in w.evidence)})" for w in v] for p, v in judgement.ways_out.items()
    }
    assert texts == {
        Policy.SHARED_REPLAY: [
            "Let a store that all processes share hand out the id (an `XADD` id, a sequence), instead of this: "
            "`tick` counts events (app.py:8)",
            "Serve the replay from that store, instead of this: `ring` is a deque (app.py:9)",
            "Feed open connections from the store as well (or end the response after the replay), not from what one "
            "process publishes (app.py:9)",
        ],
        Policy.PINNED_FAIL_CLOSED: [
            "Put a token made at boot in front of the id, so that ids of two processes never meet: "
            "`tick` counts events (app.py:8)",
            "Answer 409 in `feed` for an id that this process does not hold; now "
            "`n > after` sends what compares greater (app.py:21)",
            "Take out what undoes the affinity of backend feed: option redispatch (haproxy.cfg:7)",
        ],
        Policy.NO_RESUMPTION: [
            "Leave the id out of what `feed` sends (app.py:8)",
            "Stop reading `Last-Event-ID`; clients ask again for what they need (app.py:17)",
        ],
    }


@pytest.mark.parametrize(
    ("hop", "facts", "change"),
    [
        (route(), {}, "Pin clients strictly at backend feed: servers take turns"),
        (route(BEST_EFFORT), {}, "Make the affinity of backend feed strict"),
        (route(LAPSING), {}, "Let `SRV` outlive any stream: it lapses after 3600 s"),
        (
            route(pinned()),
            {"clients": (client(cookies=Truth.NO),)},
            "Pin by something that aclient returns, other than `SRV`",
        ),
        (route(last_event_id=CursorTreatment.ROUTED_ON), {}, "Do not choose by `Last-Event-ID` in backend feed"),
        (STRIPPING, {}, "Let backend feed pass `Last-Event-ID` on"),
        (workers(3), {}, "Give each worker an address of its own, or run one"),
        (pool(3), {}, "Put a balancer with strict affinity in front of Deployment app"),
        (SURGE, {}, "Replace Deployment app at a release instead of running two side by side"),
        (
            route(replace(BALANCED, no_effect=at("haproxy.cfg", 7, "hash policy"))),
            {},
            "Make the affinity of backend feed take effect",
        ),
    ],
)
def test_what_policy_2_asks_of_a_hop(hop: Hop, facts: dict[str, Any], change: str) -> None:
    told = ways(Policy.PINNED_FAIL_CLOSED, hop, **facts)
    assert any(text.startswith(change) for text in told), told


def test_replicas_behind_a_route_are_pinned_at_the_route() -> None:
    told = ways(Policy.PINNED_FAIL_CLOSED, route(), pool(3))
    assert "Pin clients strictly at backend feed: servers take turns" in told
    assert not any("Deployment app" in text for text in told)
    assert any("Deployment app" in text for text in ways(Policy.PINNED_FAIL_CLOSED, route(), SURGE))


def test_nothing_is_asked_of_a_hop_that_pins() -> None:
    assert not [t for t in ways(Policy.PINNED_FAIL_CLOSED, route(pinned())) if "backend feed" in t]


def test_an_mcp_server_is_told_what_404_means_and_to_drop_the_event_store() -> None:
    mcp: Deployment = deployment(route(), stream=stream(protocol="mcp"))
    out = judge_deployment(mcp).ways_out
    assert any("not 404" in way.text for way in out[Policy.PINNED_FAIL_CLOSED])
    assert [way.text for way in out[Policy.NO_RESUMPTION]] == [
        "Give the server no event store, so that it sends no ids"
    ]


def test_a_refusal_that_comes_too_late_is_told_to_come_first() -> None:
    late = run(Outcome.EMPTY, "the exception comes after a comment was sent", late=True)
    assert any(
        "before the response has begun" in text for text in ways(Policy.PINNED_FAIL_CLOSED, route(), on_foreign=late)
    )


def test_overlapping_ids_behind_a_random_key_need_no_token() -> None:
    bare = ways(Policy.PINNED_FAIL_CLOSED, route())
    guarded = ways(Policy.PINNED_FAIL_CLOSED, route(), guards=(guard(KeyOrigin.RANDOM_LOCAL),))
    assert any("token" in text for text in bare)
    assert not any("token" in text for text in guarded)
