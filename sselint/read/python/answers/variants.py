"""Implementations among which something chooses that the tree does not settle: a bridge in memory, or one in a store.

The endpoint itself is then unknown, because of the choice. What it is with each of them is told beside it, as a fact of
the class: no application mounts that, so nothing is judged by it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from sselint.facts import Evidence, IdKind, Outcome, Run, Scope, Span, Stream, Where
from sselint.read.python.answers.outcome import Path
from sselint.read.python.interpreter.values import ClassValue
from sselint.read.python.source.modules import Site

Several = tuple[list[Path], ...]
"""The paths of an endpoint, a list for each hypothesis."""
REFUSES = (Outcome.FAIL_CLOSED, Outcome.UNKNOWN)


def told(main: Stream, several: Several, assemble: Callable[[Several], Stream | None]) -> list[Stream]:
    """The stream, and beside it what it is with each implementation, where that makes a difference to its facts."""
    for key, (label, among) in _choices(several).items():
        made = {cls: assemble(paths) for cls, paths in _by_class(several, key).items()}
        streams = {cls: stream for cls, stream in made.items() if stream is not None}
        missed = [cls for cls in among if cls not in streams]
        if (missed or _differ(streams.values())) and any(_tells(s, cls) for cls, s in streams.items()):
            return [_open(main, label, streams, missed), *(_alone(cls, stream) for cls, stream in streams.items())]
    return [main]


def worse(one: Stream, other: Stream) -> Stream:
    """Of what two endpoints make of an implementation, that which tolerates a foreign cursor: so does the class. Of two
    that do, or do not, the one of which more is known: the other was broken off before it came to an event."""
    return other if _says(other) > _says(one) else one


def _says(stream: Stream) -> tuple[bool, bool]:
    return stream.on_foreign.outcome not in REFUSES, stream.ids.kind is not IdKind.UNKNOWN


def _choices(several: Several) -> dict[object, tuple[str, tuple[ClassValue, ...]]]:
    events = [e.data for paths in several for p in paths for e in p.events("implementation")]
    return {data["key"]: (data["label"], data["among"]) for data in events}


def _by_class(several: Several, key: object) -> dict[ClassValue, Several]:
    """The paths that each implementation takes part in; those that never ask for it belong to all."""
    classes: dict[ClassValue, None] = {}
    for paths in several:
        for path in paths:
            cls = _chosen(path, key)
            if cls is not None and path.is_stream:
                classes[cls] = None
    return {cls: tuple(_those_of(cls, key, paths) for paths in several) for cls in classes}


def _those_of(cls: ClassValue, key: object, paths: list[Path]) -> list[Path]:
    """The paths of an implementation under one hypothesis: none where no path that was followed came to ask it."""
    asked = any(_chosen(p, key) == cls for p in paths)
    return [p for p in paths if _chosen(p, key) in (cls, None)] if asked else []


def _chosen(path: Path, key: object) -> ClassValue | None:
    return next((e.data["of"] for e in path.events("implementation") if e.data["key"] == key), None)


def _differ(streams: Iterable[Stream]) -> bool:
    return len({(s.ids.kind, s.ids.scope, s.replay.where, s.on_foreign.outcome) for s in streams}) > 1


def _tells(stream: Stream, cls: ClassValue) -> bool:
    """Whether the file of the class is where the ids or the events of a stream come from."""
    return any(span.path == cls.module.path for span in (*stream.ids.evidence, *stream.replay.evidence))


def _alone(cls: ClassValue, stream: Stream) -> Stream:
    span = Site(cls.module, cls.node.cst).span("the implementation")
    unit = cls.module.source.unit
    named = replace(stream, path=span.path, line=span.line, unit=unit, symbol=cls.name, evidence=(span,))
    return replace(named, url=None, apps=())


def _open(main: Stream, label: str, streams: Mapping[ClassValue, Stream], missed: Sequence[ClassValue]) -> Stream:
    """The endpoint, unknown where the implementations differ, or one was not followed: because of the choice."""
    told = [(cls.name, s) for cls, s in streams.items()]
    others = [cls.name for cls in missed]
    ids, replay = main.ids, main.replay
    if len({(s.ids.kind, s.ids.scope) for _, s in told}) + len(others) > 1 and ids.kind is not IdKind.UNKNOWN:
        why = _why(label, ((name, s.ids.why) for name, s in told), others)
        shown = _all(s.ids.evidence for _, s in told)
        ids = replace(ids, kind=IdKind.UNKNOWN, scope=Scope.UNKNOWN, why=why, evidence=shown)
    if len({s.replay.where for _, s in told}) + len(others) > 1 and replay.where is not Where.UNKNOWN:
        why = _why(label, ((name, s.replay.why) for name, s in told), others)
        shown = _all(s.replay.evidence for _, s in told)
        replay = replace(replay, where=Where.UNKNOWN, live_tail=Where.UNKNOWN, why=why, evidence=shown)

    def run(of: Callable[[Stream], Run | None]) -> Run | None:
        found = [(name, one) for name, one in ((name, of(s)) for name, s in told) if one is not None]
        if not found or len({one.outcome for _, one in found}) + len(others) == 1:
            return of(main) or next((one for _, one in found), None)
        why = _why(label, ((name, one.why) for name, one in found), others)
        return Run(Outcome.UNKNOWN, why, _all(one.evidence for _, one in found))

    foreign = run(lambda s: s.on_foreign) or main.on_foreign
    overlap, missing = run(lambda s: s.on_overlap), run(lambda s: s.on_missing)
    return replace(main, ids=ids, replay=replay, on_foreign=foreign, on_overlap=overlap, on_missing=missing)


def _why(label: str, several: Iterable[tuple[str, str]], others: Iterable[str]) -> str:
    known = [f"{name} ({why})" for name, why in several]
    return f"depends on {label}: " + ", or ".join([*known, *(f"{name} (which was not followed)" for name in others)])


def _all(several: Iterable[Evidence]) -> Evidence:
    """Where to begin reading for each of several: the rest stands with the implementation."""
    found: dict[tuple[str, int, int], Span] = {}
    for span in (span for evidence in several for span in evidence[:1]):
        found.setdefault((span.path, span.line, span.column), span)
    return tuple(found.values())
