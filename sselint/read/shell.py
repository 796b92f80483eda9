"""Shell text as simple commands: enough of POSIX sh to find the word that starts a server.

Nothing is expanded that runs anything: `$(...)` and `${...}` stay as they are written, one word each.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

MAX_CHARACTERS = 64 * 1024
"""Longer scripts are cut: what starts a server stands at the end of a short one. Values that are longer, since each of
them is made of others twice, are unknown."""

ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)=(.*)", re.DOTALL)
"""A word that sets a variable."""

_OPERATORS = (";;", "&&", "||", ";", "&", "|", "\n", "(", ")")
_PARAMETER = re.compile(r"\$(?:(\w+)|\{(\w+)(?:(:?[-=+?])([^{}]*))?\})")


def commands(text: str) -> list[list[str]]:
    """The simple commands of a piece of shell text, each a list of words with the quotes taken off.

    Redirections stay as words; comments go. An unclosed quote runs to the end.
    """
    return _Lexer(text[:MAX_CHARACTERS]).commands()


def split(text: str) -> list[str]:
    """The words of a command that no shell reads (compose, systemd, supervisord): operators are ordinary characters."""
    lexer = _Lexer(text[:MAX_CHARACTERS], operators=False)
    return [word for command in lexer.commands() for word in command]


def expand(word: str, environment: Mapping[str, str | None]) -> tuple[str | None, str]:
    """A word with its parameters replaced, and why it is that.

    `${WORKERS:-4}` is `4` where nothing sets WORKERS. None where the value cannot be known: a variable that is not set
    in the tree, one that is set to something unknown, or a command substitution.
    """
    whys: list[str] = []
    unknown = False
    length = len(word)

    def replaced(match: re.Match[str]) -> str:
        nonlocal unknown, length
        name, operator, fallback = match.group(1) or match.group(2), match.group(3) or "", match.group(4) or ""
        if name in environment:
            value = environment[name]
            length += len(value or "")
            if length > MAX_CHARACTERS:
                unknown = True
                return ""
            unknown |= value is None
            whys.append(f"{name} is {value}" if value is not None else f"{name} is set, to what is not known")
            return value or (fallback if operator.startswith(":") else "")
        if operator in (":-", "-", ":=", "="):
            whys.append(f"{fallback} unless {name} is set")
            return fallback
        unknown = True
        whys.append(f"{name} is not set in the tree")
        return ""

    text = _PARAMETER.sub(replaced, word)
    if "$(" in text or "`" in text:
        unknown = True
    return (None if unknown else text), "; ".join(whys)


class _Lexer:
    """One pass over the text. `word` is None between words, so that `''` is a word."""

    def __init__(self, text: str, operators: bool = True) -> None:
        self._text = text
        self._operators = operators
        self._at = 0
        self._word: str | None = None
        self._words: list[str] = []
        self._commands: list[list[str]] = []

    def commands(self) -> list[list[str]]:
        while self._at < len(self._text):
            self._step(self._text[self._at])
        self._end_command()
        return self._commands

    def _step(self, character: str) -> None:
        if character == "\\":
            self._escape()
        elif character in "'\"":
            self._quoted(character)
        elif character == "$" or character == "`":
            self._add(self._substitution())
        elif character == "#" and self._word is None and self._operators:
            end = self._text.find("\n", self._at)
            self._at = len(self._text) if end < 0 else end
        elif self._operators and (operator := self._operator()):
            self._at += len(operator)
            self._end_command()
        elif character.isspace():
            self._at += 1
            self._end_word()
        else:
            self._add(character)
            self._at += 1

    def _operator(self) -> str | None:
        return next((o for o in _OPERATORS if self._text.startswith(o, self._at)), None)

    def _escape(self) -> None:
        following = self._text[self._at + 1 : self._at + 2]
        if following == "\r":
            following = self._text[self._at + 1 : self._at + 3]
        self._at += 1 + len(following)
        if following.strip("\r\n") or following == " ":
            self._add(following)

    def _quoted(self, quote: str) -> None:
        self._at += 1
        self._add("")
        while self._at < len(self._text) and self._text[self._at] != quote:
            character = self._text[self._at]
            following = self._text[self._at + 1 : self._at + 2]
            if quote == '"' and character == "\\" and following in ('"', "\\", "$", "`", "\n"):
                self._at += 1
                self._add("" if self._text[self._at] == "\n" else self._text[self._at])
                self._at += 1
            elif quote == '"' and character in "$`":
                self._add(self._substitution())
            else:
                self._add(character)
                self._at += 1
        self._at += 1

    def _substitution(self) -> str:
        """`$x`, `${...}`, `$(...)` or a backquoted command, as written; the place moves past it."""
        start = self._at
        if self._text[start] == "`":
            end = self._text.find("`", start + 1)
            self._at = len(self._text) if end < 0 else end + 1
            return self._text[start : self._at]
        opener = self._text[start + 1 : start + 2]
        closer = {"(": ")", "{": "}"}.get(opener)
        self._at = start + 1 if closer is None else self._closed(start + 1, opener, closer)
        return self._text[start : self._at]

    def _closed(self, at: int, opener: str, closer: str) -> int:
        depth = 0
        for position in range(at, len(self._text)):
            character = self._text[position]
            depth += (character == opener) - (character == closer)
            if depth == 0:
                return position + 1
        return len(self._text)

    def _add(self, text: str) -> None:
        self._word = (self._word or "") + text

    def _end_word(self) -> None:
        if self._word is not None:
            self._words.append(self._word)
            self._word = None

    def _end_command(self) -> None:
        self._end_word()
        if self._words:
            self._commands.append(self._words)
            self._words = []
