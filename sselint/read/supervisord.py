"""supervisord: programs with `numprocs`, each process with an address of its own unless they share a socket."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from sselint.facts import Count, FileOutcome, FileReport, Pool, Reading, Rolling, Setting
from sselint.read import command, masked, shell
from sselint.read.images import started
from sselint.read.ini import Section, sections
from sselint.source import Source, Tree

_PROGRAM = re.compile(r"^[ \t]*\[(fcgi-)?program:[^\]]+\]", re.MULTILINE)
_COMMAND = re.compile(r"^[ \t]*command[ \t]*=", re.MULTILINE)
_COMMENT = re.compile(r"\s;.*$")
_EXPRESSION = re.compile(r"%\(ENV_(\w+)\)[sd]")
_OTHER_EXPRESSION = re.compile(r"%\([^)]*\)\d*[sd]")


def looks_like(path: str, text: str) -> bool:
    """Whether this is a supervisord configuration: a program section with a command."""
    return _PROGRAM.search(text) is not None and _COMMAND.search(text) is not None


def read(sources: Sequence[Source], tree: Tree) -> Reading:
    """A pool for each program that starts a server, or a script of one's own."""
    pools = [pool for s in sources for section in sections(s, "indent") if (pool := _pool(s, section, tree))]
    return Reading(pools=tuple(pools), files=tuple(FileReport(s.path, FileOutcome.ANALYSED) for s in sources))


def _pool(source: Source, section: Section, tree: Tree) -> Pool | None:
    kind, _, name = section.name.partition(":")
    text = section.get("command")
    if kind not in ("program", "fcgi-program") or not text:
        return None
    text = _OTHER_EXPRESSION.sub("0", _EXPRESSION.sub(r"${\1}", _COMMENT.sub("", text)))
    words = tuple(shell.split(text))
    if not command.read(words).starts:
        return None
    span = section.span_of("command")
    shared = kind == "fcgi-program"
    pool = Pool(
        path=source.path,
        line=span.line,
        format="supervisord",
        kind="workers" if shared else "replicas",
        name=f"supervisord program {name}",
        processes=_processes(section),
        # supervisord stops a program before it starts it again.
        rolling=Rolling.REPLACED,
        command=words,
        entrypoint=words[:1],
        environment=_environment(section),
        evidence=(span, section.span_of("numprocs")),
    )
    pool = started(pool, tree, _folder(section))
    return replace(pool, app_directory=pool.app_directory or _folder(section))


def _processes(section: Section) -> Count:
    value = section.get("numprocs")
    if value is None:
        return Count.exactly(1, "supervisord starts one process of a program by default")
    value = _EXPRESSION.sub(r"${\1}", _COMMENT.sub("", value)).strip()
    return command.number(value, "numprocs", {})


def _environment(section: Section) -> tuple[Setting, ...]:
    found = re.findall(r"(\w+)\s*=\s*(\"[^\"]*\"|'[^']*'|[^,]*)", section.get("environment") or "")
    span = (section.span_of("environment"),)
    return tuple(
        Setting(n, None if "%(" in v else masked.known(v.strip().strip("\"'")), span, own="%(process_num)" in v)
        for n, v in found
    )


def _folder(section: Section) -> str | None:
    folder = section.get("directory")
    return _COMMENT.sub("", folder).strip() if folder and "%(" not in folder else None
