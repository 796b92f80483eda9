"""Reports built by hand, as the rooms before would hand them on: the corrupt one is tests/cases/29, line by line.

Every argument that a test does not name is of no concern to it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from sselint.deployment import Audit, Client, Deployment, Hop
from sselint.facts import (
    Affinity,
    AppReference,
    Count,
    Cursor,
    FileOutcome,
    FileReport,
    IdKind,
    IdSource,
    KeyCarrier,
    KeyIssuer,
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
from sselint.findings import CONDITION_NAMES, Condition, Judgement, Policy, Report, Step, Verdict, WayOut
from sselint.judge import judge_judgements
from sselint.settings import Settings

CASES = Path(__file__).parent.parent / "cases"
HAPROXY_CASE = CASES / "29_haproxy_cookie_redispatch"


def span(path: str, line: int, column: int = 1, length: int = 8, note: str = "") -> Span:
    return Span(path, line, column, line, column + length, note)


COUNTER = span("app.py", 8, 8, 18, "event ids are counted here, in each process for itself")
RING = span("app.py", 9, 32, 17, "`ring` is kept in the memory of one process")
COMPARES = span("app.py", 21, 16, 9, "a foreign cursor is compared with this process's ids")
READS = span("app.py", 17, 17, 36, "the cursor is read here")
COOKIE = span("haproxy.cfg", 13, 3, 34, "cookie SRV insert indirect nocache")
REDISPATCH = span("haproxy.cfg", 7, 3, 17, "option redispatch, inherited from defaults")


def stream(**changes: Any) -> Stream:
    facts: dict[str, Any] = {
        "path": "app.py",
        "line": 16,
        "symbol": "feed",
        "unit": ".",
        "ids": IdSource(
            IdKind.COUNTER,
            Scope.OVERLAPPING,
            "`tick` is itertools.count(1) at module level",
            (COUNTER, span("app.py", 22, 24, 13)),
        ),
        "replay": Replay(Where.MEMORY, Where.MEMORY, "`ring` is a deque in the memory of the process", (RING,)),
        "cursor": Cursor(Truth.YES, "header last-event-id", "", (READS,)),
        "on_foreign": Run(Outcome.COMPARED, "`n > after` sends what compares greater", (READS, COMPARES)),
        "on_overlap": Run(Outcome.COMPARED, "`n > after` continues behind this process's own event", (COMPARES,)),
        "url": "/feed",
        "apps": (AppReference("app", "app", "app.py"),),
        "evidence": (span("app.py", 16, 1, 23),),
    }
    return Stream(**(facts | changes))


def affinity(strength: Strength = Strength.BEST_EFFORT, **changes: Any) -> Affinity:
    facts: dict[str, Any] = {
        "mechanism": "cookie insert",
        "strength": strength,
        "key": RoutingKey(KeyIssuer.PROXY, KeyCarrier.COOKIE, "SRV", "session"),
        "why": "the cookie names the server, and a server that is down is replaced by another one",
        "evidence": (COOKIE,),
        "row": "haproxy/cookie-redispatch",
        "events": (
            (RoutingEvent.PLAIN, Meets.SAME),
            (RoutingEvent.DOWN, Meets.OTHER),
            (RoutingEvent.DRAIN, Meets.SAME),
        ),
        "undone_by": (REDISPATCH,),
    }
    return Affinity(**(facts | changes))


def route(**changes: Any) -> Route:
    facts: dict[str, Any] = {
        "path": "haproxy.cfg",
        "line": 11,
        "format": "haproxy",
        "name": "frontend in -> backend feed",
        "pool": "feed",
        "members": Count.exactly(2, "two server lines"),
        "affinity": affinity(),
        "targets": (Target("feed-a", 8000), Target("feed-b", 8000)),
        "evidence": (span("haproxy.cfg", 11, 1, 12),),
    }
    return Route(**(facts | changes))


def pool(**changes: Any) -> Pool:
    facts: dict[str, Any] = {
        "path": "k8s.yaml",
        "line": 2,
        "format": "kubernetes",
        "kind": "replicas",
        "name": "Deployment app",
        "processes": Count.exactly(3, "replicas: 3"),
        "rolling": Rolling.SURGE_DEFAULT,
        "evidence": (span("k8s.yaml", 7, 3, 11),),
    }
    return Pool(**(facts | changes))


def hop(thing: Route | Pool, **changes: Any) -> Hop:
    facts: dict[str, Any] = {"why": "it forwards to feed-a:8000, the only server of the tree"}
    facts |= {"route": thing} if isinstance(thing, Route) else {"pool": thing}
    return Hop(**(facts | changes))


EVENT_SOURCE = Client(
    "eventsource", Truth.YES, Truth.YES, Truth.NO, False, "a browser's EventSource, since no client is named"
)


def deployment(**changes: Any) -> Deployment:
    facts: dict[str, Any] = {
        "name": "app.py:feed behind haproxy.cfg",
        "stream": stream(),
        "hops": (hop(route()),),
        "clients": (EVENT_SOURCE,),
    }
    return Deployment(**(facts | changes))


YES = (
    "what can be replayed is `ring`, a deque in the memory of one process",
    "ids come from `tick`, a counter in each process: both servers have their own event 42",
    "ids are on the wire, and a browser's EventSource sends the last one by itself",
    "2 servers, and the cookie's server is replaced when it is down (option redispatch)",
    "a foreign cursor is compared with this process's own ids, with status 200",
)
OTHERWISE = (
    "`EVENT_STORE` chooses the store, and the tree does not say which",
    "ids come from a sequence of the database",
    "no ids are on the wire",
    "one process as written, and a release runs two by default",
    "an id that is not in `ring` is answered 410",
)


def conditions(values: Iterable[bool | None] = (True,) * 5) -> tuple[Condition, ...]:
    evidence = ((RING,), (COUNTER,), (span("app.py", 22, 17, 34),), (COOKIE, REDISPATCH), (COMPARES,))
    reasons = zip(CONDITION_NAMES, values, YES, OTHERWISE, evidence, strict=True)
    return tuple(
        Condition(
            name,
            Truth.of(value),
            yes if value else otherwise,
            places,
            Scope.OVERLAPPING if name == "per_process_ids" else None,
        )
        for name, value, yes, otherwise, places in reasons
    )


WITNESS = (
    Step(1, "client", "connect", "The client opens /feed and is sent to server a, with the cookie SRV=a", (COOKIE,)),
    Step(2, "a", "deliver", "Server a sends the events 41 and 42", (COUNTER,), ("41", "42")),
    Step(3, "a", "down", "Server a goes down; the stream breaks off", ()),
    Step(
        4,
        "client",
        "reconnect",
        "The client comes back with `Last-Event-ID: 42`; haproxy.cfg:7 has redispatch, so it reaches server b",
        (REDISPATCH,),
    ),
    Step(
        5,
        "b",
        "resume",
        "Server b's counter (app.py:8) is at 17; `n > after` finds nothing greater than 42",
        (COUNTER, COMPARES),
    ),
    Step(6, "b", "produce", "Server b publishes 18 to 42: none is sent, and nothing says so", (), ("41", "42")),
)

WAYS_OUT = {
    Policy.SHARED_REPLAY: (
        WayOut("Let a shared log hand out the id instead of `tick` (app.py:8), for example `XADD`", (COUNTER,)),
        WayOut("Serve replay and live tail from that log instead of `ring` (app.py:9)", (RING,)),
    ),
    Policy.PINNED_FAIL_CLOSED: (
        WayOut("Put a token made at boot in front of the number, so that ids of two processes never meet", (COUNTER,)),
        WayOut("Answer 409 in `feed` before EventSourceResponse is made, if the cursor is not in `ring`", (READS,)),
        WayOut("Replace `option redispatch` with `option persist`, so that a lost server is an error", (REDISPATCH,)),
    ),
    Policy.NO_RESUMPTION: (WayOut('Leave "id" out of what app.py:22 yields', (span("app.py", 22, 24, 13),)),),
}


def corrupt(**changes: Any) -> Judgement:
    facts: dict[str, Any] = {
        "deployment": deployment(),
        "verdict": Verdict.CORRUPT,
        "why": "a client whose server goes down is sent to the other one, which takes the id for its own",
        "conditions": conditions(),
        "witness": WITNESS,
        "damage": "lost: what is published after the reconnect, until the other counter has passed 42",
        "advertises": "policy 1: ids are sent, and Last-Event-ID is read",
        "implements": "the ids of policy 3: a counter in each process that means nothing elsewhere",
        "assumes": "the routing of policy 2: that the cookie always brings the client back",
        "ways_out": WAYS_OUT,
    }
    return Judgement(**(facts | changes))


def latent() -> Judgement:
    one = pool(processes=Count.exactly(1, "replicas: 1"), rolling_evidence=(span("k8s.yaml", 7, 3, 11, "replicas: 1"),))
    return corrupt(
        deployment=deployment(name="app.py:feed in k8s.yaml (Deployment app)", hops=(hop(one),)),
        verdict=Verdict.LATENT,
        why="one process as written, and nothing but that keeps the stream correct",
        damage="",
        conditions=conditions((True, True, True, None, True)),
        decides=("the number of processes: k8s.yaml:7 says one, and a release runs two by default",),
    )


def loud() -> Judgement:
    refusing = stream(
        ids=IdSource(IdKind.RANDOM, Scope.UNIQUE_LOCAL, "uuid4 for each event", (COUNTER,)),
        on_foreign=Run(Outcome.FAIL_CLOSED, "an id that is not in `ring` is answered 410", (READS,), 410),
        on_overlap=None,
    )
    return corrupt(
        deployment=deployment(name="app.py:feed behind nginx.conf", stream=refusing),
        verdict=Verdict.LOUD,
        why="an unknown id is answered 410, and every other reconnect brings one",
        damage="",
        conditions=conditions((True, True, True, True, False)),
        witness=None,
    )


def unknown() -> Judgement:
    return corrupt(
        deployment=deployment(name="app.py:feed behind haproxy.cfg"),
        verdict=Verdict.UNKNOWN,
        why="the store behind `EVENT_STORE` decides, and the tree does not say which it is",
        damage="",
        conditions=conditions((None, True, True, True, True)),
        witness=None,
        decides=("whether EVENT_STORE names a shared store: state it in the environment of the deployment",),
        ways_out={},
        advertises="",
        implements="",
        assumes="",
    )


def safe(verdict: Verdict = Verdict.PINNED_FAIL_CLOSED, **changes: Any) -> Judgement:
    strict = route(
        affinity=affinity(Strength.STRICT, why="persist: the cookie's server or an error", undone_by=(), events=())
    )
    judgement = loud()
    facts: dict[str, Any] = {
        "deployment": replace(judgement.deployment, name="app.py:feed behind haproxy.cfg", hops=(hop(strict),)),
        "verdict": verdict,
        "why": "an id that is not in `ring` is answered 410, and the cookie pins strictly",
        "conditions": conditions((True, True, True, False, False)),
        "ways_out": {},
    }
    return replace(judgement, **(facts | changes))


def without_ids() -> Judgement:
    silent = stream(
        ids=IdSource(IdKind.NONE, Scope.NONE, "no id: field is sent"),
        cursor=Cursor(Truth.NO),
        on_foreign=Run(Outcome.NOT_READ, "nothing reads Last-Event-ID"),
        on_overlap=None,
    )
    return safe(
        Verdict.NO_RESUMPTION,
        deployment=deployment(name="app.py:feed", stream=silent, hops=()),
        why="no ids are sent, so that no client comes back with one",
    )


def loose_route(**changes: Any) -> Route:
    facts: dict[str, Any] = {
        "path": "edge/nginx.conf",
        "line": 12,
        "format": "nginx",
        "name": "location /api -> upstream api",
        "affinity": affinity(
            Strength.NONE, mechanism="round robin", why="requests are balanced in turn", undone_by=(), events=()
        ),
    }
    return route(**(facts | changes))


def report(*judgements: Judgement, settings: Settings | None = None, **changes: Any) -> Report:
    """What `judge` makes of judgements that are already there: with findings of the real checks and real rules."""
    settings = settings or Settings(HAPROXY_CASE)
    streams = tuple(judgement.deployment.stream for judgement in judgements)
    files = changes.pop(
        "files", (FileReport("app.py", FileOutcome.ANALYSED), FileReport("README.md", FileOutcome.IRRELEVANT))
    )
    audit = Audit(root="app", streams=streams, files=files, **changes)
    return judge_judgements(judgements, audit, settings)
