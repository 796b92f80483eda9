"""From the Python files of a tree to a reading: what is parsed, what is run, what is reported of each file."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Sequence
from functools import cached_property, reduce
from time import process_time
from typing import TypeVar

from sselint.facts import ClientSighting, FileOutcome, FileReport, Pool, Reading, Stream
from sselint.read.python.answers import sightings
from sselint.read.python.answers.streams import site_of, streams_of, symbol_of
from sselint.read.python.answers.variants import worse
from sselint.read.python.interpreter.oracle import Budget
from sselint.read.python.libraries.environment import Environment
from sselint.read.python.rules import load_rules
from sselint.read.python.server import build, launches, order, unread
from sselint.read.python.server.endpoint import Endpoint
from sselint.read.python.server.world import World
from sselint.read.python.source.evidence import mentions_stream
from sselint.read.python.source.modules import TESTS, Module, ModuleTable
from sselint.source import Source, Tree

MAX_IMPORTERS = 120
STEPS = 2_000_000
AGAIN_SECONDS = 60.0
"""No stream is read again under the environment of a deployment when those before it took so long together."""
RECURSION = 6_000
"""The interpreter recurses as the code does that it runs; its own depth is bounded by `machine.MAX_DEPTH`."""
COLLECT = 200_000
"""So many new objects before garbage is looked for. Nearly all that is made here stays: syntax trees, values, traces.
Looking through them at the usual pace took a quarter of the time that a large tree takes."""

Result = TypeVar("Result")


class Analysis:
    """The Python files of a tree. What does not depend on the environment is found once."""

    def __init__(self, sources: Sequence[Source], tree: Tree, own_rules: tuple[str, ...]) -> None:
        self.rules = load_rules(own_rules)
        self.tree = tree
        self.sources = {s.path: s for s in sources}
        self.unit_of = {s.path: s.unit for s in sources}
        evidence = frozenset(self.rules.evidence)
        self.evident = [s.path for s in sources if mentions_stream(s.text, evidence)]
        self.table = ModuleTable(sources, self.rules.heads)
        self._followed: dict[object, set[str]] = {}
        """The files of which a function ran for a stream, by its place."""
        self._streams: tuple[Stream, ...] = ()
        """What was read where what environment variables choose is open."""
        self._again: dict[object, dict[object, Stream] | None] = {}
        """By streams and what settles them, the streams as they are then, by place. None where it was too much."""
        self._again_seconds = 0.0
        self._not_again: dict[object, Stream] = {}

    def read(self) -> Reading:
        """The reading, as `Program.read` describes it."""
        return self._guarded(self._reading)

    def again(self, stream: Stream, environment: Environment) -> Stream:
        """A stream under an environment, as `Program.again` describes it. The other streams of its applications are
        read with it: one pool runs them all, and most of the work is to build the world that they stand in."""
        if not any(_settled(stream, environment)):
            return stream
        together = [s for s in self._streams if stream.apps and s.apps == stream.apps and any(_settled(s, environment))]
        if stream not in together:
            together = [stream]
        key = tuple((_place(s), *_settled(s, environment)) for s in together)
        if key not in self._again:
            self._again[key] = self._within_bounds(together, environment)
        found = self._again[key]
        if found is None:
            self._not_again[_place(stream)] = stream
            return stream
        return found.get(_place(stream), stream)

    def left_out(self) -> list[FileReport]:
        """What work ended before, as `Program.left_out` describes it."""
        return list(unread.not_again(list(self._not_again.values())))

    def _within_bounds(self, streams: Sequence[Stream], environment: Environment) -> dict[object, Stream] | None:
        """Streams under an environment. None where reading streams again has taken too long already."""
        if self._again_seconds > AGAIN_SECONDS:
            return None
        began = process_time()
        try:
            return self._guarded(lambda: self._read_again(streams, environment))
        finally:
            self._again_seconds += process_time() - began

    def _guarded(self, read: Callable[[], Result]) -> Result:
        limit, thresholds = sys.getrecursionlimit(), gc.get_threshold()
        sys.setrecursionlimit(max(limit, RECURSION))
        if 0 < thresholds[0] < COLLECT:
            gc.set_threshold(COLLECT, *thresholds[1:])
        try:
            return read()
        finally:
            sys.setrecursionlimit(limit)
            gc.set_threshold(*thresholds)

    def _reading(self) -> Reading:
        world = World(self.table, self.rules, Environment(), Budget(STEPS))
        endpoints = build.build(world, self._modules(self.evident), set(self.evident))
        streams: dict[object, Stream] = {}
        files: list[FileReport] = []
        for number, endpoint in enumerate(endpoints):
            try:
                share = world.budget.steps // (len(endpoints) - number)
                found = self._streams_of(world, endpoint, share)
            except Exception as error:  # one endpoint must not cost the others
                files.append(self._internal(endpoint.site.module.path if endpoint.site is not None else "", error))
                continue
            for stream in found:
                place = _place(stream)
                known = streams.get(place)
                streams[place] = stream if known is None else _merged(known, stream)
        files.extend(self._reports(world))
        files.extend(unread.reports(world, self.evident, list(streams.values())))
        pools: tuple[Pool, ...] = tuple(launches.pools(world))
        clients = self._sightings if streams else ()
        self._streams = tuple(streams.values())
        return Reading(self._streams, (), pools, clients, tuple(f for f in files if f.path))

    def _streams_of(self, world: World, endpoint: Endpoint, share: int) -> list[Stream]:
        world.followed.clear()
        found = streams_of(world, endpoint, self.unit_of, share)
        if found is None:
            unread.note(world, endpoint, cut=True)
        for stream in found or ():
            self._followed.setdefault(_place(stream), set()).update(world.followed)
        return found or []

    def _read_again(self, streams: Sequence[Stream], environment: Environment) -> dict[object, Stream]:
        """Only the files around the streams are run again: those of which a function ran for them, and those of their
        applications. What they import comes by itself, as do the files that import them."""
        around = {path for s in streams for path in (s.path, *(a.path for a in s.apps))}
        around = around.union(*(self._followed.get(_place(s), ()) for s in streams)) & self.sources.keys()
        world = World(self.table, self.rules, environment, Budget(STEPS))
        wanted = {(s.path, s.symbol) for s in streams}

        def is_wanted(endpoint: Endpoint) -> bool:
            site = site_of(endpoint)
            return site is not None and (site.module.path, symbol_of(endpoint)) in wanted

        evident = around & set(self.evident)
        endpoints = build.build(world, self._modules(sorted(around)), evident, is_wanted, len(streams))
        found: list[Stream] = []
        for number, endpoint in enumerate(endpoints):
            share = world.budget.steps // (len(endpoints) - number)
            found.extend((streams_of(world, endpoint, self.unit_of, share) or ())[:1])
        several = {_place(s): _same(s, found) for s in streams}
        if world.cut or world.budget.spent:
            self._not_again.update({_place(s): s for s in streams if not several[_place(s)]})
        return {place: reduce(_merged, same) for place, same in several.items() if same}

    @cached_property
    def _sightings(self) -> tuple[ClientSighting, ...]:
        return tuple(sightings.clients(self.table, self.sources))

    def _internal(self, path: str, error: Exception) -> FileReport:
        why = f"sselint failed on it: {type(error).__name__}: {error}"
        return FileReport(path, FileOutcome.INTERNAL_ERROR, why, needed=True)

    def _modules(self, around: Sequence[str]) -> list[Module]:
        """Files that mention streams, then those that import them, nearest first. Tests are not asked."""
        texts = {p: self.sources[p].text for p in around}
        first = order.files_first((p for p in around if not TESTS.search(p)), texts)
        importers = [*self.table.importers([p for p in first if order.sends(texts[p])], MAX_IMPORTERS)]
        importers += self.table.importers(first, MAX_IMPORTERS - len(importers))
        others = dict.fromkeys(p for p in (*importers, *self._assembling()) if p not in first and not TESTS.search(p))
        return [self.table.at(p) for p in (*first, *others)]

    def _assembling(self) -> list[str]:
        """Files that make an application of handlers that they do not import, by the words that rules give."""
        words = self.rules.word_list("assembles") if self.evident else ()
        return [p for p in self.sources if any(word in self.sources[p].text for word in words)][:MAX_IMPORTERS]

    def _reports(self, world: World) -> list[FileReport]:
        evident = set(self.evident)
        found = [
            FileReport(
                path, FileOutcome.TOO_LARGE if "bytes" in why else FileOutcome.UNREADABLE, why, needed=path in evident
            )
            for path, why in world.refused.items()
        ]
        found.extend(self._internal(path, error) for path, error in world.faults.items() if path)
        for path, trouble in world.broken.items():
            module = world.loaded[path]
            line, column = module.source.at(trouble.line - 1, max(trouble.column - 1, 0))
            from sselint.facts import Span

            span = Span(path, line, column, line, column + 1, trouble.why)
            found.append(FileReport(path, FileOutcome.UNREADABLE, f"not Python: {trouble.why}", path in evident, span))
        return found


def _place(stream: Stream) -> object:
    return stream.path, stream.line, stream.symbol, stream.url


def _same(stream: Stream, found: Sequence[Stream]) -> list[Stream]:
    """What was found of a stream: under its own address, or under those that its handler has now."""
    same = [f for f in found if (f.path, f.line, f.symbol) == (stream.path, stream.line, stream.symbol)]
    return [f for f in same if f.url == stream.url] or same


def _settled(stream: Stream, environment: Environment) -> tuple[object, ...]:
    """What an environment says of the variables that a stream depends on: their values, and which are not set."""
    names = sorted(stream.environment)
    given = tuple((name, s.value, s.own) for name in names if (s := environment.settings.get(name)) is not None)
    return given, tuple(name for name in names if environment.says_all(name))


def _merged(known: Stream, other: Stream) -> Stream:
    from dataclasses import replace

    apps = tuple(dict.fromkeys((*known.apps, *other.apps)))
    return replace(known if apps else worse(known, other), apps=apps, deployable=known.deployable or other.deployable)
