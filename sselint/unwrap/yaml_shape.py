"""Template tags on lines of their own in YAML: they print a mapping's fields or a sequence's items, and the text around
them must stay YAML. The filler takes the shape that its neighbours have: `____: _`, `- ____` or `____`."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from sselint.unwrap.tags import Tag

_INDENT = re.compile(r"\bn?indent\s*\(?\s*(?:width\s*=\s*)?(\d+)")
_BLOCK_SCALAR = re.compile(
    r"^([ \t]*)((?:-[ \t]+)*)"
    r"(?:([^\s#'\"{\[-][^#\n]*?|\"[^\"\n]*\"|'[^'\n]*'|-[^\s#][^#\n]*?)[ \t]*:[ \t]+)?"
    r"(?:[!&]\S+[ \t]+)*([|>])([-+]?)(\d?)([-+]?)[ \t]*(?:#.*)?\r?$"
)
_WAITING = re.compile(r"(?:^-|:)(?:[ \t]+[&!]\S+)*(?:[ \t]+#.*)?$")
_DASHES = re.compile(r"(?:- +)+(?=\S)")


@dataclass(frozen=True)
class BlockScalar:
    """A block scalar of YAML: its key ("" in a sequence), the number of its header line, and its lines [first, last).
    `indent` is how far they are indented. `literal` is False for folded text."""

    key: str
    header: int
    first: int
    last: int
    indent: int
    literal: bool


def block_scalars(lines: Sequence[str]) -> Iterator[BlockScalar]:
    """The outermost block scalars of a YAML text. Found by indentation, so that templates do not hide them."""
    number = 0
    while number < len(lines):
        line = lines[number]
        match = _BLOCK_SCALAR.match(line) if "|" in line or ">" in line else None
        scalar = _scalar(lines, number, match) if match and (match[2] or match[3]) else None
        if scalar is not None:
            yield scalar
        number = scalar.last if scalar else number + 1


def _scalar(lines: Sequence[str], header: int, match: re.Match[str]) -> BlockScalar | None:
    """The lines under a header that are deeper than the node that the scalar belongs to."""
    parent = len(match[1]) + (len(match[2]) if match[3] else max(match[2].rfind("-"), 0))
    last = indent = 0
    for number in range(header + 1, len(lines)):
        line = lines[number]
        if not line.strip():
            continue
        own = len(line) - len(line.lstrip(" "))
        if own <= parent:
            break
        indent = indent or own
        last = number + 1
    if not last:
        return None
    indent = parent + int(match[6]) if match[6] else indent
    return BlockScalar((match[3] or "").strip("\"' "), header, header + 1, last, indent, match[4] == "|")


def shaped(text: str, lone: Sequence[Tag]) -> tuple[str, tuple[tuple[int, int], ...]]:
    """The masked text with lone tags in the shape of their surroundings, and the ranges that were written to."""
    lines = text.split("\n")
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    places = [(tag, bisect_right(starts, tag.start) - 1, bisect_right(starts, tag.end - 1) - 1) for tag in lone]
    # Neighbours are the lines that are written, not other tags: so all are blank before the first is filled.
    for _, first, last in places:
        for number in range(first, last + 1):
            lines[number] = _blank(lines[number])
    inside = {n for s in block_scalars(lines) for n in range(s.first, s.last)}
    written: list[tuple[int, int]] = []
    fillers = []
    for tag, first, _ in places:
        if first in inside:
            continue
        column = _column(tag, tag.start - starts[first])
        room = min(tag.end - starts[first], len(lines[first].rstrip("\r"))) - column
        word = text[tag.start : tag.end][: max(room, 0)]
        fillers.append((first, column, _filler(lines, first, column, word)))
    for number, column, filler in fillers:
        line = lines[number]
        lines[number] = line[:column] + filler + line[column + len(filler) :]
        written.append((starts[number] + column, starts[number] + column + len(filler)))
    return "\n".join(lines), tuple(w for w in written if w[0] < w[1])


def _blank(line: str) -> str:
    return " " * (len(line) - 1) + "\r" if line.endswith("\r") else " " * len(line)


def _column(tag: Tag, own: int) -> int:
    """Where the text that the tag prints begins: the width of `indent`, else the tag's own column."""
    widths = _INDENT.findall(tag.content)
    return int(widths[-1]) if widths else own


def _filler(lines: Sequence[str], number: int, column: int, word: str) -> str:
    """What stands for the tag, made of the word that it was masked with: empty where there is no room, or no place."""
    above = _neighbour(lines, range(number - 1, -1, -1), column)
    below = _neighbour(lines, range(number + 1, len(lines)), column)
    for near in (below, above):
        if near is not None and near[0] == column:
            return _item(word) if _is_item(near[1]) else _pair(word)
    if above is None:
        return "" if below is not None else word
    if _WAITING.search(above[1]):
        return word
    inner = _DASHES.match(above[1])
    return _pair(word) if inner and above[0] + len(inner[0]) == column else ""


def _neighbour(lines: Sequence[str], numbers: Iterable[int], column: int) -> tuple[int, str] | None:
    """(indentation, text) of the nearest line of the document that is not deeper than the column."""
    for number in numbers:
        text = lines[number].strip()
        if not text or text.startswith("#"):
            continue
        if text.startswith("---"):
            return None
        own = len(lines[number]) - len(lines[number].lstrip())
        if own <= column:
            return own, text
    return None


def _is_item(text: str) -> bool:
    return text.startswith("- ") or text == "-"


def _item(word: str) -> str:
    return f"- {word[:-2]}" if len(word) > 2 else ""


def _pair(word: str) -> str:
    return f"{word[:-3]}: _" if len(word) > 3 else ""
