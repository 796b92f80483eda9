"""Which answers of the environment change nothing: paths that differ in such an answer alone tell the same.

Whether a helper finds its folder by a variable has no say in what a client gets. Yet paths on which it was answered
otherwise are few, and of few paths less is seen: groups of them would seem to differ where only the search had an end.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sselint.read.python.answers.idsource import id_source
from sselint.read.python.answers.outcome import Path, result_of
from sselint.read.python.answers.replay import replay_of
from sselint.read.python.interpreter.heap import Heap
from sselint.read.python.interpreter.oracle import Decision


def idle_answers(heap: Heap, paths: Sequence[Path], words: Sequence[str] = ()) -> frozenset[object]:
    """The questions to the environment that no path answered otherwise, or some did, and no pair of paths that differ
    in the answer alone tells anything otherwise. `words` are the names of events that tell a client to start over."""
    asked: dict[object, set[int]] = {}
    for path in paths:
        for key, decision in path.options("environment").items():
            asked.setdefault(key, set()).add(decision.option)
    idle = {key for key, options in asked.items() if len(options) < 2}
    parted: set[object] = set()
    matter: set[object] = set()
    told: dict[int, object] = {}
    for key, one, other in _twins(paths):
        parted.add(key)
        if key in matter:
            continue
        for path in (one, other):
            if id(path) not in told:
                told[id(path)] = _told(heap, path, words)
        if told[id(one)] != told[id(other)]:
            matter.add(key)
    return frozenset(idle | (parted - matter))


def _twins(paths: Sequence[Path]) -> Iterator[tuple[object, Path, Path]]:
    """Pairs of paths that part at a question to the environment and give one answer to all they are both asked then."""
    starts: dict[object, list[tuple[Path, int]]] = {}
    for path in paths:
        taken = tuple((d.key, d.option) for d in path.decisions)
        for position, decision in enumerate(path.decisions):
            if decision.kind == "environment":
                start = (path.hypothesis, decision.key, taken[:position])
                starts.setdefault(start, []).append((path, position))
    for found in starts.values():
        for number, (one, position) in enumerate(found):
            asked = one.decisions[position]
            for other, _ in found[number + 1 :]:
                parts = asked.option != other.decisions[position].option
                if parts and _agree(one.decisions[position + 1 :], other.decisions[position + 1 :]):
                    yield asked.key, one, other


def _agree(some: Sequence[Decision], others: Sequence[Decision]) -> bool:
    answers = {d.key: d.option for d in some}
    return all(answers.get(d.key, d.option) == d.option for d in others)


def _told(heap: Heap, path: Path, words: Sequence[str]) -> object:
    ids, replay, result = id_source(heap, [path]), replay_of(heap, [path]), result_of(path, words)
    outcome = (result.outcome, result.status) if result is not None else None
    return (ids.scope, ids.kind, replay.where, replay.live_tail, replay.ends, replay.evicts, path.is_stream, outcome)
