"""Which Python files matter: those that mention event streams, and those that import them."""

from __future__ import annotations

import re
from functools import cache

STREAM = re.compile(
    r"text/event-stream|last[-_]?event[-_]?id|event_?source|streamable_?http|serversentevent|sse[_.-]|[_.-]sse\b|\bsse\b"
    r"|(?-i:SSE[A-Z]|[a-z]SSE)",
    re.IGNORECASE,
)


_EVIDENCE_LINE = re.compile(r"^evidence: *\[(.*)\]", re.MULTILINE)


@cache
def words() -> frozenset[str]:
    """What the files of `rules/python/` call evidence of their library.

    Their one line is read as text: the cheap look must not cost the import of a YAML parser.
    """
    from sselint.catalogue import rules_directory

    texts = (file.read_text(encoding="utf-8") for file in (rules_directory() / "python").glob("*.yaml"))
    lists = (match.group(1) for text in texts for match in _EVIDENCE_LINE.finditer(text))
    return frozenset(word.strip(" \"'") for line in lists for word in line.split(",") if word.strip())


@cache
def _pattern(more: frozenset[str]) -> re.Pattern[str]:
    return re.compile("|".join([STREAM.pattern, *map(re.escape, sorted(words() | more))]), re.IGNORECASE)


def mentions_stream(text: str, more: frozenset[str] = frozenset()) -> bool:
    """Whether a text mentions event streams, or a library that sends them; `more` are the words of the user's rules."""
    return STREAM.search(text) is not None or _pattern(more).search(text) is not None
