"""Procfile: the process types of a platform's app. One `web` process as written, with the workers of its command."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import PurePosixPath

from sselint.facts import Count, FileOutcome, FileReport, Pool, Reading, Rolling
from sselint.read import command, masked
from sselint.read.images import started
from sselint.source import Source, Tree

_LINE = re.compile(r"^([A-Za-z0-9_-]+):[ \t]*(\S.*?)[ \t]*\r?$", re.MULTILINE)


def looks_like(path: str, text: str) -> bool:
    """Whether this is a Procfile: by its name and a process line."""
    name = path.rsplit("/", 1)[-1]
    return name.startswith("Procfile") and _LINE.search(text) is not None


def read(sources: Sequence[Source], tree: Tree) -> Reading:
    """A pool for each process type that serves: `web` (the one that gets HTTP), and any that starts a server."""
    pools: list[Pool] = []
    for source in sources:
        formation = _formation(source.path, tree)
        for start, line, shown in zip(source.line_starts, source.text.split("\n"), masked.lines(source), strict=True):
            match = _LINE.fullmatch(shown)
            if match is None:
                continue
            name, words = match.group(1), ("/bin/sh", "-c", match.group(2))
            if name != "web" and not command.read(words).serves:
                continue
            span = source.span(start, start + len(line.rstrip()))
            pool = Pool(
                path=source.path,
                line=span.line,
                format="procfile",
                kind="replicas",
                name=f"process type {name}",
                processes=formation.get(name)
                or Count.exactly(1, "one process as written; the platform's scale is not in the tree"),
                # The platform stops the old process of a type when it starts the new one.
                rolling=Rolling.REPLACED,
                command=words,
                evidence=(span,),
            )
            pools.append(started(pool, tree))
    return Reading(pools=tuple(pools), files=tuple(FileReport(s.path, FileOutcome.ANALYSED) for s in sources))


def _formation(path: str, tree: Tree) -> dict[str, Count]:
    """How many processes of each type `app.json` beside the Procfile asks for.

    Source: devcenter.heroku.com/articles/app-json-schema#formation.
    """
    beside = str(PurePosixPath(path).parent / "app.json")
    if beside not in tree.known:
        return {}
    try:
        written = json.loads(tree.text(beside)[:1_000_000]).get("formation", {})
        quantities = {name: entry.get("quantity") for name, entry in written.items()}
    except (OSError, ValueError, AttributeError, RecursionError):
        return {}
    known = ((name, q) for name, q in quantities.items() if isinstance(q, int) and q > 0)
    return {name: Count.exactly(q, f"app.json: formation.{name}.quantity is {q}") for name, q in known}
