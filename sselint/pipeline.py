"""From paths to an audit: find, unwrap, read and link, in this order, each room caught in its own faults.

A reader that fails on one file loses that file, with a name and a reason, and nothing else.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from sselint.deployment import Audit
from sselint.facts import FileOutcome, FileReport, Reading, Setting, Stream
from sselint.settings import Settings
from sselint.source import Source, Tree

if TYPE_CHECKING:
    from sselint.find import Found
    from sselint.read.python import Program

Progress = Callable[[str], None]


def audit(paths: Sequence[Path], settings: Settings, progress: Progress | None = None) -> Audit:
    """All that can be known of the streams under the paths.

    `progress` is told what happens, for a terminal. Raises SettingsError where the settings name what is not there.
    """
    from sselint.find import find

    tell = progress or (lambda _: None)
    tell("looking for files")
    folders = [settings.root / folder for folder in settings.read] or [settings.root]
    found = find(settings.root, folders, settings.exclude, settings.rules)
    if not found.sources and not settings.streams and not settings.facts_files and not settings.assume.stream:
        return Audit(root=found.tree.root, files=_outcomes(found, Reading()))
    reading = Reading()
    for kind in sorted({s.kind for s in found.sources} - {"python"}):
        tell(f"reading {kind}")
        reading += read_kind(kind, found.of(kind), found.tree)
    program = None
    if found.of("python"):
        tell("reading Python")
        program, servers = _read_python(found, settings)
        reading += servers
    reading = _with_stated_streams(reading, settings)
    tell("linking")
    return _linked(found, reading, program, settings)


def _read_python(found: Found, settings: Settings) -> tuple[Program | None, Reading]:
    """The servers in Python. They are read together; a fault of ours loses them, by name, and nothing else."""
    from sselint.catalogue import CatalogueError
    from sselint.read.python import Program, looks_like

    sources = found.of("python")
    try:
        program = Program(sources, found.tree, settings.rules)
        return program, program.read()
    except CatalogueError:
        raise
    except Exception as error:
        lost = [s.path for s in sources if looks_like(s.path, s.text, settings.rules)]
        return None, Reading(files=tuple(_failed(path, error) for path in lost))


def _failed(path: str, error: Exception) -> FileReport:
    if os.environ.get("SSELINT_TRACEBACK"):
        raise error
    why = f"sselint failed on it: {type(error).__name__}: {error}"
    return FileReport(path, FileOutcome.INTERNAL_ERROR, why, needed=True)


def read_kind(kind: str, sources: Sequence[Source], tree: Tree) -> Reading:
    """What the reader of a kind makes of its sources. If it fails, each source is read alone, to lose only the one."""
    from sselint.find import reader

    read: Callable[[Sequence[Source], Tree], Reading] = reader(kind).read
    try:
        return read(sources, tree)
    except Exception:
        reading = Reading()
        for source in sources:
            reading += _read_alone(read, source, tree)
        return reading


def _read_alone(read: Callable[[Sequence[Source], Tree], Reading], source: Source, tree: Tree) -> Reading:
    try:
        return read((source,), tree)
    except Exception as error:
        return Reading(files=(_failed(source.path, error),))


def _linked(found: Found, reading: Reading, program: Program | None, settings: Settings) -> Audit:
    from sselint.catalogue import infrastructure_images
    from sselint.link import link
    from sselint.link.overrides import refuse_unknown_streams
    from sselint.link.units import Units

    failures: list[FileReport] = []

    def reread(stream: Stream, environment: Sequence[Setting], settled: bool) -> Stream:
        if program is None:
            return stream
        from sselint.read.python import Environment

        try:
            return program.again(stream, Environment({s.name: s for s in environment}, settled))
        except Exception as error:
            failures.append(_failed(stream.path, error))
            return stream

    units = Units(s.unit for s in found.sources)
    audit = link(reading, found.tree, units, settings, infrastructure_images(), reread)
    late = program.left_out() if program is not None else []
    files = _outcomes(found, reading + Reading(files=(*failures, *late)))
    refuse_unknown_streams(audit.streams, files, settings)
    return replace(audit, files=files)


def _outcomes(found: Found, reading: Reading) -> tuple[FileReport, ...]:
    """One report a file: the reader's, or that it was analysed; several of one file become the worst."""
    worst = {o: n for n, o in enumerate(FileOutcome)}
    reports: dict[str, FileReport] = {}
    analysed = (FileReport(s.path, FileOutcome.ANALYSED) for s in found.sources)
    for report in (*analysed, *found.files, *reading.files):
        before = reports.get(report.path)
        if before is None or worst[report.outcome] > worst[before.outcome]:
            reports[report.path] = report
    seen = tuple(reports[path] for path in sorted(reports))
    irrelevant = (FileReport(p, FileOutcome.IRRELEVANT) for p in found.tree.files if p not in reports)
    return (*seen, *irrelevant)


def _with_stated_streams(reading: Reading, settings: Settings) -> Reading:
    """The reading with the streams that the settings, `--assume` or another repository's facts state."""
    from sselint.stated import streams_stated

    return replace(reading, streams=(*reading.streams, *streams_stated(settings, reading)))
