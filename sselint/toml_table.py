"""Checked access to a TOML table: every mistake says what is wrong, where, and what to write instead."""

from __future__ import annotations

import difflib
import re
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, TypeVar

from sselint.facts import Span

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

Choice = TypeVar("Choice", bound=Enum)

_HEADER = re.compile(r"^\s*(\[\[?)\s*([^\]#]+?)\s*\]\]?\s*(#.*)?$")


class SettingsError(Exception):
    """Settings or arguments that cannot be used.

    `what` happened, `where` (a file with its line, or an option; "" if nowhere), and what to do `instead`.
    """

    def __init__(self, what: str, where: str = "", instead: str = "") -> None:
        super().__init__(": ".join(part for part in (where, what) if part) + (f"; {instead}" if instead else ""))
        self.what = what
        self.where = where
        self.instead = instead


def parse_toml(text: str, path: str) -> dict[str, Any]:
    """The content of a TOML file. Raises SettingsError with the place of a syntax error."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        place = re.search(r"\(at line (\d+), column (\d+)\)", str(error))
        end = max(1, len(text.splitlines()))
        where = f"{path}:{place.group(1)}:{place.group(2)}" if place else f"{path}:{end}"
        what = re.sub(r"\s*\(at [^)]*\)$", "", str(error))
        raise SettingsError(f"not TOML: {what[:1].lower()}{what[1:]}", where, "correct the syntax") from error
    except RecursionError as error:
        raise SettingsError("not TOML: nested too deeply", path, "correct the syntax") from error


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """What to write instead of `word`: the nearest known word, or all of them."""
    words = {known_word.lower(): known_word for known_word in known}
    near = difflib.get_close_matches(word.lower().replace("_", "-"), words, n=1, cutoff=0.6)
    return f"write `{words[near[0]]}`" if near else "write one of " + ", ".join(f"`{w}`" for w in words.values())


@dataclass
class Table:
    """A table of a TOML file, with the keys that were asked for; `finish` refuses the others.

    `name` is the dotted name of the table in the file ("" is the file itself), `index` its position (from 0) where it
    is one of an array of tables.
    """

    values: dict[str, Any]
    path: str
    text: str
    name: str
    index: int | None = None
    asked: set[str] = field(default_factory=set)

    def string(self, key: str) -> str | None:
        """The string under `key`, None if it is not there. Raises SettingsError for another type or an empty one."""
        value = self._take(key)
        if value is None:
            return None
        if not isinstance(value, str) or not value.strip():
            raise self.error(key, f"`{key}` must be a string that is not empty", f'write {key} = "..."')
        return value

    def required(self, key: str, example: str) -> str:
        """The string under `key`. Raises SettingsError if it is missing."""
        value = self.string(key)
        if value is None:
            raise self.error(None, f"`{key}` is missing", f"add {key} = {example}")
        return value

    def strings(self, key: str) -> tuple[str, ...]:
        """The list of strings under `key`, empty if it is not there."""
        value = self._take(key)
        if value is None:
            return ()
        if not isinstance(value, list) or not all(isinstance(item, str) and item.strip() for item in value):
            raise self.error(key, f"`{key}` must be a list of strings", f'write {key} = ["..."]')
        return tuple(value)

    def flag(self, key: str) -> bool:
        """The boolean under `key`, false if it is not there."""
        value = self._take(key)
        if value is None:
            return False
        if not isinstance(value, bool):
            raise self.error(key, f"`{key}` must be true or false, not {value!r}", f"write {key} = true")
        return value

    def choice(self, key: str, choices: type[Choice]) -> Choice | None:
        """The member of `choices` whose value stands under `key`, None if it is not there."""
        value = self.word(key, [member.value for member in choices])
        return None if value is None else choices(value)

    def word(self, key: str, words: Sequence[str]) -> str | None:
        """One of `words`, None if the key is not there."""
        value = self._take(key)
        if value is None:
            return None
        if value not in words:
            raise self.error(key, f"`{key}` can't be {value!r}", did_you_mean(str(value), words))
        return str(value)

    def raw(self, key: str) -> Any:
        """Whatever stands under `key`; the caller checks it and raises `error`."""
        return self._take(key)

    def tables(self, key: str) -> tuple[Table, ...]:
        """The tables of the array `key`, empty if it is not there."""
        value = self._take(key)
        if value is None:
            return ()
        name = f"{self.name}.{key}" if self.name else key
        if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
            raise self.error(key, f"`{key}` must be an array of tables", f"write [[{name}]]")
        return tuple(Table(item, self.path, self.text, name, i) for i, item in enumerate(value))

    def finish(self) -> None:
        """Raises SettingsError if the table has a key that nobody asked for."""
        for key in self.values:
            if key not in self.asked:
                raise self.error(key, f"unknown key `{key}`", did_you_mean(key, sorted(self.asked)))

    def place(self, key: str | None = None) -> Span:
        """Where `key` stands in the file; the table's header without one; line 1 if it cannot be told."""
        line = self._line(key)
        text = self.text.splitlines()[line - 1] if self.text else ""
        column = len(text) - len(text.lstrip()) + 1
        return Span(self.path, line, column, line, len(text.rstrip()) + 1)

    def error(self, key: str | None, what: str, instead: str) -> SettingsError:
        """The mistake at `key`, ready to be raised."""
        return SettingsError(what, str(self.place(key)), instead)

    def _take(self, key: str) -> Any:
        self.asked.add(key)
        return self.values.get(key)

    def _line(self, key: str | None) -> int:
        """TOML parsers keep no positions, so the line is looked for: the header, then the key below it."""
        header_line, seen = (1, True) if not self.name else (0, False)
        count = -1
        for number, line in enumerate(self.text.splitlines(), 1):
            header = _HEADER.match(line)
            if header:
                seen = re.sub(r"[\s\"']", "", header.group(2)) == self.name
                count += seen
                seen = seen and self.index in (None, count)
                header_line = number if seen else header_line
            elif seen and key is not None and re.match(rf"\s*[\"']?{re.escape(key)}[\"']?\s*[=.]", line):
                return number
        return header_line or 1
