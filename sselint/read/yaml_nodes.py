"""YAML with positions: PyYAML's `compose`, walked with an identity set and a node budget.

Readers get `Node`s: a thin view that knows its place in the file, resolves aliases and merge keys (`<<`), and never
raises for a shape that is not there. Nothing is constructed: scalars stay text with their YAML tag.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sselint.facts import Span
from sselint.source import Source

NODE_BUDGET = 200_000
"""Nodes that aliases may add to those that are written: an alias bomb ends here, a large cluster dump does not."""

DEPTH_BUDGET = 200
"""Collections inside each other, aliases expanded: whoever walks a document recursively stays within Python's stack."""

MAX_BROKEN = 20
"""Documents of one text that are passed over: behind more it is no YAML."""

_DOCUMENT_START = re.compile(r"^---(?=\s|$)", re.MULTILINE)
_VISIBLE = re.compile(r"[^\r\n]+")
_ESCAPE = re.compile(r"\\(?:u[0-9a-fA-F]{4}|.)", re.DOTALL)
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_JSON = re.compile(r"\s*(?:[{\[]|\"(?:\\.|[^\"\\])*\"\s*\Z)", re.DOTALL)
"""How an object or a list of JSON begins, or a string that is all there is: YAML may begin with a string as well."""


class UnreadableYamlError(Exception):
    """A text that is not YAML, or over budget. `span` is the place, `index` its offset in the text if it is known."""

    def __init__(self, message: str, span: Span, index: int | None = None) -> None:
        super().__init__(message)
        self.span = span
        self.index = index


@dataclass(frozen=True)
class Node:
    """A YAML node with its place. A missing node is falsy: `node["a"]["b"].text` is None where anything is absent."""

    source: Source
    raw: Any
    """The composed yaml.Node, or None for a node that is not there."""

    def __bool__(self) -> bool:
        return self.raw is not None and not self.is_null

    @property
    def is_mapping(self) -> bool:
        """Whether this is a mapping."""
        return type(self.raw).__name__ == "MappingNode"

    @property
    def is_sequence(self) -> bool:
        """Whether this is a sequence."""
        return type(self.raw).__name__ == "SequenceNode"

    @property
    def is_null(self) -> bool:
        """Whether this is YAML null (`~`, `null` or nothing)."""
        return self.raw is not None and self.raw.tag == "tag:yaml.org,2002:null"

    @property
    def is_masked(self) -> bool:
        """Whether a template tag stood anywhere in this node: its value is unknown."""
        return self.raw is not None and self.source.is_masked(self.raw.start_mark.index, self.raw.end_mark.index)

    @property
    def text(self) -> str | None:
        """The scalar's text; None for null, collections, missing nodes and values that a template touches."""
        if self.raw is None or type(self.raw).__name__ != "ScalarNode" or self.is_null or self.is_masked:
            return None
        return str(self.raw.value)

    @property
    def written(self) -> str:
        """The node as it stands in the file, quotes and template tags included; nothing for a missing one."""
        if self.raw is None:
            return ""
        return (self.source.original or self.source.text)[self.raw.start_mark.index : self.raw.end_mark.index]

    @property
    def number(self) -> int | None:
        """The scalar as an integer, None if it is not one."""
        try:
            return int(self.text or "")
        except ValueError:
            return None

    @property
    def truth(self) -> bool | None:
        """The scalar as a YAML 1.1 boolean, None if it is not one."""
        text = (self.text or "").lower()
        return {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}.get(text)

    @cached_property
    def fields(self) -> dict[str, tuple[Node, Node]]:
        """(key node, value node) by key, merge keys applied, a mapping's own keys winning. Empty for other nodes."""
        if not self.is_mapping:
            return {}
        own: dict[str, tuple[Node, Node]] = {}
        merged: dict[str, tuple[Node, Node]] = {}
        for key, value in self.raw.value:
            if key.tag == "tag:yaml.org,2002:merge":
                for part in Node(self.source, value).merge_parts():
                    for name, pair in part.fields.items():
                        merged.setdefault(name, pair)
            elif type(key).__name__ == "ScalarNode":
                own[str(key.value)] = (Node(self.source, key), Node(self.source, value))
        return {**merged, **own}

    def merge_parts(self) -> tuple[Node, ...]:
        """The mappings that a merge key's value stands for."""
        return (self,) if self.is_mapping else tuple(n for n in self if n.is_mapping)

    def __getitem__(self, key: str) -> Node:
        pair = self.fields.get(key)
        return pair[1] if pair else Node(self.source, None)

    def first(self, *keys: str) -> Node:
        """The first of these fields that is there (snake_case and camelCase names of one thing)."""
        return next((self[k] for k in keys if k in self.fields), Node(self.source, None))

    def key(self, key: str) -> Node:
        """The key node itself, for its place."""
        pair = self.fields.get(key)
        return pair[0] if pair else Node(self.source, None)

    def at(self, *path: str) -> Node:
        """A field of a field of a field."""
        node = self
        for key in path:
            node = node[key]
        return node

    def items(self) -> Iterator[tuple[str, Node]]:
        """(key, value) pairs of a mapping, in order."""
        for name, (_, value) in self.fields.items():
            yield name, value

    def __iter__(self) -> Iterator[Node]:
        if self.is_sequence:
            for item in self.raw.value:
                yield Node(self.source, item)

    def __contains__(self, key: object) -> bool:
        return key in self.fields

    def plain(self) -> Any:
        """The node as str, dict, list or None: for matching, never for constructing objects."""
        if self.is_mapping:
            return {k: v.plain() for k, v in self.items()}
        if self.is_sequence:
            return [n.plain() for n in self]
        return self.text

    def span(self, note: str = "") -> Span:
        """The node's place. A block collection is its first line only: nobody reads a frame of a whole document."""
        if self.raw is None:
            return Span(self.source.path, 1, 1, 1, 1, note)
        start, end = self.raw.start_mark, self.raw.end_mark
        if end.line > start.line:
            line_end = self.source.text.find("\n", start.index)
            return self.source.span(start.index, len(self.source.text) if line_end < 0 else line_end, note)
        return self.source.span(start.index, end.index, note)

    def line_span(self, note: str = "") -> Span:
        """From this node to the end of its line: for a key, the whole `key: value`."""
        if self.raw is None:
            return self.span(note)
        start = self.raw.start_mark.index
        line_end = self.source.text.find("\n", start)
        text = self.source.text[start : None if line_end < 0 else line_end]
        return self.source.span(start, start + len(text.rstrip()), note)


