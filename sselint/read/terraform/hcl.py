"""HCL with positions: blocks and attributes out of python-hcl2's parse tree. Expressions stay trees; they are evaluated
in `expressions`, as far as a file can tell."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from sselint.facts import Span
from sselint.source import Source

MAX_CHARACTERS = 1_000_000
"""Larger text is not parsed: modules written by hand stay far below."""

MAX_DEPTH = 50
"""Blocks inside blocks."""


class HclError(Exception):
    """A text that is not HCL, or over budget. `span` is the place."""

    def __init__(self, message: str, span: Span) -> None:
        super().__init__(message)
        self.span = span


@dataclass(frozen=True)
class Attribute:
    """`name = expression`. `span` is its first line."""

    name: str
    expression: Any
    span: Span


@dataclass(frozen=True)
class Block:
    """`kind "label" "label" { ... }`. `span` is its first line."""

    kind: str
    labels: tuple[str, ...]
    span: Span
    attributes: dict[str, Attribute] = field(default_factory=dict)
    blocks: tuple[Block, ...] = ()

    def of(self, kind: str) -> Iterator[Block]:
        """The blocks of a kind directly inside."""
        return (b for b in self.blocks if b.kind == kind)

    def span_of(self, name: str) -> Span:
        """The place of an attribute, or of the block."""
        return self.attributes[name].span if name in self.attributes else self.span


def parse(source: Source) -> tuple[Block, ...]:
    """The top-level blocks of a text. Raises HclError."""
    from hcl2.api import parses_to_tree
    from lark.exceptions import LarkError

    if len(source.text) > MAX_CHARACTERS:
        raise HclError("too large", Span(source.path, 1, 1, 1, 1))
    try:
        tree = parses_to_tree(source.text)
    except LarkError as error:
        line, column = getattr(error, "line", 1), getattr(error, "column", 1)
        known = isinstance(line, int) and isinstance(column, int) and line > 0
        place = source.at(line - 1, max(column - 1, 0)) if known else (1, 1)
        why = str(error).splitlines()[0] if str(error) else "not HCL"
        raise HclError(why, Span(source.path, *place, *place)) from error
    except (RecursionError, ValueError) as error:
        raise HclError("nested too deeply", Span(source.path, 1, 1, 1, 1)) from error
    return _body(source, tree.children[0], 0)[1]


def _body(source: Source, body: Any, depth: int) -> tuple[dict[str, Attribute], tuple[Block, ...]]:
    attributes: dict[str, Attribute] = {}
    blocks: list[Block] = []
    for child in body.children:
        kind = getattr(child, "data", None)
        if kind == "attribute":
            name = _word(child.children[0])
            attributes[name] = Attribute(name, child.children[-1], _first_line(source, child))
        elif kind == "block" and depth < MAX_DEPTH:
            blocks.append(_block(source, child, depth))
    return attributes, tuple(blocks)


def _block(source: Source, tree: Any, depth: int) -> Block:
    words = [c for c in tree.children if getattr(c, "data", "") in ("identifier", "keyword", "literal_value", "string")]
    attributes, blocks = _body(source, next(c for c in tree.children if getattr(c, "data", "") == "body"), depth + 1)
    kind, *labels = map(_word, words)
    return Block(kind, tuple(labels), _first_line(source, tree), attributes, blocks)


def _word(tree: Any) -> str:
    """The text of an identifier, or of a quoted label without its quotes."""
    return "".join(str(token) for token in tree.scan_values(lambda _: True)).strip('"')


def _first_line(source: Source, tree: Any) -> Span:
    start = tree.meta.start_pos
    end = source.text.find("\n", start)
    end = len(source.text) if end < 0 else end
    return source.span(start, start + len(source.text[start:end].rstrip()))
