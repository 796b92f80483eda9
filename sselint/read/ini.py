"""Sections of `[name]` with `key = value` lines, with places: supervisord.conf and systemd units."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from sselint.facts import Span
from sselint.read import masked
from sselint.source import Source

_SECTION = re.compile(r"\[([^\]]+)\]\s*([;#].*)?")
_PAIR = re.compile(r"([A-Za-z][\w.-]*)\s*[=:]\s*(.*)", re.DOTALL)


@dataclass
class Section:
    """A section: `values` in order, a key may come several times."""

    name: str
    span: Span
    values: list[tuple[str, str, Span]] = field(default_factory=list)

    def get(self, key: str) -> str | None:
        """The last value of a key, None without one."""
        return next((v for k, v, _ in reversed(self.values) if k == key), None)

    def all(self, key: str) -> list[str]:
        """Every value of a key."""
        return [v for k, v, _ in self.values if k == key]

    def span_of(self, key: str) -> Span:
        """The place of a key, or of the section."""
        return next((s for k, _, s in reversed(self.values) if k == key), self.span)


def sections(source: Source, continuation: str) -> Iterator[Section]:
    """The sections of a text. `continuation` is "indent" (supervisord) or "backslash" (systemd)."""
    section: Section | None = None
    joining = False
    shown = masked.lines(source)
    for number, line in enumerate(source.text.split("\n")):
        text = shown[number].strip()
        start = source.line_starts[number]
        span = source.span(start + len(line) - len(line.lstrip()), start + len(line.rstrip()))
        if section is not None and section.values and _continues(line, joining, continuation):
            key, value, place = section.values[-1]
            section.values[-1] = (key, f"{value.removesuffix(chr(92)).rstrip()} {text}", place)
        elif not text or text[0] in "#;":
            joining = joining and bool(text)
            continue
        elif match := _SECTION.fullmatch(text):
            if section is not None:
                yield section
            name = _SECTION.fullmatch(masked.written(source, number).strip()) or match
            section = Section(name.group(1).strip(), span)
        elif section is not None and (pair := _PAIR.fullmatch(text)):
            section.values.append((pair.group(1), pair.group(2), span))
        joining = text.endswith("\\")
    if section is not None:
        yield section


def _continues(line: str, joining: bool, continuation: str) -> bool:
    if continuation == "backslash":
        return joining
    return bool(line.strip()) and line[0] in " \t" and line.strip()[0] not in ";#"
