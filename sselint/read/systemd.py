"""systemd service units: ExecStart, the environment, and templates (`app@.service`) with any number of instances."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from sselint.facts import Count, FileOutcome, FileReport, Pool, Reading, Rolling, Setting
from sselint.read import command, masked, shell
from sselint.read.images import started
from sselint.read.ini import Section, sections
from sselint.source import Source, Tree

_SERVICE = re.compile(r"^[ \t]*\[Service\][ \t]*\r?$", re.MULTILINE)
_START = re.compile(r"^[ \t]*ExecStart[ \t]*=", re.MULTILINE)


def looks_like(path: str, text: str) -> bool:
    """Whether this is a systemd service unit."""
    return _SERVICE.search(text) is not None and _START.search(text) is not None


def read(sources: Sequence[Source], tree: Tree) -> Reading:
    """A pool for each unit that starts a server, or a script of one's own."""
    pools = [pool for source in sources if (pool := _pool(source, tree))]
    return Reading(pools=tuple(pools), files=tuple(FileReport(s.path, FileOutcome.ANALYSED) for s in sources))


def _pool(source: Source, tree: Tree) -> Pool | None:
    section = next((s for s in sections(source, "backslash") if s.name == "Service"), None)
    text = section.get("ExecStart") if section else None
    if section is None or not text:
        return None
    # "@" and friends in front of the program change how it is started, not what.
    words = tuple(shell.split(text.lstrip("@-:+!|")))
    if not command.read(words).starts:
        return None
    file = source.path.rsplit("/", 1)[-1]
    span = section.span_of("ExecStart")
    environment = _environment(section)
    pool = Pool(
        path=source.path,
        line=span.line,
        format="systemd",
        kind="replicas",
        name=f"unit {file}",
        processes=_processes(file, text),
        # systemd stops a unit before it starts it again.
        rolling=Rolling.REPLACED,
        command=words,
        entrypoint=words[:1],
        environment=environment,
        settles_environment=not section.all("EnvironmentFile") and not section.all("PassEnvironment"),
        evidence=(span,),
    )
    folder = section.get("WorkingDirectory")
    pool = started(pool, tree, folder)
    return replace(pool, app_directory=pool.app_directory or folder)


def _processes(file: str, text: str) -> Count:
    if re.search(r"@\.service(\.|$)", file) or re.search(r"%[iI]", text):
        return Count.unknown("a template unit: as many processes as instances are enabled")
    return Count.exactly(1, "a service unit is one process")


def _environment(section: Section) -> tuple[Setting, ...]:
    settings: list[Setting] = []
    for key, value, span in section.values:
        if key == "Environment":
            for word in shell.split(value):
                name, equals, content = word.partition("=")
                if equals:
                    own = re.search(r"%[iIjJ]", content) is not None
                    settings.append(Setting(name, None if "%" in content else masked.known(content), (span,), own))
    return tuple(settings)
