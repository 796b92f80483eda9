"""What the first rooms hand on: the tree under the root, and the sources in it that matter.

A `Source` is text with a kind and a map back to the file it came from: text that `unwrap` lifted out of a ConfigMap or
a values file, or whose template tags it masked, still reports true lines and columns.
"""

from __future__ import annotations

import codecs
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate

from sselint.facts import Span


@dataclass(frozen=True)
class Source:
    """A piece of text that one reader can read.

    `path` is POSIX and relative to the root; `kind` names the reader ("python", "haproxy", "nginx", "envoy",
    "kubernetes", "compose" ...). `unit` is the folder of the nearest unit. `origin` maps line i of `text` (from 0) to
    (line, column offset) of the file, both from 0; None is the identity. `masked` are (start, end) offsets in `text`
    where a template tag stood: a value that touches one is unknown. `wrapped_in` says what it was lifted out of
    ("ConfigMap edge, key nginx.conf").
    """

    path: str
    text: str
    kind: str
    unit: str = "."
    origin: tuple[tuple[int, int], ...] | None = None
    masked: tuple[tuple[int, int], ...] = ()
    loops: tuple[tuple[int, int], ...] = ()
    """(start, end) offsets of text inside a template loop: what stands there is "one or more"."""
    wrapped_in: str = ""
    optional: tuple[tuple[int, int], ...] = ()
    """(start, end) offsets of text inside a template condition: nobody knows whether it stands."""
    original: str = field(default="", repr=False)
    """The text before template tags were masked, as long as `text`; empty where nothing was masked."""

    @cached_property
    def line_starts(self) -> tuple[int, ...]:
        """Offsets in `text` where lines begin."""
        return tuple(accumulate((len(line) + 1 for line in self.text.split("\n")[:-1]), initial=0))

    def place(self, offset: int) -> tuple[int, int]:
        """Line and column (from 1) in the file of an offset in `text`."""
        line = bisect_right(self.line_starts, offset) - 1
        return self.at(line, offset - self.line_starts[line])

    def at(self, line: int, column: int) -> tuple[int, int]:
        """Line and column (from 1) in the file of a line and column (from 0) of `text`."""
        if self.origin is None or not self.origin:
            return line + 1, column + 1
        origin_line, shift = self.origin[min(line, len(self.origin) - 1)]
        return origin_line + 1, column + shift + 1

    def span(self, start: int, end: int, note: str = "") -> Span:
        """The span in the file of the offsets [start, end) of `text`."""
        return Span(self.path, *self.place(start), *self.place(max(start, end)), note)

    def is_masked(self, start: int, end: int) -> bool:
        """Whether a template tag stood anywhere in [start, end)."""
        return any(a < end and start < b for a, b in self.masked)

    def is_optional(self, offset: int) -> bool:
        """Whether the offset is inside a template condition."""
        return any(a <= offset < b for a, b in self.optional)

    def in_loop(self, offset: int) -> bool:
        """Whether the offset is inside a template loop."""
        return any(a <= offset < b for a, b in self.loops)


def decode(data: bytes) -> str:
    """The bytes of a file as text: UTF-8, or UTF-16 behind its mark, as YAML and JSON may be written (by PowerShell's
    `>`, for one). What cannot be decoded is replaced."""
    encoding = "utf-16" if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) else "utf-8-sig"
    return data.decode(encoding, errors="replace")


@dataclass(frozen=True)
class Tree:
    """The files under the root that may be read, and how to read one. Nothing outside the root is ever opened.

    `files` are POSIX paths relative to the root, sorted. `load(path)` gives the bytes, or raises OSError.
    """

    root: str
    files: tuple[str, ...]
    load: Callable[[str], bytes] = field(compare=False)

    def text(self, path: str) -> str:
        """The text of a file, undecodable bytes replaced. Raises OSError."""
        return decode(self.load(path))

    @cached_property
    def known(self) -> frozenset[str]:
        """The paths as a set."""
        return frozenset(self.files)
