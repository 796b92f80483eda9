"""A code frame: the lines around a span, with the span marked. The only place where a report reads the tree."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from textwrap import wrap

from sselint.facts import Span
from sselint.report.layout import Page, cells, printable

AROUND = 1
LARGEST = 4_000_000
SHORTEST_QUOTATION, LONGEST_QUOTATION = 4, 40

Load = Callable[[str], str | None]


def loader(root: Path) -> Load:
    """Reads a file below `root` for a frame; None where there is no such text (facts of another repository)."""

    @cache
    def load(path: str) -> str | None:
        file = root / path
        try:
            if file.stat().st_size > LARGEST or not file.resolve().is_relative_to(root.resolve()):
                return None
            return file.read_text(encoding="utf-8-sig", errors="replace")
        except (OSError, ValueError):
            return None

    return load


def quoted(span: Span, load: Load) -> str:
    """The code at a span of one line, cropped; the whole line where the span alone says little; "" if there is none."""
    text = load(span.path)
    lines = text.splitlines() if text is not None else []
    if span.line != span.end_line or not 1 <= span.line <= len(lines):
        return ""
    line = lines[span.line - 1]
    code = _one_line(line[span.column - 1 : span.end_column - 1])
    if cells(code) < SHORTEST_QUOTATION:
        code = _one_line(line)
    return "" if "`" in code else _cropped(code, 0, LONGEST_QUOTATION)


def _one_line(code: str) -> str:
    return " ".join(printable(code).split())


def write_frame(page: Page, span: Span, load: Load, indent: int, style: str) -> None:
    """Writes `path:line:column` and the lines around the span, the span underlined and its note beside it."""
    page.line((f"{span.path}:{span.line}:{span.column}", "place"), indent=indent)
    text = load(span.path)
    lines = text.splitlines() if text is not None else []
    if not 1 <= span.line <= len(lines):
        if span.note:
            page.paragraph(span.note, indent=indent + 2)
        return
    first, last = max(1, span.line - AROUND), min(len(lines), span.line + AROUND)
    shown = [n for n in range(first, last + 1) if n == span.line or lines[n - 1].strip()]
    gutter = len(str(last))
    room = max(20, page.width - indent - gutter - 3)
    shift = _shift(lines[span.line - 1], span, room)
    for number in shown:
        body = _cropped(printable(lines[number - 1]), shift, room)
        page.line((f"{number:>{gutter}} | ", "gutter"), (body, "" if number == span.line else "dim"), indent=indent)
        if number == span.line:
            _mark(page, lines[number - 1], span, shift, room, indent, gutter, style)


def _shift(line: str, span: Span, room: int) -> int:
    """How many characters are left out on the left so that the span is in sight."""
    start = len(printable(line[: span.column - 1]))
    return 0 if start < room * 2 // 3 else start - room // 3


def _cropped(text: str, shift: int, room: int) -> str:
    text = text[shift:] if shift else text
    if cells(text) <= room:
        return text.rstrip()
    while text and cells(text) > room - 3:
        text = text[:-1]
    return text + "..."


def _mark(page: Page, line: str, span: Span, shift: int, room: int, indent: int, gutter: int, style: str) -> None:
    before = printable(line[: span.column - 1])[shift:]
    end = span.end_column - 1 if span.end_line == span.line else len(line.rstrip())
    marked = printable(line[: span.column - 1] + line[span.column - 1 : end])[shift + len(before) :]
    length = max(1, min(cells(marked), room - cells(before)))
    bar = " " * (indent + gutter) + " | "
    start = page.style(" " * gutter + " | ", "gutter")
    carets = " " * cells(before) + page.style("^" * length, style)
    note_room = page.width - len(bar) - cells(before) - length - 1
    note = printable(span.note)
    if cells(note) <= note_room:
        page.lines.append((" " * indent + start + carets + (f" {page.style(note, style)}" if note else "")).rstrip())
        return
    page.lines.append(" " * indent + start + carets)
    pad = min(cells(before), 12)
    for piece in wrap(note, max(20, page.width - len(bar) - pad), break_long_words=False, break_on_hyphens=False):
        page.lines.append(" " * indent + start + " " * pad + page.style(piece, style))
