"""Texts whose template tags are masked: same length, same lines, and everything a tag touches marked as unknown."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

from sselint.unwrap.tags import Block, Role, Tag, blocks, has_tags, tags

FILLER = "_"
"""Stands where a tag prints something: a word in every language that is read."""

Ranges = tuple[tuple[int, int], ...]

_VISIBLE = re.compile(r"[^\s]")
_ENVSUBST = re.compile(r"\$\{[A-Za-z_]\w*(?::?[-=?+][^{}\n]*)?\}")
_UPPER_CASE = re.compile(r"\$(?:\{[A-Z][A-Z0-9_]*(?::?[-=?+][^{}\n]*)?\}|[A-Z][A-Z0-9_]+\b)")
_NGINX_OWN = re.compile(
    r"^[ \t]*(?:set[ \t]+|(?:map|geo|split_clients)[ \t]+[^{;\n]*)\$\{?([A-Z][A-Z0-9_]*)", re.MULTILINE
)


@dataclass(frozen=True)
class Masked:
    """A text of the same length as the original. `tags` are those that were found, `lone` the ones that print and stand
    on lines of their own."""

    text: str
    masked: Ranges = ()
    loops: Ranges = ()
    optional: Ranges = ()
    tags: tuple[Tag, ...] = ()
    lone: tuple[Tag, ...] = ()
    alternatives: Ranges = ()
    """Optional text of which another branch says something else."""
    definitions: Ranges = ()
    """Macros and named templates, tags included."""

    @property
    def blank(self) -> str:
        """The text with its lone tags as blanks: what stands at the margin there does not end a block of YAML."""
        parts = list(self.text) if self.lone else []
        for tag in self.lone:
            _fill(parts, tag.start, tag.end, " ")
        return "".join(parts) or self.text


def mask(text: str) -> Masked:
    """The text with its template tags masked. A text without tags is returned as it is."""
    found = tags(text) if has_tags(text) else ()
    if not found:
        return Masked(text)
    parts = list(text)
    masked: list[tuple[int, int]] = []
    loops: list[tuple[int, int]] = []
    optional: list[tuple[int, int]] = []
    alternatives: list[tuple[int, int]] = []
    definitions: list[tuple[int, int]] = []
    for tag in found:
        prints = tag.role is Role.OUTPUT
        _fill(parts, tag.start, tag.end, FILLER if prints else " ")
        if prints:
            masked.append((tag.start, tag.end))
    for block in blocks(found, len(text)):
        if block.role in (Role.LOOP, Role.DEFINITION):
            loops.append((block.start, block.end))
        if block.role is Role.DEFINITION:
            definitions.append(block.construct)
        if block.role in (Role.CONDITION, Role.DEFINITION):
            optional.append((block.start, block.end))
            if block.branches > 1:
                alternatives.append((block.start, block.end))
        if _is_part_of_a_value(text, block, found):
            for tag in _within(found, *block.construct):
                _fill(parts, tag.start, tag.end, FILLER)
            masked.append(block.construct)
    lone = tuple(t for t in found if t.role is Role.OUTPUT and _is_alone(parts, t))
    return Masked(
        text="".join(parts),
        masked=_united(masked),
        loops=tuple(sorted(loops)),
        optional=tuple(sorted(optional)),
        tags=found,
        lone=lone,
        alternatives=tuple(alternatives),
        definitions=tuple(sorted(definitions)),
    )


def envsubst(text: str, kind: str) -> Ranges:
    """Where `envsubst` puts values into a text of a kind.

    nginx has variables of its own, which are not upper case unless the text itself makes them; shells and compose files
    expand `${...}` themselves, and their readers know.
    """
    if kind == "envoy":
        return tuple(m.span() for m in _ENVSUBST.finditer(text))
    if kind != "nginx" or "$" not in text:
        return ()
    own = set(_NGINX_OWN.findall(text))
    return tuple(m.span() for m in _UPPER_CASE.finditer(text) if m[0].strip("${}") not in own)


def filled(text: str, ranges: Ranges) -> str:
    """The text with these ranges filled as if a tag printed there."""
    parts = list(text)
    for start, end in ranges:
        _fill(parts, start, end, FILLER)
    return "".join(parts)


def _fill(parts: list[str], start: int, end: int, filler: str) -> None:
    for position in range(start, end):
        if parts[position] not in "\r\n":
            parts[position] = filler


def _within(found: Sequence[Tag], start: int, end: int) -> Sequence[Tag]:
    """The tags that begin in [start, end)."""
    first = bisect_left(found, start, key=_start)
    return found[first : bisect_left(found, end, first, key=_start)]


def _start(tag: Tag) -> int:
    return tag.start


def _is_part_of_a_value(text: str, block: Block, found: Sequence[Tag]) -> bool:
    """Whether a condition stands in one line, with something in front of it: `replicas: {% if ha %}3{% endif %}`."""
    start, end = block.construct
    if block.role is not Role.CONDITION or "\n" in text[start:end]:
        return False
    position = text.rfind("\n", 0, start) + 1
    for tag in _within(found, position, start):
        if tag.role is Role.OUTPUT or text[position : tag.start].strip():
            return True
        position = tag.end
    return _VISIBLE.search(text, position, start) is not None


def _is_alone(parts: Sequence[str], tag: Tag) -> bool:
    before, after = tag.start - 1, tag.end
    while before >= 0 and parts[before] in " \t":
        before -= 1
    while after < len(parts) and parts[after] in " \t\r":
        after += 1
    return (before < 0 or parts[before] == "\n") and (after == len(parts) or parts[after] == "\n")


def _united(ranges: Sequence[tuple[int, int]]) -> Ranges:
    result: list[tuple[int, int]] = []
    for start, end in sorted(ranges):
        if result and start < result[-1][1]:
            result[-1] = (result[-1][0], max(end, result[-1][1]))
        else:
            result.append((start, end))
    return tuple(result)
