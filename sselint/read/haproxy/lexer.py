"""HAProxy text to lines of words with places: quotes, escapes, comments, variables, masked template values.

Follows the configuration manual, sections 2.2 (quoting and escaping) and 2.3 (environment variables). A line that ends
in a backslash is read on in the next one: HAProxy itself has no such continuation and refuses the file (measured in
tests/premises/test_haproxy_claims.py), but it is written, and what is meant is plain.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field

from sselint.facts import Span
from sselint.source import Source

_PLAIN_WORD = re.compile(r"\S+")
_SPECIAL = re.compile(r"[\"'\\$#]")
_VARIABLE = re.compile(r"\$(?:\{\.?\w+(?:\[\*\])?(?:-[^}]*)?\}|\.?\w+)")
_SPACES = " \t\r\v\f"
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t", " ": " ", "\\": "\\", "#": "#", '"': '"', "'": "'", "$": "$"}


@dataclass(frozen=True)
class Word:
    """One argument of a line. `known` is False where an environment variable or a template tag makes up any part of it:
    then `text` is what is written, and the value is unknown. `start` and `end` are offsets in the source's text."""

    text: str
    start: int
    end: int
    known: bool = True

    @property
    def value(self) -> str | None:
        """The text, or None where it is unknown."""
        return self.text if self.known else None


@dataclass(eq=False)
class Choice:
    """A condition that the text does not decide: a `.if` with its `branches`, or a condition of a template. `complete`
    means that one of the branches holds whatever happens."""

    branches: int = 1
    complete: bool = False


@dataclass(frozen=True, eq=False)
class Line:
    """A directive. `when` says which branches of which choices it stands in; `repeated` is True inside a template loop;
    `broken` is True where a quote is not closed."""

    source: Source
    words: tuple[Word, ...]
    when: tuple[tuple[Choice, int], ...] = field(default=(), repr=False)
    repeated: bool = False
    broken: bool = False

    @property
    def sure(self) -> bool:
        """Whether it stands whatever happens."""
        return not self.when

    @property
    def keyword(self) -> str:
        """The first word, empty where a template tag stands in its place."""
        return self.words[0].text if self.words[0].known else ""

    @property
    def arguments(self) -> tuple[Word, ...]:
        """The words after the first."""
        return self.words[1:]

    def argument(self, index: int) -> str:
        """The text of the argument at `index`, empty if there is none or it is unknown."""
        return self.words[index + 1].value or "" if index + 1 < len(self.words) else ""

    def starts(self, *words: str) -> bool:
        """Whether the line begins with these words."""
        return len(self.words) >= len(words) and all(
            have.known and have.text == wanted for have, wanted in zip(self.words, words, strict=False)
        )

    def after(self, keyword: str) -> Word | None:
        """The argument that follows the argument `keyword`, None if that is not there."""
        for here, following in zip(self.arguments, self.arguments[1:], strict=False):
            if here.known and here.text == keyword:
                return following
        return None

    def has(self, keyword: str) -> bool:
        """Whether `keyword` is among the arguments."""
        return any(word.known and word.text == keyword for word in self.arguments)

    def span(self, note: str = "") -> Span:
        """The place of the whole directive."""
        return self.source.span(self.words[0].start, self.words[-1].end, note)

    @property
    def place(self) -> tuple[str, int, int]:
        """Something that tells lines apart and orders those of one file."""
        return self.source.path, self.words[0].start, self.words[-1].end


def lines(source: Source, start: int = 0, end: int | None = None) -> Iterator[Line]:
    """The lines of `source.text[start:end]` that are not empty."""
    text = source.text
    stop = len(text) if end is None else end
    masks = _Masks(source)
    choices = [(begin, end, Choice()) for begin, end in source.optional]
    position = start
    while position < stop:
        newline = _line_end(text, position, stop, masks)
        words, broken = _words(text, position, newline, masks)
        if words:
            at = words[0].start
            when = tuple((choice, 0) for begin, end, choice in choices if begin <= at < end)
            yield Line(source, tuple(words), when, source.in_loop(at), broken)
        position = newline + 1


