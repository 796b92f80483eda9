"""Go templates as a tree: text, actions and pipelines, by the grammar of text/template (pkg.go.dev/text/template)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from sselint.unwrap.tags import tags

MAX_DEPTH = 100
"""Actions inside actions, and parentheses inside parentheses."""

_TOKEN = re.compile(
    r"""\s*(?:
        (?P<string>"(?:\\.|[^"\\])*"|`[^`]*`)
        |(?P<char>'(?:\\.|[^'\\])+')
        |(?P<number>[-+]?\d[\d_]*(?:\.\d+)?(?:[eE][-+]?\d+)?)
        |(?P<variable>\$\w*(?:\.\w+)*)
        |(?P<field>(?:\.\w+)+|\.)
        |(?P<word>\w+)
        |(?P<mark>:=|=|\||\(|\)|,)
    )""",
    re.VERBOSE,
)
_DECLARATION = re.compile(r"\$\w+(?:\s*,\s*\$\w+)?\s*:=")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", '"': '"', "\\": "\\", "'": "'"}


class TemplateError(Exception):
    """A text that is not a Go template, or over budget."""


@dataclass(frozen=True)
class Literal:
    """A constant."""

    value: object


@dataclass(frozen=True)
class Field:
    """`.a.b` of the dot, of a variable (`$x.a`) or of what a pipeline in parentheses gives."""

    base: Pipeline | str | None
    """None is the dot, a text the name of a variable ("" for `$`)."""
    path: tuple[str, ...]


@dataclass(frozen=True)
class Command:
    """A function with arguments, or a single operand. `name` is None for an operand; a method of a field (`.Files.Get
    "x"`) has the field as its first argument."""

    name: str | None
    arguments: tuple[Operand, ...]


@dataclass(frozen=True)
class Pipeline:
    """Commands, each given the value of the one before as its last argument. `text` is what is written."""

    commands: tuple[Command, ...]
    text: str


Operand = Literal | Field | Pipeline | Command


@dataclass(frozen=True)
class Text:
    """Text as it is, whitespace trimmed as the tags beside it ask; `start` is its offset in the file."""

    text: str
    start: int


@dataclass(frozen=True)
class Action:
    """An action: "output", "assign", "template", "if", "with", "range", "break" or "continue".

    `branches` are (condition, body) pairs of if, with and range, the condition None for else. `names` are the variables
    that are set, `name` the template that is called, or `=` where a variable is set again.
    """

    kind: str
    start: int
    end: int
    pipeline: Pipeline | None = None
    names: tuple[str, ...] = ()
    branches: tuple[tuple[Pipeline | None, tuple[Node, ...]], ...] = ()
    name: str = ""


Node = Text | Action


@dataclass(frozen=True)
class Template:
    """A file: what it prints, and the templates that it defines."""

    body: tuple[Node, ...]
    defined: dict[str, tuple[Node, ...]]


def parse(text: str) -> Template:
    """The template that a text is. Raises TemplateError."""
    return _Parser(text).template()


@dataclass
class _Open:
    """An action whose end has not come."""

    keyword: str
    start: int
    condition: Pipeline | None
    names: tuple[str, ...]
    name: str = ""
    bodies: list[tuple[Pipeline | None, list[Node]]] = field(default_factory=list)


class _Parser:
    def __init__(self, text: str) -> None:
        self._text = text
        self._stack: list[_Open] = [_Open("", 0, None, (), bodies=[(None, [])])]
        self._defined: dict[str, tuple[Node, ...]] = {}

    def template(self) -> Template:
        position, trim = 0, False
        for tag in tags(self._text):
            if not self._text.startswith("{{", tag.start):
                continue
            inner = self._text[tag.start + 2 : tag.end - 2]
            self._add_text(position, tag.start, trim, inner.startswith("-"))
            trim = inner.endswith("-") and len(inner) > 1
            position = tag.end
            self._action(tag.content, tag.start, tag.end)
        self._add_text(position, len(self._text), trim, False)
        if len(self._stack) > 1:
            raise TemplateError(f"{self._stack[-1].keyword} has no end")
        return Template(tuple(self._stack[0].bodies[-1][1]), self._defined)

    def _add(self, node: Node) -> None:
        self._stack[-1].bodies[-1][1].append(node)

    def _add_text(self, start: int, end: int, trim_left: bool, trim_right: bool) -> None:
        text = self._text[start:end]
        if trim_left:
            start += len(text) - len(text.lstrip())
            text = text.lstrip()
        if trim_right:
            text = text.rstrip()
        if text:
            self._add(Text(text, start))

    def _action(self, content: str, start: int, end: int) -> None:
        if content.startswith("/*") or not content:
            return
        word = re.match(r"\w+", content)
        keyword = word[0] if word else ""
        rest = content[len(keyword) :].strip()
        if keyword in ("if", "with", "range", "define", "block") and rest:
            self._begin(keyword, rest, start)
        elif keyword == "else":
            self._otherwise(rest)
        elif keyword == "end":
            self._finish(end)
        elif keyword == "template":
            name, pipeline = _named(rest)
            self._add(Action("template", start, end, pipeline, name=name))
        elif keyword in ("break", "continue") and not rest:
            self._add(Action(keyword, start, end))
        else:
            names, pipeline = _declared(content)
            again = "=" if names and not _DECLARATION.match(content) else ""
            self._add(Action("assign" if names else "output", start, end, pipeline, names, name=again))

    def _begin(self, keyword: str, rest: str, start: int) -> None:
        if len(self._stack) > MAX_DEPTH:
            raise TemplateError("nested too deeply")
        if keyword in ("define", "block"):
            name, pipeline = _named(rest)
            self._stack.append(_Open(keyword, start, pipeline, (), name, [(None, [])]))
            return
        names, pipeline = _declared(rest)
        self._stack.append(_Open(keyword, start, pipeline, names, bodies=[(pipeline, [])]))

    def _otherwise(self, rest: str) -> None:
        if len(self._stack) < 2:
            raise TemplateError("else without an if")
        word = re.match(r"(?:if|with)\b", rest)
        condition = _declared(rest[word.end() :].strip())[1] if word else None
        self._stack[-1].bodies.append((condition, []))

    def _finish(self, end: int) -> None:
        if len(self._stack) < 2:
            raise TemplateError("an end too many")
        done = self._stack.pop()
        branches = tuple((condition, tuple(body)) for condition, body in done.bodies)
        if done.keyword in ("define", "block"):
            self._defined[done.name] = branches[0][1]
            if done.keyword == "block":
                self._add(Action("template", done.start, end, done.condition, name=done.name))
            return
        self._add(Action(done.keyword, done.start, end, done.condition, done.names, branches))


# -- pipelines ---------------------------------------------------------------------------------------------------------


def _named(text: str) -> tuple[str, Pipeline | None]:
    """`"name" pipeline`, of define, block and template."""
    tokens = list(_tokens(text))
    if not tokens or tokens[0][0] != "string":
        raise TemplateError(f"a name is missing: {text[:40]}")
    rest = text[text.index(tokens[0][1]) + len(tokens[0][1]) :]
    return _unquoted(tokens[0][1]), _pipeline(rest) if rest.strip() else None


def _declared(text: str) -> tuple[tuple[str, ...], Pipeline]:
    """`$a, $b := pipeline`, `$a = pipeline`, or a pipeline alone."""
    match = re.match(r"(\$\w+)(?:\s*,\s*(\$\w+))?\s*:?=", text)
    if not match:
        return (), _pipeline(text)
    names = tuple(name[1:] for name in match.groups() if name)
    return names, _pipeline(text[match.end() :])


def _pipeline(text: str) -> Pipeline:
    tokens = list(_tokens(text))
    pipeline, position = _parse_pipeline(tokens, 0, text, 0)
    if position != len(tokens):
        raise TemplateError(f"not a pipeline: {text[:60]}")
    return pipeline


def _tokens(text: str) -> Iterator[tuple[str, str, bool]]:
    """(kind, text, whether whitespace stands in front)."""
    position = 0
    stripped = text.rstrip()
    while position < len(stripped):
        match = _TOKEN.match(stripped, position)
        if match is None or match.end() == position or match.lastgroup is None:
            raise TemplateError(f"not a pipeline: {text[:60]}")
        yield match.lastgroup, match[match.lastgroup], match.start(match.lastgroup) > position or position == 0
        position = match.end()


def _parse_pipeline(
    tokens: Sequence[tuple[str, str, bool]], position: int, text: str, depth: int
) -> tuple[Pipeline, int]:
    if depth > MAX_DEPTH:
        raise TemplateError("nested too deeply")
    commands: list[Command] = []
    while True:
        command, position = _parse_command(tokens, position, text, depth)
        commands.append(command)
        if position < len(tokens) and tokens[position][1] == "|":
            position += 1
            continue
        return Pipeline(tuple(commands), " ".join(text.split())), position


def _parse_command(
    tokens: Sequence[tuple[str, str, bool]], position: int, text: str, depth: int
) -> tuple[Command, int]:
    operands: list[Operand] = []
    name: str | None = None
    while position < len(tokens):
        kind, written, spaced = tokens[position]
        if kind == "mark" and written in ("|", ")"):
            break
        position += 1
        if kind == "mark" and written == "(":
            inner, position = _parse_pipeline(tokens, position, text, depth + 1)
            if position >= len(tokens) or tokens[position][1] != ")":
                raise TemplateError(f"a bracket is not closed: {text[:60]}")
            position += 1
            operands.append(inner)
        elif kind == "field" and not spaced and operands and isinstance(operands[-1], Pipeline):
            operands[-1] = Field(operands[-1], _path(written))
        elif kind == "word" and written not in ("true", "false", "nil"):
            if not operands and name is None:
                name = written
            else:
                operands.append(Command(written, ()))
        else:
            operands.append(_operand(kind, written))
    if name is None and not operands:
        raise TemplateError(f"an operand is missing: {text[:60]}")
    return Command(name, tuple(operands)), position


def _operand(kind: str, written: str) -> Operand:
    if kind == "string":
        return Literal(_unquoted(written))
    if kind == "char":
        return Literal(ord(written[1]) if len(written) == 3 else 0)
    if kind == "number":
        digits = written.replace("_", "")
        return Literal(float(digits) if re.search(r"[.eE]", digits) else int(digits))
    if kind == "variable":
        name, *path = written[1:].split(".")
        return Field(name, tuple(path))
    if kind == "field":
        return Field(None, _path(written))
    if kind == "word":
        return Literal({"true": True, "false": False}.get(written))
    raise TemplateError(f"unexpected {written}")


def _path(written: str) -> tuple[str, ...]:
    return tuple(part for part in written.split(".") if part)


def _unquoted(written: str) -> str:
    if written.startswith("`"):
        return written[1:-1]
    return re.sub(r"\\(.)", lambda m: _ESCAPES.get(m[1], m[1]), written[1:-1])
