"""Whether the facts of a stream depend on environment variables: what paths with other answers of tests add up to.

Only then is a stream read again under the environment that a deployment's files give: a variable that was merely asked
on the way, a password or a log level, changes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations

from sselint.facts import Guard, IdKind, IdSource, KeyOrigin, Outcome, Replay, Run, Scope, Truth, Where
from sselint.read.python.answers.idsource import id_source, may_overlap
from sselint.read.python.answers.outcome import Path, run_of
from sselint.read.python.answers.replay import replay_of
from sselint.read.python.answers.twins import idle_answers
from sselint.read.python.interpreter.heap import Heap
from sselint.read.python.interpreter.values import Variable, leaves

Answers = frozenset[tuple[object, int]]
"""The answers that one group of paths has in common, of the tests of environment variables."""


def ids_and_replay(heap: Heap, paths: Sequence[Path]) -> tuple[IdSource, Replay]:
    """Ids and replay; where they turn on environment variables that nothing settles, unknown because of them."""
    ids, replay = _both(heap, paths)
    sending = [p for p in paths if p.is_stream and p.frames]
    groups = _groups(sending, idle_answers(heap, sending))
    if len(groups) < 2:
        return ids, replay
    several = {answers: _both(heap, g) for answers, g in groups.items()}
    labels = {key: d.label for p in sending for key, d in p.options("environment").items()}
    minted = _turned_by({a: (i.scope, i.kind) for a, (i, _) in several.items()})
    if minted:
        scopes = ", or ".join(dict.fromkeys(i.why for i, _ in several.values()))
        ids = replace(ids, kind=IdKind.UNKNOWN, scope=Scope.UNKNOWN, why=f"{_depends(minted, labels)}: {scopes}")
    kept = _turned_by({a: r.where for a, (_, r) in several.items()})
    if kept:
        places = ", or ".join(dict.fromkeys(r.why for _, r in several.values()))
        replay = replace(replay, where=Where.UNKNOWN, why=f"{_depends(kept, labels)}: {places}")
    if _turned_by({a: r.live_tail for a, (_, r) in several.items()}):
        replay = replace(replay, live_tail=Where.UNKNOWN)
    return ids, replay


def _both(heap: Heap, paths: Sequence[Path]) -> tuple[IdSource, Replay]:
    ids = id_source(heap, paths)
    return ids, replay_of(heap, paths, may_overlap(ids))


def _turned_by(told: Mapping[Answers, object]) -> frozenset[object]:
    """The tests on which something turns: of two groups that answer otherwise, those that each has another answer of.
    That one of them never came to a test says nothing."""
    apart = [
        frozenset(key for key, option in one if any(k == key and o != option for k, o in other))
        for one, other in combinations(told, 2)
        if told[one] != told[other]
    ]
    fewest = min((len(keys) for keys in apart if keys), default=0)
    return frozenset().union(*(keys for keys in apart if len(keys) == fewest))


def _depends(tests: frozenset[object], labels: Mapping[object, str]) -> str:
    return f"depends on {' and '.join(sorted({labels[test] for test in tests}))}"


def variables(
    heap: Heap, runs: Sequence[Sequence[Path]], words: Sequence[str], is_open: bool, guards: Sequence[Guard]
) -> frozenset[str]:
    """The environment variables that the facts of a stream depend on; none where every answer gives the same facts.

    `runs` are its paths, a list for each hypothesis, `words` the names of events that tell a client to start over.
    `is_open` says that some fact is unknown as it is, so that a variable may settle it.
    """
    names = frozenset(str(e.data["name"]) for paths in runs for p in paths for e in p.events("environment"))
    everything = [p for paths in runs for p in paths]
    in_ids = _in_ids(everything)
    names |= in_ids
    if not names or is_open or any(g.origin in (KeyOrigin.STARTUP, KeyOrigin.UNKNOWN) for g in guards):
        return names
    idle = idle_answers(heap, everything, words)
    several = _groups(everything, idle)
    told = [_told(heap, [p for p in paths if p.missed_guard is None]) for paths in several.values()]
    for paths in runs:
        told.extend({id(paths): run_of(group, words, True).outcome} for group in _groups(paths, idle).values())
    return names if _differ(told) else in_ids


def _in_ids(paths: Sequence[Path]) -> frozenset[str]:
    """The variables that ids are put together from."""
    ids = [frame.id for path in paths for frame in path.frames if frame.id is not None]
    return frozenset(leaf.name for value in ids for leaf in leaves(value) if isinstance(leaf, Variable))


def is_open(ids: IdSource, replay: Replay, runs: Sequence[Run | None]) -> bool:
    """Whether some fact is unknown, so that a settled variable may tell it."""
    return (
        ids.scope is Scope.UNKNOWN
        or ids.kind is IdKind.UNKNOWN
        or Where.UNKNOWN in (replay.where, replay.live_tail)
        or (replay.where is Where.POD_DISK and replay.disk_path is None)
        or Truth.UNKNOWN in (replay.ends, replay.evicts)
        or any(run is not None and run.outcome is Outcome.UNKNOWN for run in runs)
    )


def _groups(paths: Sequence[Path], idle: frozenset[object]) -> dict[Answers, list[Path]]:
    groups: dict[Answers, list[Path]] = {}
    for path in paths:
        asked = path.options("environment").items()
        answers = frozenset((key, d.option) for key, d in asked if key not in idle)
        groups.setdefault(answers, []).append(path)
    return groups


def _told(heap: Heap, paths: Sequence[Path]) -> dict[object, object]:
    """What paths with the same answers say of ids and replay; nothing where they send nothing."""
    if not any(p.is_stream and p.frames for p in paths):
        return {}
    ids, replay = _both(heap, paths)
    said = (ids.scope, ids.kind, replay.where, replay.live_tail, replay.ends, replay.evicts)
    return dict(enumerate(said))


def _differ(told: Sequence[dict[object, object]]) -> bool:
    """Whether two groups answer one question otherwise. That no path was followed to an answer is none."""
    seen: dict[object, set[object]] = {}
    for group in told:
        for question, answer in group.items():
            if answer is not Outcome.UNKNOWN:
                seen.setdefault(question, set()).add(answer)
    return any(len(answers) > 1 for answers in seen.values())
