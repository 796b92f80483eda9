"""Lines of text at a width, with or without colour. Everything from the audited tree passes `printable` first."""

from __future__ import annotations

import textwrap
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, field

STYLES = {
    "error": "1;31",
    "warning": "1;33",
    "note": "1;36",
    "ok": "1;32",
    "bold": "1",
    "dim": "2",
    "place": "36",
    "gutter": "2;34",
    "caret": "1;31",
}


LONGEST_HANG, NARROWEST_TEXT = 20, 20
"""Cells: what may stand before a text that others hang below it, and what a text needs at least."""


def printable(text: str) -> str:
    """The text without what would move a terminal's cursor or change its colour: control characters become `?`."""
    expanded = text.expandtabs(4)
    return "".join("?" if unicodedata.category(c) in ("Cc", "Cf", "Cs", "Co", "Zl", "Zp") else c for c in expanded)


def cells(text: str) -> int:
    """How many cells of a terminal a text takes."""
    wide = sum(unicodedata.east_asian_width(c) in "WF" for c in text)
    combining = sum(unicodedata.combining(c) != 0 for c in text)
    return len(text) + wide - combining


@dataclass
class Page:
    """Lines that are being written, at most `width` cells wide where words allow it."""

    width: int = 80
    colour: bool = False
    lines: list[str] = field(default_factory=list)

    def style(self, text: str, name: str) -> str:
        """The text in a style of STYLES; as it is where there is no colour."""
        return f"\x1b[{STYLES[name]}m{text}\x1b[0m" if self.colour and name and text else text

    def blank(self) -> None:
        """An empty line, never two in a row and never the first."""
        if self.lines and self.lines[-1]:
            self.lines.append("")

    def line(self, *pieces: tuple[str, str] | str, indent: int = 0) -> None:
        """One line of pieces, each a text or (text, style), that is not wrapped."""
        self.lines.append((" " * indent + self._styled(pieces)).rstrip())

    def paragraph(self, text: str, indent: int = 0, first: str = "", first_style: str = "", style: str = "") -> None:
        """Wrapped text; `first` stands before it on the first line, and the other lines hang below the text.

        Where `first` is long (a path), they hang by two cells, and where it leaves no room, the text begins below it.
        """
        first = printable(first)
        before = indent + cells(first)
        hang = before if cells(first) <= LONGEST_HANG else indent + 2
        text = printable(" ".join(text.split()))
        if first and self.width - before < NARROWEST_TEXT and text:
            self.lines.append(" " * indent + self.style(first.rstrip(), first_style))
            self.paragraph(text, indent + 2, style=style)
            return
        wrapped = textwrap.wrap(
            text,
            width=max(self.width, before + NARROWEST_TEXT),
            initial_indent=" " * before,
            subsequent_indent=" " * hang,
            break_long_words=False,
            break_on_hyphens=False,
        )
        head, *rest = wrapped or [""]
        head = head[before:]
        first = first if head else first.rstrip()
        self.lines.append((" " * indent + self.style(first, first_style) + self.style(head, style)).rstrip())
        self.lines += [" " * hang + self.style(line[hang:], style) for line in rest]

    def text(self) -> str:
        """All lines, the last one ended."""
        return "\n".join(self.lines).rstrip("\n") + "\n"

    def _styled(self, pieces: Iterable[tuple[str, str] | str]) -> str:
        pairs = ((piece, "") if isinstance(piece, str) else piece for piece in pieces)
        return "".join(self.style(printable(text), style) for text, style in pairs)
