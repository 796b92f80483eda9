"""Lines of a text as readers of commands and variables take them: what a template prints is of unknown content."""

from __future__ import annotations

from sselint.read.command import TEMPLATED
from sselint.source import Source


def lines(source: Source) -> list[str]:
    """The lines of a source, each template tag in them as one command substitution: nobody takes that for a value."""
    if not source.masked:
        return source.text.split("\n")
    text, end = source.text, len(source.text)
    parts: list[str] = []
    for start, stop in sorted(source.masked, reverse=True):
        if start < end:
            # A tag over several lines keeps its line ends, so that numbers of lines stay.
            parts += [text[stop:end], TEMPLATED + "\n" * text.count("\n", start, stop)]
            end = start
    parts.append(text[:end])
    return "".join(reversed(parts)).split("\n")


def written(source: Source, number: int) -> str:
    """Line `number` (from 0) as it stands in the file, tags included."""
    text = source.original or source.text
    start = source.line_starts[number]
    end = text.find("\n", start)
    return text[start : len(text) if end < 0 else end]


def known(text: str | None) -> str | None:
    """A value, None where a template makes any of it."""
    return None if text is None or TEMPLATED in text else text