class _Masks:
    """The masked ranges of a source."""

    def __init__(self, source: Source) -> None:
        self._ranges = sorted(source.masked)
        self._ends = [end for _, end in self._ranges]

    def covering(self, offset: int) -> int | None:
        """The end of the range that covers `offset`, None if none does."""
        index = bisect_right(self._ends, offset)
        if index < len(self._ranges) and self._ranges[index][0] <= offset:
            return self._ends[index]
        return None

    def touch(self, start: int, end: int) -> bool:
        """Whether any range touches [start, end)."""
        index = bisect_right(self._ends, start)
        return index < len(self._ranges) and self._ranges[index][0] < end


def _line_end(text: str, start: int, stop: int, masks: _Masks) -> int:
    """The offset of the newline that ends the line (or `stop`): not one inside a template tag, not an escaped one."""
    position = start
    while True:
        newline = text.find("\n", position, stop)
        if newline < 0:
            return stop
        covered = masks.covering(newline)
        if covered is not None:
            position = min(covered, stop)
            continue
        before = text[start:newline].rstrip("\r")
        escaped = (len(before) - len(before.rstrip("\\"))) % 2 == 1
        if not escaped or _is_comment(before):
            return newline
        position = newline + 1


def _is_comment(line: str) -> bool:
    return line.lstrip().startswith("#")


def _words(text: str, start: int, end: int, masks: _Masks) -> tuple[list[Word], bool]:
    line = text[start:end]
    if not _SPECIAL.search(line) and not masks.touch(start, end):
        return [Word(m.group(), start + m.start(), start + m.end()) for m in _PLAIN_WORD.finditer(line)], False
    return _Scan(text, start, end, masks).run()


class _Scan:
    """The slow path: one line, a character at a time."""

    def __init__(self, text: str, start: int, end: int, masks: _Masks) -> None:
        self.text, self.position, self.end, self.masks = text, start, end, masks
        self.words: list[Word] = []
        self.parts: list[str] | None = None
        self.word_start = start
        self.known = True
        self.quote = ""

    def run(self) -> tuple[list[Word], bool]:
        while self.position < self.end:
            character = self.text[self.position]
            covered = self.masks.covering(self.position)
            if covered is not None:
                self._take(self.text[self.position : min(covered, self.end)], known=False)
            elif self.quote:
                self._in_quotes(character)
            elif character == "#":
                break
            elif character in _SPACES or character == "\n":
                self._close()
                self.position += 1
            elif character in "\"'":
                self._open_quote(character)
            elif character == "\\":
                self._escape()
            elif character == "$":
                self._variable()
            else:
                self._take(character)
        broken = bool(self.quote)
        self._close()
        return self.words, broken

    def _open(self) -> list[str]:
        if self.parts is None:
            self.parts, self.word_start, self.known = [], self.position, True
        return self.parts

    def _take(self, written: str, value: str | None = None, *, known: bool = True) -> None:
        self._open().append(written if value is None else value)
        self.known = self.known and known
        self.position += len(written)

    def _close(self) -> None:
        if self.parts is not None:
            self.words.append(Word("".join(self.parts), self.word_start, self.position, self.known))
            self.parts = None

    def _open_quote(self, character: str) -> None:
        self._open()
        self.quote = character
        self.position += 1

    def _in_quotes(self, character: str) -> None:
        if character == self.quote:
            self.quote = ""
            self.position += 1
        elif character == "\\" and self.quote == '"':
            self._escape()
        elif character == "$" and self.quote == '"':
            self._variable()
        else:
            self._take(character)

    def _escape(self) -> None:
        following = self.text[self.position + 1 : self.position + 2] if self.position + 1 < self.end else ""
        if following in ("\n", "\r"):
            self._close()
            self.position += 2
        elif following in _ESCAPES and not (following == "$" and not self.quote):
            self._take("\\" + following, _ESCAPES[following])
        else:
            self._take("\\")

    def _variable(self) -> None:
        found = _VARIABLE.match(self.text, self.position, self.end)
        if found and (self.quote or found.group().startswith("${")):
            self._take(found.group(), known=False)
        else:
            self._take("$")
