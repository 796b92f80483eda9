"""Streams: paper runs of every endpoint, and the facts that they add up to."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from sselint.facts import (
    AppReference,
    Cursor,
    Guard,
    IdKind,
    Outcome,
    Run,
    Stream,
    Truth,
)
from sselint.read.python.answers import guards, reading, variants
from sselint.read.python.answers.dependence import ids_and_replay, is_open, variables
from sselint.read.python.answers.idsource import may_overlap
from sselint.read.python.answers.outcome import Path, run_of
from sselint.read.python.answers.unfinished import Unfinished
from sselint.read.python.interpreter.course import arrives, nearness, turned_away
from sselint.read.python.interpreter.machine import Hypothesis, Machine
from sselint.read.python.interpreter.oracle import Explorer, Oracle
from sselint.read.python.interpreter.values import (
    NAMES,
    Callback,
    ClassValue,
    Descriptor,
    External,
    Function,
    Method,
    Minted,
    Partial,
    Reply,
    Value,
    leaves,
    undecorated,
)
from sselint.read.python.server import serve
from sselint.read.python.server.endpoint import Endpoint
from sselint.read.python.server.references import references
from sselint.read.python.server.world import World, plain
from sselint.read.python.source.deployed import NOT_DEPLOYED
from sselint.read.python.source.modules import Site

PATHS = 160
SHAPE_PATHS = 40
STEPS = 20_000
SHARE, LEAST, HYPOTHESES = 2_000_000, 20_000, 5
"""What all runs of an endpoint may take where nobody else wants any, and what those of one hypothesis take at least."""


class Runs:
    """The paper runs of one endpoint."""

    def __init__(self, world: World, endpoint: Endpoint, share: int) -> None:
        self.world = world
        self.share = share
        """The steps that the paths under one hypothesis may take."""
        self.endpoint = endpoint
        self.complete = True
        self.cut = False
        """Whether any of the paths was broken off."""
        self.last: Explorer | None = None
        """What explored the last paths."""

    @property
    def covered(self) -> bool:
        """Whether no answer to a question was left out altogether by the last paths."""
        return self.last is None or self.last.covered

    @property
    def broken_off(self) -> bool:
        """Whether the last paths left out an answer because work ended, or one that came up in the stream."""
        return not self.covered and (self.cut or (self.last is not None and self.last.near_left))

    def paths(self, hypothesis: Hypothesis, shape: Value | None, limit: int) -> list[Path]:
        """All paths under a hypothesis, up to a number."""
        budget = self.world.budget
        explorer = Explorer(budget, limit, False, STEPS, self.share, turned_away, nearness, arrives)

        def path(oracle: Oracle) -> Machine:
            m = Machine(self.world, oracle, hypothesis)
            m.shape = shape
            serve.serve(m, self.endpoint)
            self.world.followed |= m.visited
            return m

        words = self.world.rules.word_list("refusal_events")
        found = [Path(hypothesis, m.trace, decisions, words) for m, decisions in explorer.run(path)]
        self.complete = self.complete and explorer.complete
        self.cut = self.cut or explorer.cut
        self.last = explorer
        return found


def streams_of(world: World, endpoint: Endpoint, unit_of: dict[str, str], share: int = SHARE) -> list[Stream] | None:
    """The stream that an endpoint is, none where it sends no events, and what it is with each implementation of what
    it asks, where nothing settles which one that is. Its runs take about `share` steps in all. None: they were broken
    off before any of them came to an event."""
    runs = Runs(world, endpoint, max(share // HYPOTHESES, LEAST))
    first = runs.paths(Hypothesis.MISSING, None, SHAPE_PATHS)
    if not any(p.is_stream for p in first):
        first += runs.paths(Hypothesis.FOREIGN, None, SHAPE_PATHS)
        if not any(p.is_stream and p.raw_frames for p in first):
            return None if runs.cut or not runs.covered else []
    runs, several = _by_query(runs, _several(runs, first))
    main = _assembled(world, endpoint, runs, several, unit_of)
    if main is None:
        return []
    return variants.told(main, several, lambda chosen: _assembled(world, endpoint, runs, chosen, unit_of))


def _several(runs: Runs, first: list[Path]) -> tuple[list[Path], ...]:
    """The paths under each hypothesis. Where no path sends an id, and none reads a cursor, what a cursor that is known
    or malformed leads to is not asked: most streams of a large tree are such, and what is left is for the others."""
    whole = runs.complete
    seen = runs.paths(Hypothesis.FOREIGN, None, SHAPE_PATHS)
    if whole and runs.complete and _nameless([*first, *seen]):
        return [p for p in first if p.hypothesis is Hypothesis.MISSING], seen, [], []
    shape = shape_of([*first, *seen])
    missing = runs.paths(Hypothesis.MISSING, shape, PATHS)
    foreign = runs.paths(Hypothesis.FOREIGN, shape, PATHS)
    asked = runs.last
    if _nameless([*first, *seen, *missing, *foreign]):
        return missing, foreign, [], []
    known = runs.paths(Hypothesis.KNOWN, shape, PATHS)
    malformed = runs.paths(Hypothesis.MALFORMED, shape, SHAPE_PATHS)
    runs.last = asked
    return missing, foreign, known, malformed


def _by_query(runs: Runs, several: tuple[list[Path], ...]) -> tuple[Runs, tuple[list[Path], ...]]:
    """The paths once more with a query parameter as the cursor, where events have ids and nothing reads the header:
    clients that keep the address of a stream themselves come back with `?after=`."""
    world, words = runs.world, runs.world.rules.word_list("cursor_queries")
    paths = [p for found in several for p in found]
    if _nameless(paths) or any(p.events("cursor") for p in paths) or not _writes(runs, words):
        return runs, several
    outer, world.cursor_words = world.cursor_words, world.cursor_words | {plain(w) for w in words}
    try:
        again = Runs(world, runs.endpoint, runs.share)
        found = _several(again, again.paths(Hypothesis.MISSING, None, SHAPE_PATHS))
    finally:
        world.cursor_words = outer
    return (again, found) if any(p.asks_cursor for p in found[1]) else (runs, several)


def _writes(runs: Runs, words: Sequence[str]) -> bool:
    """Whether the file of the handler holds one of these words."""
    site = site_of(runs.endpoint)
    written = site.module.source.text if site is not None else ""
    return re.search(rf"\b(?:{'|'.join(map(re.escape, words))})\b", written) is not None


def _nameless(paths: Sequence[Path]) -> bool:
    """Whether the paths send no id and read no cursor."""
    return not any(p.events("cursor") or any(f.id is not None for f in p.frames) for p in paths)


def shape_of(paths: Sequence[Path]) -> Value | None:
    """What an id on the wire looks like: of several, the one that says most."""
    found = [f.id for p in paths for f in p.frames if f.id is not None]
    return max(found, key=_says, default=None)


def _says(value: Value) -> tuple[int, int]:
    parts = leaves(value)
    return sum(isinstance(leaf, Minted) for leaf in parts), sum(isinstance(leaf, Reply) for leaf in parts)


def _assembled(
    world: World, endpoint: Endpoint, runs: Runs, several: tuple[list[Path], ...], unit_of: dict[str, str]
) -> Stream | None:
    site = site_of(endpoint)
    if site is None:
        return None
    missing, foreign, known, _ = several
    words = world.rules.word_list("reset_events")
    everything = [*missing, *foreign, *known]
    served = [p for p in everything if p.missed_guard is None]
    cursor = reading.cursor_of(world, endpoint, everything, runs.covered)
    unfinished = Unfinished(world, cursor, runs.broken_off, runs.cut)
    ids, replay = ids_and_replay(world.heap, served)
    ids = unfinished.ids(ids)
    replay = unfinished.replay(replay, ids, served)
    outcomes = _outcomes(several, words, runs.complete, cursor, may_overlap(ids))
    followed = not runs.broken_off and ids.kind is not IdKind.UNKNOWN
    if followed and reading.is_passed_over(everything, outcomes[0]):
        cursor = Cursor(Truth.NO, why="all headers are gone through, and nothing depends on this one")
        outcomes = _outcomes(several, words, runs.complete, cursor, may_overlap(ids))
    on_foreign, on_overlap, on_missing, on_malformed = outcomes
    span = site.span("the endpoint")
    found_guards = _guards(world, endpoint, [*foreign, *known])
    apps = references(world, endpoint)
    return Stream(
        path=span.path,
        line=span.line,
        symbol=symbol_of(endpoint),
        unit=unit_of.get(span.path, "."),
        ids=ids,
        replay=replay,
        cursor=cursor,
        on_foreign=unfinished.run(on_foreign, served),
        on_overlap=on_overlap and unfinished.run(on_overlap, served),
        on_missing=on_missing,
        on_malformed=on_malformed,
        guards=found_guards,
        tags_replica=_tags(everything),
        url=endpoint.url,
        apps=apps,
        protocol="mcp" if any(p.events("mcp") for p in everything) else "sse",
        deployable=_deployable(span.path, apps),
        environment=variables(world.heap, several, words, is_open(ids, replay, outcomes), found_guards),
        evidence=(replace(span, note="the endpoint"),),
    )


def _outcomes(
    several: tuple[list[Path], ...], words: Sequence[str], complete: bool, cursor: Cursor, may_overlap: bool
) -> tuple[Run, Run | None, Run, Run | None]:
    """What a client gets with a foreign cursor, with one that is known here too, without one, with a malformed one."""
    missing, foreign, known, malformed = several
    on_foreign, on_missing = run_of(foreign, words, complete), run_of(missing, words, complete)
    if cursor.read is not Truth.YES:
        return _not_read(on_foreign, cursor), None, on_missing, None
    on_overlap = run_of(known, words, complete) if may_overlap else None
    return on_foreign, on_overlap, on_missing, run_of(malformed, words, complete)


def _deployable(path: str, apps: Sequence[AppReference]) -> bool:
    """Whether a deployment may be meant: not where only tests and examples mount the stream, wherever it stands."""
    mounted = [NOT_DEPLOYED.search(app.path) is None for app in apps]
    return NOT_DEPLOYED.search(path) is None and (not mounted or any(mounted))


def _not_read(run: Run, cursor: Cursor) -> Run:
    if run.outcome is Outcome.FAIL_CLOSED:
        return run
    outcome = Outcome.NOT_READ if cursor.read is Truth.NO else Outcome.UNKNOWN
    return Run(outcome, cursor.why, run.evidence)


def _guards(world: World, endpoint: Endpoint, paths: Sequence[Path]) -> tuple[Guard, ...]:
    found = ((path.missed_guard, path.refusal or path.turned_away) for path in paths)
    missed = [(event, refusal) for event, refusal in found if event is not None and refusal is not None]
    return guards.found_in(world, endpoint, missed)


def _tags(paths: Sequence[Path]) -> Truth:
    for path in paths:
        for frame in path.raw_frames:
            for value in frame.fields.values():
                if any(isinstance(leaf, Minted) and leaf.kind in NAMES for leaf in leaves(value)):
                    return Truth.YES
    return Truth.NO


def _innermost(handler: Value) -> Value:
    """What a handler comes down to: decorators and partial applications taken off."""
    if isinstance(handler, Function):
        handler = undecorated(handler)
    while isinstance(handler, Partial | Descriptor | Callback):
        inner = handler.data if isinstance(handler, Callback) else handler.function
        if not isinstance(inner, Value):
            break
        handler = inner
    return handler


def site_of(endpoint: Endpoint) -> Site | None:
    """Where a handler stands, None where nothing in the tree defines it."""
    handler = _innermost(endpoint.handler)
    if isinstance(handler, Function | ClassValue):
        return Site(handler.module, handler.node.cst)
    return endpoint.site


def symbol_of(endpoint: Endpoint) -> str:
    """The dotted name of a handler in its module."""
    owner = endpoint.handler.owner if isinstance(endpoint.handler, Function) else None
    handler = _innermost(endpoint.handler)
    if isinstance(handler, Function):
        owner = handler.owner or owner
        return f"{owner.name}.{handler.name}" if owner is not None else handler.name
    if isinstance(handler, ClassValue):
        return handler.name
    if isinstance(handler, Method):
        return handler.name
    if isinstance(handler, External):
        return handler.name
    return endpoint.url or "application"
