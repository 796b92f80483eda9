"""The verdict of deployments built by hand: each with a look-alike that gets another one."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sselint.deployment import Hop
from sselint.facts import (
    Count,
    Cursor,
    CursorTreatment,
    IdKind,
    KeyCarrier,
    KeyIssuer,
    KeyOrigin,
    Minted,
    Outcome,
    Rolling,
    RoutingKey,
    Scope,
    Strength,
    Truth,
    Where,
)
from sselint.findings import CONDITION_NAMES, Policy, Verdict
from sselint.policies import join, judge_deployment
from tests.model.builders import (
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
    workers,
)

UNIQUE = ids(Scope.UNIQUE_LOCAL, IdKind.RANDOM)
SHARED = ids(Scope.SHARED, IdKind.STORE)
STORE = replay(Where.SHARED, Where.SHARED)
NO_IDS = ids(Scope.NONE, IdKind.NONE)
NEVER_READ = {"cursor": Cursor(Truth.NO), "on_foreign": run(Outcome.NOT_READ)}
BEST_EFFORT = pinned(Strength.BEST_EFFORT)
LAPSING = pinned(seconds=3600.0)
SURGE = pool(1, Rolling.SURGE_DEFAULT)
STRIPPING = route(last_event_id=CursorTreatment.STRIPPED)
SESSION_HEADER = pinned(key=RoutingKey(KeyIssuer.SERVER, KeyCarrier.HEADER, "Mcp-Session-Id"))

VERDICTS: dict[str, tuple[tuple[Hop, ...], dict[str, Any], Verdict, str]] = {
    # hops, facts, verdict, the five conditions
    "a counter, no affinity": ((route(),), {}, Verdict.CORRUPT, "yyyyy"),
    "a counter, workers": ((workers(4),), {}, Verdict.CORRUPT, "yyyyy"),
    "a counter, one worker": ((workers(1),), {}, Verdict.LATENT, "yyyny"),
    "a counter, best effort": ((route(BEST_EFFORT),), {}, Verdict.CORRUPT, "yyyyy"),
    "a counter, strict": ((route(pinned()),), {}, Verdict.LATENT, "yyyny"),
    "a counter, strict in front of workers": ((route(pinned()), workers(2)), {}, Verdict.CORRUPT, "yyyyy"),
    "a counter, strict, the key lapses": ((route(LAPSING),), {}, Verdict.CORRUPT, "yyyyy"),
    "a counter, one replaced replica": ((pool(1),), {}, Verdict.LATENT, "yyyny"),
    "a counter, one replica, surge by default": ((SURGE,), {}, Verdict.LATENT, "yyy?y"),
    "a counter, one replica, surge written": ((pool(1, Rolling.SURGE_WRITTEN),), {}, Verdict.CORRUPT, "yyyyy"),
    "a counter, autoscaled from one": ((pool(Count(1, 6, "HPA 1 to 6")),), {}, Verdict.CORRUPT, "yyyyy"),
    "a counter, an unknown number": ((pool(Count.unknown("replicas: {{ n }}")),), {}, Verdict.LATENT, "yyy?y"),
    "a counter, two at least": ((pool(Count(2, None, "replicas: 2 or more")),), {}, Verdict.CORRUPT, "yyyyy"),
    "a counter, nothing known": ((), {}, Verdict.LATENT, "yyy?y"),
    "a counter, several candidates": ((), {"candidates": ("a.yaml", "b.yaml")}, Verdict.LATENT, "yyy?y"),
    "a counter, affinity unknown": ((route(pinned(Strength.UNKNOWN)),), {}, Verdict.LATENT, "yyy?y"),
    "a cookie that the client keeps": ((route(pinned()),), {"clients": (client(),)}, Verdict.LATENT, "yyyny"),
    "a cookie that the client drops": (
        (route(pinned()),),
        {"clients": (client(cookies=Truth.NO),)},
        Verdict.CORRUPT,
        "yyyyy",
    ),
    "a cookie that the client may drop": (
        (route(pinned()),),
        {"clients": (client(cookies=Truth.UNKNOWN),)},
        Verdict.LATENT,
        "yyy?y",
    ),
    "a session header that the client sends": (
        (route(SESSION_HEADER),),
        {"clients": (client(keeps_session_header=Truth.YES),)},
        Verdict.LATENT,
        "yyyny",
    ),
    "refused, unique": ((route(),), {"ids": UNIQUE, "on_foreign": refuses()}, Verdict.LOUD, "yyyyn"),
    "refused, unique, best effort": (
        (route(BEST_EFFORT),),
        {"ids": UNIQUE, "on_foreign": refuses()},
        Verdict.PINNED_FAIL_CLOSED,
        "yyyyn",
    ),
    "refused, unique, strict": (
        (route(pinned()),),
        {"ids": UNIQUE, "on_foreign": refuses()},
        Verdict.PINNED_FAIL_CLOSED,
        "yyynn",
    ),
    "refused, unique, the key lapses": (
        (route(LAPSING),),
        {"ids": UNIQUE, "on_foreign": refuses()},
        Verdict.PINNED_FAIL_CLOSED,
        "yyyyn",
    ),
    "refused, unique, a cookie that nobody returns": (
        (route(pinned()),),
        {"ids": UNIQUE, "on_foreign": refuses(), "clients": (client(cookies=Truth.NO),)},
        Verdict.LOUD,
        "yyyyn",
    ),
    "refused, unique, a cookie that some of the default clients return": (
        (route(pinned()),),
        {"ids": UNIQUE, "on_foreign": refuses(), "clients": (client(cookies=Truth.NO, named=False),)},
        Verdict.PINNED_FAIL_CLOSED,
        "yyyyn",
    ),
    "refused, unique, a header that no default client returns": (
        (route(SESSION_HEADER),),
        {"ids": UNIQUE, "on_foreign": refuses(), "clients": (client(named=False),)},
        Verdict.LOUD,
        "yyyyn",
    ),
    "refused, unique, one replica": (
        (SURGE,),
        {"ids": UNIQUE, "on_foreign": refuses()},
        Verdict.PINNED_FAIL_CLOSED,
        "yyy?n",
    ),
    "refused, overlapping": ((route(),), {"on_foreign": refuses()}, Verdict.CORRUPT, "yyyyn"),
    "refused, overlapping, strict": ((route(pinned()),), {"on_foreign": refuses()}, Verdict.LATENT, "yyynn"),
    "refused, nothing kept": (
        (route(pinned()),),
        {"ids": UNIQUE, "on_foreign": refuses(), "replay": replay(Where.NONE)},
        Verdict.LOUD,
        "yyynn",
    ),
    "guarded by a random key": ((route(),), {"guards": (guard(KeyOrigin.RANDOM_LOCAL),)}, Verdict.LOUD, "yyyyn"),
    "guarded by a random key, pinned": (
        (route(BEST_EFFORT),),
        {"guards": (guard(KeyOrigin.RANDOM_LOCAL),)},
        Verdict.PINNED_FAIL_CLOSED,
        "yyyyn",
    ),
    "guarded by a key of the client": ((route(),), {"guards": (guard(KeyOrigin.CLIENT),)}, Verdict.CORRUPT, "yyyyy"),
    "guarded by a shared key": ((route(),), {"guards": (guard(KeyOrigin.SHARED),)}, Verdict.CORRUPT, "yyyyy"),
    "guarded by a key of unknown origin": (
        (route(),),
        {"guards": (guard(KeyOrigin.UNKNOWN),)},
        Verdict.UNKNOWN,
        "yyyy?",
    ),
    "two guards, one random": (
        (route(),),
        {"guards": (guard(KeyOrigin.CLIENT, "chat"), guard(KeyOrigin.RANDOM_LOCAL))},
        Verdict.LOUD,
        "yyyyn",
    ),
    "refuses to start with workers": ((workers(1),), {"guards": (guard(KeyOrigin.STARTUP),)}, Verdict.LATENT, "yyynn"),
    "refuses to start with workers, several replicas": (
        (pool(3),),
        {"guards": (guard(KeyOrigin.STARTUP),)},
        Verdict.CORRUPT,
        "yyyyy",
    ),
    "shared": ((route(),), {"ids": SHARED, "replay": STORE}, Verdict.SHARED_REPLAY, "nnyyy"),
    "shared, one process": ((pool(1),), {"ids": SHARED, "replay": STORE}, Verdict.SHARED_REPLAY, "nnyny"),
    "shared, the tail is local": (
        (route(),),
        {"ids": SHARED, "replay": replay(Where.SHARED)},
        Verdict.CORRUPT,
        "ynyyy",
    ),
    "shared, the response ends": (
        (route(),),
        {"ids": SHARED, "replay": replay(Where.SHARED, ends=Truth.YES)},
        Verdict.SHARED_REPLAY,
        "nnyyy",
    ),
    "shared, the header is stripped": ((STRIPPING,), {"ids": SHARED, "replay": STORE}, Verdict.CORRUPT, "nnyyy"),
    "shared ids, every process hears and keeps every event": (
        (route(),),
        {"ids": SHARED, "replay": replay(Where.MEMORY, Where.SHARED)},
        Verdict.LATENT,
        "ynyyy",
    ),
    "shared ids, every process keeps every event and refuses others": (
        (route(),),
        {"ids": SHARED, "replay": replay(Where.MEMORY, Where.SHARED), "on_foreign": refuses()},
        Verdict.SHARED_REPLAY,
        "ynyyn",
    ),
    "no ids, the header is stripped": (
        (STRIPPING,),
        {"ids": NO_IDS, "on_foreign": run(Outcome.NOT_READ)},
        Verdict.NO_RESUMPTION,
        "ynnyy",
    ),
    "a file that all see": (
        (pool(3),),
        {"ids": SHARED, "replay": replay(Where.POD_DISK, Where.POD_DISK), "pod_disk_shared": Truth.YES},
        Verdict.SHARED_REPLAY,
        "nnyyy",
    ),
    "a file on each pod's own disk": (
        (pool(3),),
        {"ids": SHARED, "replay": replay(Where.POD_DISK, Where.POD_DISK), "pod_disk_shared": Truth.NO},
        Verdict.CORRUPT,
        "yyyyy",
    ),
    "a file on a disk of which nothing is known": (
        (pool(3),),
        {"ids": SHARED, "replay": replay(Where.POD_DISK, Where.POD_DISK)},
        Verdict.UNKNOWN,
        "??yyy",
    ),
    "published ids, never read": ((pool(1),), {**NEVER_READ, "replay": replay(Where.NONE)}, Verdict.CORRUPT, "yyyny"),
    "ids of one connection, never read": (
        (route(),),
        {**NEVER_READ, "replay": replay(Where.NONE, Where.NONE), "ids": ids(minted=Minted.CONNECTION)},
        Verdict.NONE,
        "yyyy?",
    ),
    "ids of one connection over a replay that is asked": (
        (route(),),
        {"ids": ids(minted=Minted.CONNECTION)},
        Verdict.CORRUPT,
        "yyyyy",
    ),
    "ids, perhaps of one connection": (
        (route(),),
        {**NEVER_READ, "replay": replay(Where.NONE), "ids": ids(minted=Minted.UNKNOWN)},
        Verdict.UNKNOWN,
        "yyyyy",
    ),
    "no ids": ((route(),), {**NEVER_READ, "ids": NO_IDS}, Verdict.NO_RESUMPTION, "ynnyy"),
    "ids that no fresh client is given": (
        (route(),),
        {"ids": ids(reaches_fresh_client=Truth.NO)},
        Verdict.NO_RESUMPTION,
        "yynyy",
    ),
    "the only client never sends it": ((route(),), {"clients": (client(Truth.NO),)}, Verdict.NO_RESUMPTION, "yynyy"),
    "one of two clients sends it": (
        (route(),),
        {"clients": (client(Truth.NO), client())},
        Verdict.CORRUPT,
        "yyyyy",
    ),
    "a client of which nothing is known": ((route(),), {"clients": (client(Truth.UNKNOWN),)}, Verdict.UNKNOWN, "yy?yy"),
    "a handler that could not be followed": (
        (route(),),
        {"ids": UNIQUE, "on_foreign": run(Outcome.UNKNOWN, "`resume` is not in the tree")},
        Verdict.UNKNOWN,
        "yyyy?",
    ),
    "ids of which nothing is known": (
        (route(),),
        {"ids": ids(Scope.UNKNOWN, IdKind.UNKNOWN), "replay": STORE},
        Verdict.UNKNOWN,
        "n?yyy",
    ),
    "nothing is known": (
        (route(),),
        {
            "ids": ids(Scope.UNKNOWN, IdKind.UNKNOWN, minted=Minted.UNKNOWN),
            "replay": replay(Where.UNKNOWN, Where.UNKNOWN),
            "on_foreign": run(Outcome.UNKNOWN),
            "guards": (guard(KeyOrigin.UNKNOWN),),
        },
        Verdict.UNKNOWN,
        "??yy?",
    ),
}


@pytest.mark.parametrize("name", VERDICTS)
def test_verdict_and_conditions(name: str) -> None:
    hops, facts, verdict, conditions = VERDICTS[name]
    judgement = judged(*hops, **facts)
    assert judgement.verdict is verdict
    told = "".join({"yes": "y", "no": "n", "unknown": "?"}[c.value.value] for c in judgement.conditions)
    assert told == conditions
    assert [c.name for c in judgement.conditions] == list(CONDITION_NAMES)


@pytest.mark.parametrize("name", VERDICTS)
def test_what_every_judgement_has(name: str) -> None:
    hops, facts, verdict, _ = VERDICTS[name]
    judgement = judged(*hops, **facts)
    assert judgement.why
    assert not judgement.why.endswith(".")
    assert judgement == judged(*hops, **facts)
    assert (judgement.witness is not None) is (verdict in (Verdict.CORRUPT, Verdict.LATENT))
    assert bool(judgement.decides) is (verdict in (Verdict.LATENT, Verdict.UNKNOWN) or "nothing known" in name)
    assert judgement.advertises
    assert judgement.implements
    assert judgement.assumes
    assert set(judgement.ways_out) == set(Policy)
    for policy, out in judgement.ways_out.items():
        assert bool(out) is (policy.value != verdict.value)


# -- unknown facts: the verdict is the join of the verdicts of what they may be

OPEN: dict[str, tuple[dict[str, Any], list[dict[str, Any]]]] = {
    "scope": (
        {"ids": ids(Scope.UNKNOWN, IdKind.UNKNOWN)},
        [
            {"ids": ids(scope, IdKind.UNKNOWN)}
            for scope in (Scope.SHARED, Scope.UNIQUE_LOCAL, Scope.ORDERED_LOCAL, Scope.OVERLAPPING)
        ],
    ),
    "minted": (
        {"ids": ids(minted=Minted.UNKNOWN)},
        [{"ids": ids(minted=minted)} for minted in (Minted.PUBLISHED, Minted.CONNECTION)],
    ),
    "fresh": (
        {"ids": ids(reaches_fresh_client=Truth.UNKNOWN)},
        [{"ids": ids(reaches_fresh_client=value)} for value in (Truth.YES, Truth.NO)],
    ),
    "replay": (
        {"replay": replay(Where.UNKNOWN, Where.SHARED)},
        [{"replay": replay(where, Where.SHARED)} for where in (Where.MEMORY, Where.SHARED, Where.NONE)],
    ),
    "tail": (
        {"replay": replay(Where.SHARED, Where.UNKNOWN)},
        [{"replay": replay(Where.SHARED, where)} for where in (Where.MEMORY, Where.SHARED)],
    ),
    "disk": (
        {"replay": replay(Where.POD_DISK, Where.POD_DISK)},
        [
            {"replay": replay(Where.POD_DISK, Where.POD_DISK), "pod_disk_shared": value}
            for value in (Truth.YES, Truth.NO)
        ],
    ),
    "foreign": (
        {"cursor": Cursor(Truth.YES), "on_foreign": run(Outcome.UNKNOWN), "on_overlap": run(Outcome.COMPARED)},
        [
            {"cursor": Cursor(Truth.YES), "on_foreign": run(outcome), "on_overlap": run(Outcome.COMPARED)}
            for outcome in (Outcome.FAIL_CLOSED, Outcome.FROM_HEAD, Outcome.REPLAY_ALL, Outcome.COMPARED, Outcome.EMPTY)
        ],
    ),
    "read": (
        {"cursor": Cursor(Truth.UNKNOWN), "on_foreign": run(Outcome.COMPARED)},
        [{"cursor": Cursor(Truth.YES), "on_foreign": run(Outcome.COMPARED)}, NEVER_READ],
    ),
    "guard": (
        {"guards": (guard(KeyOrigin.UNKNOWN),)},
        [{"guards": (guard(origin),)} for origin in (KeyOrigin.CLIENT, KeyOrigin.RANDOM_LOCAL)],
    ),
    "client": (
        {"clients": (client(Truth.UNKNOWN),)},
        [{"clients": (client(value),)} for value in (Truth.YES, Truth.NO)],
    ),
}
KNOWN: list[dict[str, Any]] = [
    {},
    {"on_foreign": refuses()},
    {"ids": UNIQUE},
    {"ids": UNIQUE, "on_foreign": refuses()},
    {"ids": SHARED, "replay": STORE},
    {"ids": SHARED, "replay": replay(Where.SHARED)},
    {"guards": (guard(KeyOrigin.RANDOM_LOCAL),)},
    NEVER_READ,
]
HOPS: list[tuple[Hop, ...]] = [(route(),), (route(pinned()),), (route(BEST_EFFORT),), (pool(1),), (SURGE,), ()]


@given(st.sampled_from(sorted(OPEN)), st.sampled_from(KNOWN), st.sampled_from(HOPS))
@settings(deadline=None)
def test_an_unknown_source_fact_is_joined(name: str, known: dict[str, Any], hops: tuple[Hop, ...]) -> None:
    unknown, possible = OPEN[name]
    joined = join(judged(*hops, **{**known, **one}).verdict for one in possible)
    assert judged(*hops, **{**known, **unknown}).verdict is joined


OPEN_HOPS: dict[str, tuple[Hop, list[Hop]]] = {
    "how many": (pool(Count.unknown("a template")), [pool(1), pool(5)]),
    "surge by default": (SURGE, [pool(1), pool(1, Rolling.SURGE_WRITTEN)]),
    "affinity": (route(pinned(Strength.UNKNOWN)), [route(), route(BEST_EFFORT), route(pinned())]),
}


@given(st.sampled_from(sorted(OPEN_HOPS)), st.sampled_from(KNOWN), st.sampled_from(sorted(OPEN)))
@settings(deadline=None)
def test_an_unknown_hop_is_joined(name: str, known: dict[str, Any], also: str) -> None:
    unknown, possible = OPEN_HOPS[name]
    for facts in (known, {**known, **OPEN[also][0]}):
        assert judged(unknown, **facts).verdict is join(judged(hop, **facts).verdict for hop in possible)


@given(st.sampled_from(KNOWN), st.sampled_from(sorted(OPEN_HOPS)))
def test_what_is_open_about_hops_alone_is_never_unknown(known: dict[str, Any], name: str) -> None:
    assert judged(OPEN_HOPS[name][0], **known).verdict is not Verdict.UNKNOWN


def test_past_the_bound_nothing_is_tried_and_the_verdict_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    found = deployment(route(), ids=ids(Scope.UNKNOWN, IdKind.UNKNOWN))
    monkeypatch.setattr("sselint.policies.COMPLETIONS", 3)
    judgement = judge_deployment(found)
    assert judgement.verdict is Verdict.UNKNOWN
    assert judgement.decides == ("where the ids are made: `tick` counts events",)


# -- what it turns on


def decided(*hops: Hop, **facts: Any) -> tuple[str, ...]:
    return judged(*hops, **facts).decides


def test_a_latent_deployment_in_which_all_is_known_names_what_must_stay() -> None:
    assert decided(pool(1)) == ("that this stays so (k8s.yaml:7): Deployment app: replicas: 1",)


def test_a_latent_deployment_names_the_count_that_is_not_known() -> None:
    (fact,) = decided(pool(Count.unknown("replicas: {{ n }}")))
    assert fact == "how many members Deployment app has (k8s.yaml:7): replicas: {{ n }}"


def test_facts_that_change_nothing_are_not_named() -> None:
    """The number of processes is open too, and does not matter where the source is not known to be bad."""
    decides = decided(
        pool(Count.unknown("replicas: {{ n }}")), ids=UNIQUE, on_foreign=run(Outcome.UNKNOWN, "`resume` is elsewhere")
    )
    assert decides[0] == "what answers a cursor of another process: `resume` is elsewhere"


def test_an_unknown_client_is_named() -> None:
    (fact,) = decided(route(), clients=(client(Truth.UNKNOWN, name="acme-sse"),))
    assert "acme-sse" in fact
