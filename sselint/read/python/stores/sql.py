"""The text of SQL statements: which column gets which parameter, what is selected, what a parameter is held against.

Only as much of SQL is read as tells where an id goes and comes from. What is not understood has no columns and no
parameters, and then nothing is concluded from it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from sselint.read.python.interpreter.values import NEWEST, OLDEST

TOKEN = re.compile(
    r"""(?P<skip>\s+|--[^\n]*|/\*.*?\*/|::\s*\w+)|(?P<text>'(?:[^']|'')*')
    |(?P<mark>\?|%s|\$\d+|%\(\w+\)s|:[A-Za-z_]\w*|@\w+|\x00\d+)
    |(?P<name>"[^"]+"|`[^`]+`|\[\w+\]|[A-Za-z_][\w$]*)|(?P<sign><=|>=|<>|!=|=|<|>)|(?P<other>.)""",
    re.VERBOSE | re.DOTALL,
)
Place = int | str
ENDS = {"max": NEWEST, "min": OLDEST}
EQUAL = frozenset({"=", "IN", "ANY"})
"""What holds for the one entry that is named, and for no other."""
WORDS = frozenset({
    "SELECT", "FROM", "WHERE", "AND", "OR", "NOT", "ON", "LIMIT", "OFFSET", "VALUES", "SET", "LIKE", "BETWEEN", "ORDER",
    "GROUP", "BY", "HAVING", "RETURNING", "IN", "ANY", "AS", "JOIN", "INTO", "UNION", "DISTINCT", "ALL", "IS", "WHEN",
    "THEN", "ELSE", "END", "CASE", "CONFLICT", "DO", "UPDATE", "INTERVAL", "COLLATE",
})  # fmt: skip


@dataclass(frozen=True, eq=False)
class Token:
    """A word of a statement, in capitals where it is a word of SQL. `place` is set for a parameter."""

    kind: str
    text: str
    place: Place = -1


@dataclass(frozen=True)
class Statement:
    """What is known of a statement.

    A parameter is named by its place: its number from 0, or its name. `inserts` are the columns that get one as it is.
    `selects` are the columns of the answer in order, each as (name in the answer, column), empty where `*` or something
    else stands. `held` says of each parameter what it is held against a column with (`=`, `>`, `IN`, or nothing),
    and against which, where it stands behind one.
    """

    table: str = ""
    inserts: tuple[tuple[str, Place], ...] = ()
    selects: tuple[tuple[str, str], ...] = ()
    held: tuple[tuple[Place, str, str], ...] = ()
    sums_up: bool = False
    """Whether it has a row in any case: `count(*)`, `exists(...)`."""
    end: str = ""
    """Whether it asks for one end of what there is: NEWEST (`max(id)`, `ORDER BY id DESC LIMIT 1`) or OLDEST."""
    replaces: bool = False
    """Whether it writes over the row that is there already."""
    either: bool = False
    """Whether what has to be equal need not be so: `OR`, `NOT`, or what several tables are asked for at once."""
    tells: bool = False
    """Whether its parameters go to whoever listens: `pg_notify(...)`, `NOTIFY`."""


@lru_cache(maxsize=2_000)
def parse(text: str) -> Statement | None:
    """A statement that asks, inserts or notifies; None for any other text."""
    tokens = tokens_of(text)
    if tokens[0].kind == "name" and tokens[0].text.upper() == "NOTIFY":
        return Statement(tells=True)
    first = next((i for i, t in enumerate(tokens) if t.text in ("SELECT", "INSERT", "REPLACE")), None)
    if first is None or tokens[0].text not in ("SELECT", "INSERT", "REPLACE", "WITH", "("):
        return None
    held = tuple((t.place, *_held_against(tokens, i)) for i, t in enumerate(tokens) if t.kind == "mark")
    if tokens[first].text == "SELECT":
        rest = tokens[first + 1 :]
        return Statement(
            _table(tokens, "FROM"),
            (),
            _selected(rest),
            held,
            _sums_up(rest),
            _end(rest),
            tells=_tells(rest),
            either=_either(rest),
        )
    return Statement(_table(tokens, "INTO"), _inserted(tokens), (), held, replaces=_replaces(tokens))


def tokens_of(text: str) -> list[Token]:
    """The words of a statement, in their order."""
    found: list[Token] = []
    counted = 0
    for match in TOKEN.finditer(text):
        kind = str(match.lastgroup)
        word = match.group().strip('"`[]') if kind == "name" else match.group()
        if kind == "name" and word.upper() in WORDS | {"INSERT", "REPLACE", "WITH"}:
            word = word.upper()
        place = _place(word, counted) if kind == "mark" else -1
        counted += kind == "mark" and word in ("?", "%s")
        if kind != "skip":
            found.append(Token(kind, word, place))
    return found or [Token("other", "")]


