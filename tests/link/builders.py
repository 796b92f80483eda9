"""Small facts to link: every argument that a test does not name is of no concern to it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from sselint.deployment import Audit
from sselint.facts import (
    Affinity,
    AppReference,
    Count,
    Cursor,
    IdKind,
    IdSource,
    KeyIssuer,
    Match,
    Outcome,
    Pool,
    Reading,
    Replay,
    Route,
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
from sselint.link import link
from sselint.link.units import Units
from sselint.settings import Settings
from sselint.source import Tree


def span(path: str, line: int = 1) -> Span:
    return Span(path, line, 1, line, 9)


def stream(path: str = "app.py", unit: str = ".", url: str | None = "/feed", **changes: Any) -> Stream:
    apps = changes.pop("apps", (AppReference(Path(path).stem, "app", path),))
    return Stream(
        path=path,
        line=10,
        symbol="feed",
        unit=unit,
        ids=IdSource(IdKind.COUNTER, Scope.OVERLAPPING, "a counter", (span(path, 3),)),
        replay=changes.pop("replay", Replay(Where.MEMORY, Where.MEMORY, "a deque")),
        cursor=Cursor(Truth.YES),
        on_foreign=Run(Outcome.COMPARED, "compared"),
        url=url,
        apps=apps,
        **changes,
    )


def pool(path: str = "k8s.yaml", name: str = "Deployment app", count: Count | None = None, **changes: Any) -> Pool:
    return Pool(
        path=path,
        line=1,
        format=changes.pop("format", "kubernetes"),
        kind="replicas",
        name=name,
        processes=count or Count.exactly(3, "replicas: 3"),
        answers=changes.pop("answers", "each"),
        evidence=(span(path),),
        **changes,
    )


def affinity(strength: Strength = Strength.NONE) -> Affinity:
    return Affinity("test", strength, RoutingKey(KeyIssuer.NONE), "as the test says")


def route(path: str = "nginx.conf", hosts: Iterable[str] = ("app",), **changes: Any) -> Route:
    targets = tuple(Target(h, 8000) for h in hosts)
    prefix = changes.pop("prefix", None)
    return Route(
        path=path,
        line=changes.pop("line", 1),
        format=changes.pop("format", "nginx"),
        name=changes.pop("name", "location / -> feed"),
        pool="feed",
        members=changes.pop("members", Count.exactly(len(targets), "as listed")),
        affinity=changes.pop("affinity", affinity()),
        match=Match(paths=(("prefix", prefix),) if prefix else (), priority=changes.pop("priority", 0)),
        targets=targets,
        evidence=(span(path),),
        **changes,
    )


def linked(reading: Reading, files: Iterable[str] = (), settings: Settings | None = None) -> Audit:
    known = sorted({*files, *(s.path for s in reading.streams)})
    tree = Tree("/nowhere", tuple(known), lambda _: b"")
    folders = {s.unit for s in reading.streams} | {str(Path(p).parent) for p in known}
    settings = settings or Settings(Path("/nowhere"))
    return link(reading, tree, Units(folders), settings, ("redis", "nginx"), lambda s, _environment, _settled: s)