def documents(source: Source) -> tuple[Node, ...]:
    """The documents of a YAML (or JSON) text. Raises UnreadableYamlError."""
    found, problem = _composed(source, source.text)
    if problem is not None:
        raise problem
    return found


def readable_documents(source: Source) -> tuple[tuple[Node, ...], UnreadableYamlError | None]:
    """The documents of a text that can be read, and what is wrong with the first that cannot.

    A document is as separate from its neighbours as a file is: what ends in `---` or begins with it is read without
    the broken one.
    """
    text, first = source.text, None
    for _ in range(MAX_BROKEN):
        found, problem = _composed(source, text)
        first = first or problem
        if problem is None or found:
            return found, first
        rest = _without_document(text, problem.index)
        if rest is None:
            break
        text = rest
    return (), first


def _without_document(text: str, index: int | None) -> str | None:
    """The text with blanks for the document in which reading stopped; None if there is no other."""
    if index is None:
        return None
    starts = [0, *(m.start() for m in _DOCUMENT_START.finditer(text)), len(text)]
    # A document that is not complete is noticed at the start of the next one.
    end = next((start for start in starts[1:] if start >= index), len(text))
    start = starts[starts.index(end, 1) - 1]
    rest = text[:start] + _VISIBLE.sub(lambda line: " " * len(line[0]), text[start:end]) + text[end:]
    return rest if rest != text and not rest.isspace() else None


def _composed(source: Source, text: str) -> tuple[tuple[Node, ...], UnreadableYamlError | None]:
    """The documents of `text`, which has the positions of the source's. With a problem there are none, or the others
    where one document is over budget."""
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        composed = list(yaml.compose_all(_without_surrogates(text), Loader=loader))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        return (), _problem(source, error.problem or "not YAML", mark.index if mark else None)
    except yaml.reader.ReaderError as error:
        return (), _problem(
            source, f"not YAML: {error.reason}", error.position if isinstance(error.position, int) else None
        )
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        return (), _problem(source, f"not YAML: {str(error).splitlines()[0]}", None)
    found: list[Node] = []
    problem = None
    for node in (Node(source, raw) for raw in composed if raw is not None):
        try:
            (_check_aliases if "*" in text else _check_depth)(node)
            found.append(node)
        except UnreadableYamlError as error:
            problem = problem or error
    return tuple(found), problem


def _problem(source: Source, message: str, index: int | None) -> UnreadableYamlError:
    place = source.place(index or 0)
    return UnreadableYamlError(message, Span(source.path, *place, *place), index)


def _without_surrogates(text: str) -> str:
    """JSON writes a character beyond U+FFFF as two escapes, each of which YAML refuses. They become U+FFFD, which takes
    the same room, so that positions stay."""
    if "\\u" not in text or _JSON.match(text) is None:
        return text
    return _ESCAPE.sub(lambda escape: "\\ufffd" if _SURROGATE.match(escape[0]) else escape[0], text)


def _check_depth(document: Node) -> None:
    """Raise UnreadableYamlError if a document without aliases goes deeper than DEPTH_BUDGET."""
    level = [document.raw]
    for _ in range(DEPTH_BUDGET + 1):
        level = [part for raw in level for part in _children(raw) if type(part.value) is list]
        if not level:
            return
    raise UnreadableYamlError("nested too deeply", Node(document.source, level[0]).span())


def _check_aliases(document: Node) -> None:
    """Raise UnreadableYamlError if walking the document with aliases expanded would visit NODE_BUDGET nodes more than
    are written, or go deeper than DEPTH_BUDGET, or if a node contains itself."""
    size: dict[int, int] = {}
    depth: dict[int, int] = {}
    inside: set[int] = set()
    stack: list[tuple[Any, bool]] = [(document.raw, False)]
    written = 0
    while stack:
        raw, leaving = stack.pop()
        children = _children(raw)
        if leaving:
            inside.discard(id(raw))
            size[id(raw)] = 1 + sum(size[id(c)] for c in children)
            depth[id(raw)] = 1 + max((depth[id(c)] for c in children), default=-1)
            if size[id(raw)] > written + NODE_BUDGET:
                raise UnreadableYamlError("aliases expand to too many nodes", Node(document.source, raw).span())
            if depth[id(raw)] > DEPTH_BUDGET:
                raise UnreadableYamlError("nested too deeply", Node(document.source, raw).span())
            continue
        if id(raw) in inside:
            raise UnreadableYamlError("an alias refers to a node that contains it", Node(document.source, raw).span())
        if id(raw) in size:
            continue
        written += 1
        inside.add(id(raw))
        stack.append((raw, True))
        stack.extend((c, False) for c in children)


def _children(raw: Any) -> list[Any]:
    if raw.id == "mapping":
        return [part for pair in raw.value for part in pair]
    return raw.value if raw.id == "sequence" else []
