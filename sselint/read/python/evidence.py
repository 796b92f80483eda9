"""Which Python files matter: those that mention event streams, and those that import them."""

from __future__ import annotations

import re
from functools import cache

PROTOCOL = (
    "text/event-stream", "last-event-id", "last_event_id", "lasteventid", "eventsource", "event_source",
    "streamablehttp", "streamable_http", "serversentevent",
)  # fmt: skip
"""The words of the protocol itself, in lower case."""

_SSE = re.compile(r"sse(?:[_.-]|(?<=[\W_]sse)(?!\w)|(?<=\Asse)(?!\w))")
"""`sse` as a word or at the edge of one, in lower case: not that of "assert" and "message"."""

_CAMEL = re.compile(r"SSE(?:[A-Z]|(?<=[a-z]SSE))")


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


def mentions_stream(text: str, more: frozenset[str] = frozenset()) -> bool:
    """Whether a text mentions event streams, or a library that sends them; `more` are the words of the user's rules.

    Plain substrings first: one expression with all as branches took fifteen times as long, and this looks at
    every Python file of the tree.
    """
    lower = text.lower()
    if any(word in lower for word in (*PROTOCOL, *_lowered(words() | more))):
        return True
    return _SSE.search(lower) is not None or _CAMEL.search(text) is not None


@cache
def _lowered(some: frozenset[str]) -> tuple[str, ...]:
    return tuple(sorted(word.lower() for word in some))