def _place(mark: str, counted: int) -> Place:
    if mark in ("?", "%s"):
        return counted
    return int(mark[1:]) - 1 if mark[0] == "$" else mark.lstrip("%(:@").removesuffix(")s")


def _table(tokens: Sequence[Token], word: str) -> str:
    """The table that stands behind a word, without its schema; empty where it is put in by the program."""
    start = next((i for i, t in enumerate(tokens) if t.text == word), len(tokens)) + 1
    name = ""
    for token in tokens[start:]:
        if token.text == ".":
            name = ""
        elif token.kind != "name" or token.text in WORDS or name:
            break
        else:
            name = token.text.lower()
    return name


def items_of(tokens: Sequence[Token], end: str) -> list[list[Token]]:
    """What stands between commas, up to a word or to the bracket that closes."""
    found: list[list[Token]] = [[]]
    depth = 0
    for token in tokens:
        if depth == 0 and token.text in (end, ")"):
            break
        depth += (token.text == "(") - (token.text == ")")
        if token.text == "," and depth == 0:
            found.append([])
        else:
            found[-1].append(token)
    return found


def _selected(tokens: Sequence[Token]) -> tuple[tuple[str, str], ...]:
    found = []
    for item in items_of([t for t in tokens if t.text != "DISTINCT"], "FROM"):
        if not item or item[-1].kind != "name":
            return ()
        names = [t for t in item if t.text != "AS"]
        plain = all(t.kind == "name" or t.text == "." for t in names)
        renamed = len(item) > 1 and item[-2].text != "."  # `n.seq AS id`, `seq id`
        column = names[-2 if renamed else -1].text if plain else ""
        found.append((item[-1].text.lower(), column.lower()))
    return tuple(found)


def _sums_up(tokens: Sequence[Token]) -> bool:
    called = len(tokens) > 1 and tokens[1].text == "("
    return called and tokens[0].text.lower() in ("count", "exists", "max", "min", "sum", "avg", "coalesce")


def _end(tokens: Sequence[Token]) -> str:
    """The end that a SELECT asks for. One that is narrowed by more than columns being equal asks for none."""
    signs = {t.text for t in tokens if t.kind == "sign" or t.text in ("LIKE", "BETWEEN")}
    if signs - {"="} or any(t.text == "SELECT" for t in tokens):
        return ""
    words = [t.text.lower() for t in tokens if t.text != "("]
    called = next((word for word in words if word != "coalesce"), "")
    if called in ENDS and "order" not in words:
        return ENDS[called]
    if "order" not in words or words[-2:] != ["limit", "1"]:
        return ""
    return NEWEST if "desc" in words else OLDEST


def _either(tokens: Sequence[Token]) -> bool:
    words = [t.text.upper() for t in tokens if t.kind == "name"]
    listed = next((i for i, t in enumerate(tokens) if t.text == "FROM"), len(tokens))
    several = len(items_of([t for t in tokens[listed + 1 :] if t.text != ";"], "WHERE")) > 1
    return several or bool({"OR", "NOT", "UNION", "JOIN", "SELECT"} & set(words))


def _replaces(tokens: Sequence[Token]) -> bool:
    words = [t.text.upper() for t in tokens if t.kind == "name"]
    return "REPLACE" in words or "DUPLICATE" in words or ("CONFLICT" in words and "UPDATE" in words)


def _tells(tokens: Sequence[Token]) -> bool:
    return bool(tokens) and tokens[0].text.lower() == "pg_notify"


def _inserted(tokens: Sequence[Token]) -> tuple[tuple[str, Place], ...]:
    opening = next((i for i, t in enumerate(tokens) if t.text == "("), None)
    values = next((i for i, t in enumerate(tokens) if t.text in ("VALUES", "SELECT")), None)
    if opening is None or values is None or values < opening:
        return ()
    columns = [item[0].text.lower() for item in items_of(tokens[opening + 1 :], ")") if item]
    rest = tokens[values + 1 :]
    given = items_of(rest[1:] if rest and rest[0].text == "(" else rest, "FROM")
    pairs = zip(columns, given, strict=False)
    return tuple((column, item[0].place) for column, item in pairs if len(item) == 1 and item[0].kind == "mark")


def _held_against(tokens: Sequence[Token], place: int) -> tuple[str, str]:
    """The sign of the comparison that a parameter is part of, also inside of a function or a row of several, and the
    column before it."""
    for i in range(place - 1, -1, -1):
        token = tokens[i]
        if token.kind == "sign" or token.text in ("IN", "ANY", "BETWEEN", "LIKE"):
            before = tokens[i - 1] if i else token
            return token.text, before.text.lower() if before.kind == "name" else ""
        function = token.kind == "name" and token.text not in WORDS and tokens[i + 1].text == "("
        if not function and token.kind != "mark" and token.text not in ("(", ","):
            break
    behind = tokens[place + 1] if place + 1 < len(tokens) else Token("other", "")
    return behind.text if behind.kind == "sign" else "", ""
