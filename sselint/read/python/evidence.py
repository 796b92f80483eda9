"""Which Python files matter: those that mention event streams, and those that import them."""

from __future__ import annotations

import re
from functools import cache

STREAM = re.compile(
    r"text/event-stream|last[-_]?event[-_]?id|event_?source|streamable_?http|serversentevent|sse[_.-]|[_.-]sse\b|\bsse\b",
    re.IGNORECASE,
)


@cache
def _pattern() -> re.Pattern[str]:
    from sselint.read.python.rules import load_rules

    words = sorted(set(load_rules().evidence))
    return re.compile("|".join([STREAM.pattern, *map(re.escape, words)]), re.IGNORECASE)


def mentions_stream(text: str) -> bool:
    """Whether a text mentions event streams, or a library that sends them."""
    return STREAM.search(text) is not None or _pattern().search(text) is not None
