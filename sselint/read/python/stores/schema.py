"""The statements that make the tables of a database: which columns of a table together take nothing twice.

Only keys that hold for every row are read: an index over a part of the table, or over what a function makes of a
column, refuses less than its columns say.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

from sselint.read.python.stores import sql

Key = frozenset[str]
ORDERED = ("ASC", "DESC")


@lru_cache(maxsize=500)
def keys(text: str) -> tuple[tuple[str, Key], ...]:
    """The keys that the statements of a script give its tables, each with the table, without its schema."""
    return tuple(found for statement in _statements(sql.tokens_of(text)) for found in _keys(statement))


def _statements(tokens: Sequence[sql.Token]) -> Iterator[list[sql.Token]]:
    found: list[sql.Token] = []
    for token in tokens:
        if token.text == ";":
            yield found
            found = []
        else:
            found.append(token)
    yield found


def _keys(tokens: list[sql.Token]) -> Iterator[tuple[str, Key]]:
    words = [token.text.upper() for token in tokens]
    if words[:1] == ["CREATE"] and "TABLE" in words[:5]:
        opening = words.index("(") if "(" in words else len(words)
        items = sql.items_of(tokens[opening + 1 :], "")
        for key in _of_columns(items):
            yield _name(tokens[:opening]), key
    elif words[:3] == ["CREATE", "UNIQUE", "INDEX"] and "ON" in words and "WHERE" not in words:
        over = words.index("ON")
        opening = words.index("(", over) if "(" in words[over:] else len(words)
        end = opening if "USING" not in words[over:opening] else words.index("USING", over)
        key = _listed(tokens[opening:])
        if key:
            yield _name(tokens[over + 1 : end]), key
    elif words[:2] == ["ALTER", "TABLE"] and "ADD" in words:
        add = words.index("ADD")
        key = _of_constraint(tokens[add + 1 :])
        if key:
            yield _name(tokens[2:add]), key


def _name(tokens: Sequence[sql.Token]) -> str:
    return next((token.text.lower() for token in reversed(tokens) if token.kind == "name"), "")


def _of_columns(items: Sequence[list[sql.Token]]) -> Iterator[Key]:
    """The keys of a list of columns and constraints."""
    for item in items:
        words = [token.text.upper() for token in item]
        key = _of_constraint(item)
        if key:
            yield key
        elif "UNIQUE" in words[1:] or ("PRIMARY" in words[1:] and "KEY" in words):
            yield frozenset({item[0].text.lower()})


def _of_constraint(tokens: Sequence[sql.Token]) -> Key:
    """The columns of `[CONSTRAINT name] UNIQUE (...)` and `PRIMARY KEY (...)`, none of anything else."""
    words = [token.text.upper() for token in tokens]
    start = 2 if words[:1] == ["CONSTRAINT"] else 0
    if words[start : start + 1] != ["UNIQUE"] and words[start : start + 2] != ["PRIMARY", "KEY"]:
        return frozenset()
    return _listed(tokens[words.index("(") :]) if "(" in words else frozenset()


def _listed(tokens: Sequence[sql.Token]) -> Key:
    """The columns in brackets, none where one of them is more than a name."""
    names: list[str] = []
    for item in sql.items_of(tokens[1:], ""):
        plain = len(item) == 1 or (len(item) == 2 and item[1].text.upper() in ORDERED)
        if not plain or item[0].kind != "name":
            return frozenset()
        names.append(item[0].text.lower())
    return frozenset(names)
