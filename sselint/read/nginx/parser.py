"""nginx configuration text -> directives with their places.

The rules are those of nginx's own reader (ngx_conf_read_token): a word ends at a blank, `;` or `{`, a quote counts only
at the start of a word, `#` only between words, `${` belongs to the word, `}` closes a block only between words.
`*_by_lua_block { ... }` holds Lua up to the brace that closes it, whatever stands in Lua's strings and comments.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

from sselint.facts import Span
from sselint.source import Source

DEPTH_BUDGET = 100
"""Blocks within blocks. Real files stay under ten."""

DIRECTIVE_BUDGET = 200_000
"""Directives of one text. The largest generated configurations have some ten thousand."""

_BLANK = re.compile(r"(?:[ \t\r\n]+|#[^\n]*)+")
_PLAIN = re.compile(r"(?:\\[\s\S]|\$\{|[^ \t\r\n;{\\]|\\\Z)+")
_QUOTED = {
    '"': re.compile(r'"((?:\\[\s\S]|[^"\\])*)"'),
    "'": re.compile(r"'((?:\\[\s\S]|[^'\\])*)'"),
}
_ESCAPE = re.compile(r"""\\(["'\\trn])""")
_ESCAPED = {"t": "\t", "r": "\r", "n": "\n"}
_LUA = re.compile(
    r"""--\[(?P<comment>=*)\[|--[^\n]*|\[(?P<string>=*)\[|"(?:\\[\s\S]|[^"\\\n])*"?|'(?:\\[\s\S]|[^'\\\n])*'?|[{}]"""
)


@dataclass(frozen=True)
class Word:
    """A word of a directive: `text` without quotes and escapes, `start` and `end` as it stands in the source."""

    text: str
    start: int
    end: int
    quoted: bool = False


@dataclass(frozen=True)
class Directive:
    """A directive. `end` is one past its `;` or `{`. `block` is None for a directive without one; `body` is the text of
    a Lua block, which has no directives in it. `via` is the chain of include directives that led here."""

    source: Source
    words: tuple[Word, ...]
    end: int
    block: tuple[Directive, ...] | None = None
    body: str | None = None
    via: tuple[Directive, ...] = field(default=(), compare=False)

    def __hash__(self) -> int:
        """By place: hashing all that stands in a block, again and again, would cost more than reading it."""
        return hash((self.source.path, self.words[0].start, self.end))

    @property
    def name(self) -> str:
        """The directive's name as written."""
        return self.words[0].text

    @property
    def args(self) -> tuple[str, ...]:
        """The arguments, unquoted."""
        return tuple(word.text for word in self.words[1:])

    @property
    def start(self) -> int:
        """The offset of the name."""
        return self.words[0].start

    @property
    def is_masked(self) -> bool:
        """Whether a template tag stood in the head of the directive: what it says is unknown."""
        return self.source.is_masked(self.start, self.end)

    @property
    def in_loop(self) -> bool:
        """Whether a template repeats it: then it stands for one or more."""
        return self.source.in_loop(self.start)

    def word_masked(self, word: Word) -> bool:
        """Whether a template tag stood in this word."""
        return self.source.is_masked(word.start, word.end)

    def written(self, word: Word) -> str:
        """The word as it stands in the file, template tags included, quotes and escapes not."""
        if not self.word_masked(word):
            return word.text
        return (self.source.original or self.source.text)[word.start : word.end].strip("\"'")

    def span(self, note: str = "") -> Span:
        """The head of the directive, at most to the end of its first line: one line of the file."""
        line_end = self.source.text.find("\n", self.start)
        end = self.end if line_end < 0 else min(self.end, line_end)
        return self.source.span(self.start, end, note)


@dataclass(frozen=True)
class Problem:
    """Something nginx would refuse, or that is over budget. What stands before it has been read."""

    why: str
    span: Span


@dataclass(frozen=True)
class Parsed:
    """The directives of a text, and what was wrong with it."""

    directives: tuple[Directive, ...]
    problems: tuple[Problem, ...] = ()


def parse(source: Source, start: int = 0, end: int | None = None) -> Parsed:
    """The directives of `source.text[start:end]`. Never raises: problems are in the result."""
    return _Parser(source, start, len(source.text) if end is None else end).run()


def unescape(text: str) -> str:
    """A word's text as nginx keeps it: the escapes of quotes, backslash, tab, CR and LF resolved, others left alone."""
    if "\\" not in text:
        return text
    return _ESCAPE.sub(lambda match: _ESCAPED.get(match[1], match[1]), text)


def lua_block_end(text: str, start: int, end: int) -> int | None:
    """The offset of the `}` that closes a Lua block whose body begins at `start`, or None if nothing closes it."""
    depth, position = 0, start
    while match := _LUA.search(text, position, end):
        position = match.end()
        if match.lastgroup is not None:
            closing = f"]{match[match.lastgroup]}]"
            position = text.find(closing, position, end) + len(closing)
            if position < len(closing):
                return None
        elif match[0] == "{":
            depth += 1
        elif match[0] == "}":
            if depth == 0:
                return match.start()
            depth -= 1
    return None


def lua_code(body: str) -> str:
    """A Lua text without its comments."""
    kept, position = [], 0
    while match := _LUA.search(body, position):
        comment = match[0].startswith("--")
        kept.append(body[position : match.start() if comment else match.end()])
        position = match.end()
        if match.lastgroup is not None:
            closing = f"]{match[match.lastgroup]}]"
            end = body.find(closing, position)
            end = len(body) if end < 0 else end + len(closing)
            kept.append("" if comment else body[position:end])
            position = end
    return "".join(kept) + body[position:]


class _Parser:
    """One pass over a text with an explicit stack of open blocks: nesting never becomes recursion."""

    def __init__(self, source: Source, start: int, end: int) -> None:
        self.source = source
        self.text = source.text
        self.position = start
        self.end = end
        self.words: list[Word] = []
        self.open: list[Directive] = []
        self.blocks: list[list[Directive]] = [[]]
        self.problems: list[Problem] = []
        self.count = 0
        self.ended_by_tag = False
        """A template tag stands where the last directive seems to end: its real end may follow."""

    def run(self) -> Parsed:
        while self._skip_blank() and self._step():
            pass
        if self.words:
            self._problem('the file ends in the middle of a directive: ";" or "}" is missing', self.words[0].start)
        if self.open:
            self._problem(f'the block "{self.open[-1].name}" is never closed', self.open[-1].start)
        while self.open:
            self._close()
        return Parsed(tuple(self.blocks[0]), tuple(self.problems))

    def _skip_blank(self) -> bool:
        if match := _BLANK.match(self.text, self.position, self.end):
            self.position = match.end()
        return self.position < self.end

    def _step(self) -> bool:
        """Take one token; False where reading cannot go on."""
        char = self.text[self.position]
        if char == ";":
            self.position += 1
            return self._finish_directive()
        if char == "{":
            self.position += 1
            return self._open_block()
        if char == "}" and not self.words:
            self.position += 1
            return self._close_block()
        return self._word(char)

    def _word(self, char: str) -> bool:
        quoted = char in _QUOTED
        match = (_QUOTED[char] if quoted else _PLAIN).match(self.text, self.position, self.end)
        if match is None:
            self._problem("a quote is opened and never closed", self.position)
            self.position = self.end
            return False
        if quoted:
            self.words.append(Word(unescape(match[1]), match.start(), match.end(), True))
        else:
            self.words.append(Word(unescape(match[0]), match.start(), match.end()))
        self.position = match.end()
        return True

    def _take_words(self) -> tuple[Word, ...]:
        """The words so far, without template tags that stand on lines of their own before the directive."""
        words, self.words = self.words, []
        while len(words) > 1 and self._is_lone_tag(words[0], words[1]):
            words.pop(0)
        return tuple(words)

    def _is_lone_tag(self, word: Word, following: Word) -> bool:
        masked = self.source.is_masked(word.start, word.start + 1) and self.source.is_masked(word.end - 1, word.end)
        return masked and "\n" in self.text[word.end : following.start]

    def _finish_directive(self) -> bool:
        words = self._take_words()
        written = self.source.is_masked(self.position - 1, self.position)
        if not words:
            if not self.ended_by_tag:
                self._problem('unexpected ";"', self.position - 1)
            self.ended_by_tag = written
            return True
        self.ended_by_tag = written
        return self._add(Directive(self.source, words, self.position))

    def _open_block(self) -> bool:
        words = self._take_words()
        if not words:
            self._problem('unexpected "{"', self.position - 1)
            words = (Word("", self.position - 1, self.position - 1),)
        directive = Directive(self.source, words, self.position)
        if directive.name.endswith("_by_lua_block"):
            return self._lua(directive)
        if len(self.open) >= DEPTH_BUDGET:
            self._problem(f"blocks are nested deeper than {DEPTH_BUDGET}: not read further", directive.start)
            return False
        self.open.append(directive)
        self.blocks.append([])
        return True

    def _lua(self, directive: Directive) -> bool:
        close = lua_block_end(self.text, self.position, self.end)
        if close is None:
            self._problem(f'the Lua of "{directive.name}" is never closed', directive.start)
            close = self.end
        body = self.text[self.position : close]
        self.position = min(close + 1, self.end)
        return self._add(replace(directive, body=body))

    def _close_block(self) -> bool:
        if self.open:
            return self._close()
        self._problem('unexpected "}"', self.position - 1)
        return True

    def _close(self) -> bool:
        block = tuple(self.blocks.pop())
        return self._add(replace(self.open.pop(), block=block))

    def _add(self, directive: Directive) -> bool:
        self.blocks[-1].append(directive)
        self.count += 1
        if self.count == DIRECTIVE_BUDGET:
            self._problem(f"more than {DIRECTIVE_BUDGET} directives: not read further", directive.start)
        return self.count < DIRECTIVE_BUDGET

    def _problem(self, why: str, offset: int) -> None:
        self.problems.append(Problem(why, self.source.span(offset, min(offset + 1, self.end))))
