"""Deployments by hand. Every argument that a test does not name is of no concern to it."""

from __future__ import annotations

from typing import Any

from sselint.deployment import Client, Deployment, Hop
from sselint.facts import (
    Affinity,
    Count,
    Cursor,
    Evidence,
    Guard,
    IdKind,
    IdSource,
    KeyCarrier,
    KeyIssuer,
    KeyOrigin,
    Meets,
    Outcome,
    Pool,
    Replay,
    Rolling,
    Route,
    RoutingEvent,
    RoutingKey,
    Run,
    Scope,
    Span,
    Stream,
    Strength,
    Target,
    Truth,
    Where,
)
from sselint.findings import Judgement
from sselint.policies import judge_deployment


def at(path: str, line: int, note: str = "") -> Evidence:
    return (Span(path, line, 1, line, 20, note),)


def ids(scope: Scope = Scope.OVERLAPPING, kind: IdKind = IdKind.COUNTER, **changes: Any) -> IdSource:
    return IdSource(kind, scope, changes.pop("why", "`tick` counts events"), at("app.py", 8), **changes)


def replay(where: Where = Where.MEMORY, tail: Where = Where.MEMORY, **changes: Any) -> Replay:
    return Replay(where, tail, changes.pop("why", "`ring` is a deque"), at("app.py", 9), **changes)


def run(outcome: Outcome, why: str = "`n > after` sends what compares greater", **changes: Any) -> Run:
    return Run(outcome, why, at("app.py", 21), **changes)


def refuses(why: str = "an id that is not in `ring` is answered 410", status: int = 410) -> Run:
    return run(Outcome.FAIL_CLOSED, why, status=status)


def guard(origin: KeyOrigin, key: str = "session") -> Guard:
    return Guard(key, origin, f"the key of {origin.value}", at("app.py", 30), 404)


def stream(**changes: Any) -> Stream:
    facts: dict[str, Any] = {
        "path": "app.py",
        "line": 16,
        "symbol": "feed",
        "unit": ".",
        "ids": ids(),
        "replay": replay(),
        "cursor": Cursor(Truth.YES, "header last-event-id", "", at("app.py", 17)),
        "on_foreign": run(Outcome.COMPARED),
        "url": "/feed",
        "evidence": at("app.py", 16),
    }
    return Stream(**(facts | changes))


def pinned(strength: Strength = Strength.STRICT, **changes: Any) -> Affinity:
    """Affinity by a cookie of the proxy."""
    key = RoutingKey(KeyIssuer.PROXY, KeyCarrier.COOKIE, "SRV", "session", changes.pop("seconds", None))
    moved = ((RoutingEvent.DOWN, Meets.OTHER),) if strength is Strength.BEST_EFFORT else ()
    facts: dict[str, Any] = {"why": "the cookie names the server", "evidence": at("haproxy.cfg", 13), "events": moved}
    return Affinity("cookie insert", strength, changes.pop("key", key), **(facts | changes))


BALANCED = Affinity("round robin", Strength.NONE, RoutingKey(KeyIssuer.NONE), "servers take turns")


def route(affinity: Affinity = BALANCED, **changes: Any) -> Hop:
    facts: dict[str, Any] = {
        "path": "haproxy.cfg",
        "line": 11,
        "format": "haproxy",
        "name": "backend feed",
        "pool": "feed",
        "members": Count.exactly(2, "two server lines"),
        "affinity": affinity,
        "targets": (Target("feed-a", 8000), Target("feed-b", 8000)),
        "evidence": at("haproxy.cfg", 11),
    }
    return Hop("as the test says", route=Route(**(facts | changes)))


def pool(count: Count | int = 1, rolling: Rolling = Rolling.REPLACED, **changes: Any) -> Hop:
    facts: dict[str, Any] = {
        "path": "k8s.yaml",
        "line": 2,
        "format": "kubernetes",
        "kind": "replicas",
        "name": "Deployment app",
        "processes": Count.exactly(count, f"replicas: {count}") if isinstance(count, int) else count,
        "rolling": rolling,
        "rolling_evidence": at("k8s.yaml", 9),
        "evidence": at("k8s.yaml", 7),
    }
    return Hop("as the test says", pool=Pool(**(facts | changes)))


def workers(count: Count | int = 4) -> Hop:
    processes = Count.exactly(count, f"--workers {count}") if isinstance(count, int) else count
    facts = {"path": "Procfile", "line": 1, "format": "procfile", "kind": "workers", "name": "gunicorn"}
    return pool(processes, rolling_evidence=(), evidence=at("Procfile", 1), **facts)


def client(sends: Truth = Truth.YES, cookies: Truth = Truth.YES, **changes: Any) -> Client:
    facts: dict[str, Any] = {"name": "aclient", "keeps_session_header": Truth.NO, "named": True, "why": "so it is said"}
    return Client(sends_last_event_id=sends, keeps_cookies=cookies, **(facts | changes))


def deployment(*hops: Hop, **changes: Any) -> Deployment:
    source = changes.pop("stream", None) or stream(**{k: changes.pop(k) for k in list(changes) if k in STREAM})
    return Deployment("app.py:feed", source, hops, **changes)


STREAM = frozenset(Stream.__dataclass_fields__)


def judged(*hops: Hop, **changes: Any) -> Judgement:
    return judge_deployment(deployment(*hops, **changes))
