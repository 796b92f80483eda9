"""What a Python file is made of, measured on its bytes before libcst sees one of them.

libcst parses by native recursion: somewhere past 1,000 nested brackets the C stack overflows, and the process dies
where no `except` sees it. Nested `case` patterns cost it exponential time; wide and deep literals minutes. So one
linear pass, which knows strings (every prefix, f-strings inside f-strings) and comments, measures nesting, chains and
what parsing will cost. tests/read/python/test_scan.py proves the limits on the real libcst.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

MAX_BYTES = 2 * 1024 * 1024

DEPTH, CHAIN, PATTERN, COST = range(4)
"""The measures, in the order of `LIMITS` and `Measure`."""

LIMITS = (
    (200, "brackets nest deeper than 200"),
    (1_000, "a statement chains more than 1,000 operations"),
    (8, "a `case` pattern nests deeper than 8 brackets"),
    (10_000_000, "parsing would take longer than 10 s"),
)
"""In the order of the measures: a limit, and what exceeds it. libcst 1.9 dies between 1,000 and 1,500 brackets on a
stack of 8 MB; operations, attributes, calls, adjacent strings and `elif` each nest in the one before; a level of a
mapping pattern costs 4.5 times the one above it. A unit of cost is about a microsecond of libcst's time: 10 s are
1.2 MB of ordinary code or 300 kB of a table of numbers."""

_TOKEN_COST, _DEPTH_COST, _CHAIN_COST, _PATTERN_COST, _PATTERN_BASE = 20, 8, 0.5, 0.3, 4.5
"""Fitted to libcst 1.9: what a token costs, what it costs for each bracket and each link that it stands in, and what
the brackets of a pattern cost."""

_CODE = re.compile(
    rb"""(?P<quote>'''|\"\"\"|'|")
    |(?P<comment>\#[^\r\n]*)
    |(?P<open>[(\[{])
    |(?P<close>[)\]}])
    |(?P<newline>(?:\r\n?|\n)(?P<indent>[ \t\f]*)(?P<first>(?:elif|case)\b|(?=[\#\r\n]))?)
    |(?P<joined>\\(?:\r\n?|\n))
    |(?P<comma>,)
    |(?P<semicolon>;)
    |(?P<holder>\b(?:lambda|for)\b)
    |(?P<link>\b(?:if|else|not|and|or|is|await)\b
        |\*\*=?|//=?|>>=?|<<=?|!=|==|<=|>=|[-+*/%@&|^<>]=?|~|\.(?=[ \t]*[A-Za-z_\x80-\xff\\]))
    |(?P<in>\bin\b)
    |(?P<colon>:=?)
    |(?P<assign>=)""",
    re.VERBOSE,
)
"""What matters outside of strings. Names and numbers do not."""

_PREFIX = re.compile(rb"(?<![\w\x80-\xff])[rbuft]{1,2}\Z", re.IGNORECASE)

_PLAIN = {
    b"'": re.compile(rb"(?:[^'\\\r\n]+|\\(?:\r\n|.))*'?", re.DOTALL),
    b'"': re.compile(rb'(?:[^"\\\r\n]+|\\(?:\r\n|.))*"?', re.DOTALL),
    b"'''": re.compile(rb"(?:[^'\\]+|\\.|'(?!''))*(?:''')?", re.DOTALL),
    b'"""': re.compile(rb'(?:[^"\\]+|\\.|"(?!""))*(?:""")?', re.DOTALL),
}
"""The rest of a string after its quote. One that is never closed ends with its line, or with the file."""

_FORMATTED = {
    (quote, raw): re.compile(
        rb"(?P<escape>%s\\(?:\r\n|[^{}]))|(?P<quote>%s)|(?P<doubled>\{\{)|(?P<open>\{)|(?P<close>\})%s"
        % (b"" if raw else rb"\\N\{[^}\r\n]*\}|", quote, b"" if len(quote) == 3 else rb"|(?P<cut>[\r\n])"),
        re.DOTALL,
    )
    for quote in _PLAIN
    for raw in (False, True)
}
"""What matters inside the text of an f-string."""


@dataclass(frozen=True)
class Measure:
    """How deep brackets nest, how long the longest chain is, how deep `case` patterns nest, and what parsing costs."""

    depth: int
    chain: int
    pattern: int
    cost: int


def measure(data: bytes) -> Measure:
    """Measures a whole file, valid or not, in time linear in its size. Never raises."""
    scanner = _Scanner(data)
    scanner.run()
    return Measure(*map(int, scanner.peaks))


def refusal(data: bytes) -> str | None:
    """Why a file must not reach libcst, with the line, or None if it may."""
    if len(data) > MAX_BYTES:
        return f"{len(data):,} bytes, the limit is {MAX_BYTES:,}"
    scanner = _Scanner(data, limited=True)
    scanner.run()
    if scanner.over is None:
        return None
    line = data.count(b"\n", 0, scanner.position) + 1
    return f"line {line}: {LIMITS[scanner.over][1]}"


class _Text:
    """An f-string that is being read: what ends it, and how many levels were open where it began."""

    __slots__ = ("levels", "patterns")

    def __init__(self, quote: bytes, raw: bool, levels: int) -> None:
        self.patterns = _FORMATTED[quote, raw]
        self.levels = levels


class _Level:
    """An open bracket, a replacement field (then `text` is its f-string), or the statement itself.

    `base` is the chain around it and `chain` that of its current element. `held` counts the `lambda` and `for` whose
    `:` or `in` is still to come: until then a comma is part of them and separates nothing.
    """

    __slots__ = ("after_string", "base", "chain", "held", "text")

    def __init__(self, base: int, text: _Text | None = None) -> None:
        self.base = self.chain = base
        self.text = text
        self.held = 0
        self.after_string = False


class _Scanner:
    """One pass over a file. With `limited` it stops at the first limit that is exceeded, and says which in `over`."""

    def __init__(self, data: bytes, *, limited: bool = False) -> None:
        self.data = data
        self.position = 0
        self.peaks: list[float] = [0, 0, 0, 0]
        self.over: int | None = None
        self._limited = limited
        self._levels = [_Level(0)]
        self._text: _Text | None = None
        self._branches: list[tuple[int, int]] = []
        self._in_pattern = False

    def run(self) -> None:
        """Reads to the end, or to the first limit."""
        while self.over is None:
            patterns = _CODE if self._text is None else self._text.patterns
            found = patterns.search(self.data, self.position)
            if found is None:
                return
            self.position = found.end()
            if self._text is None:
                self._code(found)
            else:
                self._in_text(found, self._text)

    def _record(self, measure: int, value: float) -> None:
        if value > self.peaks[measure]:
            self.peaks[measure] = value
            if self._limited and value > LIMITS[measure][0]:
                self.over = measure

    # -- outside of strings

    def _code(self, found: re.Match[bytes]) -> None:
        kind, level = found.lastgroup, self._levels[-1]
        if kind == "quote":
            self._string(found, level)
        elif kind == "newline":
            if len(self._levels) == 1:
                self._line(found)
        elif kind != "comment" and kind != "joined":
            level.after_string = False
            self._charge(level)
            self._token(found, level)

    def _token(self, found: re.Match[bytes], level: _Level) -> None:
        kind = found.lastgroup
        if kind == "link":
            self._link(level)
            if len(self._levels) == 1 and found.group() == b"if":
                self._in_pattern = False
        elif kind == "open":
            self._open(None)
        elif kind == "close":
            self._close()
        elif kind == "comma":
            if not level.held:
                level.chain = level.base
        elif kind == "holder":
            self._link(level)
            level.held += 1
        elif kind == "in":
            self._link(level)
            level.held = max(0, level.held - 1)
        elif kind == "colon":
            self._colon(level)
        elif kind == "assign":
            level.chain = level.base if not level.held else level.chain
        elif len(self._levels) == 1:
            self._statement()

    def _charge(self, level: _Level) -> None:
        cost = _TOKEN_COST + _DEPTH_COST * (len(self._levels) - 1) + _CHAIN_COST * level.chain
        self._record(COST, self.peaks[COST] + cost)

    def _link(self, level: _Level) -> None:
        level.chain += 1
        self._record(CHAIN, level.chain)

    def _open(self, text: _Text | None) -> None:
        level = self._levels[-1]
        self._link(level)
        self._levels.append(_Level(level.chain, text))
        if text is not None:
            level.chain -= 1  # the fields of one f-string stand side by side
        depth = len(self._levels) - 1
        self._record(DEPTH, depth)
        if self._in_pattern:
            self._record(PATTERN, depth)
            self._record(COST, self.peaks[COST] + _PATTERN_COST * _PATTERN_BASE ** min(depth, LIMITS[PATTERN][0] + 1))

    def _close(self) -> None:
        if len(self._levels) > 1:
            self._text = self._levels.pop().text

    def _colon(self, level: _Level) -> None:
        if level.text is not None:
            self._text = level.text
        elif level.held:
            level.held -= 1
        else:
            level.chain = level.base
            if len(self._levels) == 1:
                self._in_pattern = False

    # -- statements

    def _line(self, newline: re.Match[bytes]) -> None:
        """A logical line begins. An `elif` nests in the branch before it, however long the bodies between them are."""
        self._statement()
        first, before = newline["first"], 0
        if first == b"":
            return
        indent = len(newline["indent"].expandtabs())
        while self._branches and self._branches[-1][0] >= indent:
            column, count = self._branches.pop()
            before = count if column == indent else 0
        if first == b"elif":
            self._branches.append((indent, before + 1))
            self._record(CHAIN, before + 1)
        self._in_pattern = first == b"case"

    def _statement(self) -> None:
        self._levels[0] = _Level(0)
        self._in_pattern = False

    # -- strings

    def _string(self, found: re.Match[bytes], level: _Level) -> None:
        quote = found.group()
        prefix = self._prefix(found.start())
        if level.after_string:
            self._link(level)
        level.after_string = True
        self._charge(level)
        if b"f" in prefix or b"t" in prefix:
            self._text = _Text(quote, b"r" in prefix, len(self._levels))
            return
        rest = _PLAIN[quote].match(self.data, self.position)
        self.position = rest.end() if rest else len(self.data)

    def _prefix(self, quote: int) -> bytes:
        """The letters before a quote, in lower case; none if they end a word, as in `x if"a"else y`."""
        found = _PREFIX.search(self.data[max(quote - 3, 0) : quote])
        return found.group().lower() if found else b""

    def _in_text(self, found: re.Match[bytes], text: _Text) -> None:
        kind = found.lastgroup
        specification = len(self._levels) > text.levels
        if kind == "quote" or kind == "cut":
            del self._levels[text.levels :]
            self._text = None
            self.position -= kind == "cut"
        elif kind == "open" or (kind == "doubled" and specification):
            self.position = found.start() + 1
            self._text = None
            self._open(text)
        elif kind == "close" and specification:
            self._close()
