"""Reads Python server source: which endpoints stream events, where their ids come from, what answers a foreign cursor.

Nothing of the tree is imported or executed: an abstract interpreter runs it on paper. libcst is imported only when a
file must be parsed. The way through the folders:

source -> interpreter (which asks libraries and stores what foreign names mean) -> server -> answers
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sselint.source import Source, Tree

if TYPE_CHECKING:
    from pathlib import Path

    from sselint.facts import FileReport, Reading, Stream
    from sselint.read.python.libraries.environment import Environment as Environment


def looks_like(path: str, text: str, own_rules: Sequence[Path] = ()) -> bool:
    """Whether a Python file holds evidence of an event stream. Cheap: no parsing. `own_rules` are the user's files."""
    from sselint.read.python.source.evidence import mentions_stream

    if not own_rules:
        return mentions_stream(text)
    from sselint.read.python.rules import load_rules

    return mentions_stream(text, frozenset(load_rules(tuple(map(str, own_rules))).evidence))


def __getattr__(name: str) -> object:
    if name == "Environment":
        from sselint.read.python.libraries.environment import Environment

        return Environment
    raise AttributeError(name)


class Program:
    """The Python files of a tree, and what they do when requests come in.

    `rules` are the user's own files beside `rules/python/`. Raises CatalogueError where one of them cannot be used.
    """

    def __init__(self, sources: Sequence[Source], tree: Tree, rules: Sequence[Path | str] = ()) -> None:
        from sselint.read.python.program import Analysis

        self._analysis = Analysis(sources, tree, tuple(map(str, rules)))

    def read(self) -> Reading:
        """Streams, pools, clients and file reports. What environment variables choose is open."""
        return self._analysis.read()

    def again(self, stream: Stream, environment: Environment) -> Stream:
        """One of the streams, as the deployment's files settle the variables that it depends on.

        The stream itself where they settle none of them, or where it is not there any more.
        """
        return self._analysis.again(stream, environment)

    def left_out(self) -> list[FileReport]:
        """The files of streams that were not read again as an environment settles them, because work ended before."""
        return self._analysis.left_out()
