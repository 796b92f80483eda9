"""Which Python files matter: those that mention event streams, and those that import them.

Most files of a tree have nothing to do with streams, so that the look at them must cost next to nothing: a few searches
for short stems, which C does at memory speed, and only where one is found those for the words that hold it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from itertools import product

LAST_EVENT_ID = tuple(f"last{one}event{other}id" for one, other in product(("-", "_", ""), repeat=2))
WORDS = frozenset({
    "text/event-stream", "event_source", "eventsource", "serversentevent", "streamablehttp", "streamable_http",
    *LAST_EVENT_ID,
})  # fmt: skip
"""In lower case: they are looked for in any case."""
STEMS = ("stream", "event", "mcp")
"""What several words have in common."""

SSE = re.compile(r"sse(?<![a-z0-9]sse)(?![a-z0-9])")
"""`sse` as a word or a part of a name, in text in lower case: `flask_sse`, `api.sse`, no `assert`."""
SSE_IN_NAME = re.compile(r"SSE(?:(?<![A-Za-z]SSE)[A-Z][a-z]|(?<=[a-z]SSE))")
"""`SSEHub` and `FlaskSSE`, no `ASSERT` and no `CSSError`."""

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
def _by_stem(more: frozenset[str]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """The words to look for, by a stem that each of them holds: itself, if it holds none of the common ones."""
    found: dict[str, list[str]] = {}
    for word in sorted(WORDS | _lower(words()) | _lower(more)):
        if SSE.search(word) is None:  # is found as it is
            found.setdefault(next((stem for stem in STEMS if stem in word), word), []).append(word)
    return tuple((stem, tuple(several)) for stem, several in found.items())


def _lower(several: Iterable[str]) -> frozenset[str]:
    return frozenset(word.lower() for word in several)


def mentions_stream(text: str, more: frozenset[str] = frozenset()) -> bool:
    """Whether a text mentions event streams, or a library that sends them; `more` are the words of the user's rules."""
    lower = text.lower()
    for stem, several in _by_stem(more):
        if stem in lower and any(word in lower for word in several):
            return True
    return SSE.search(lower) is not None or SSE_IN_NAME.search(text) is not None
