"""What a chart's template prints for given values, line by line traced to the template.

An interpreter of our own, without effects: it reads nothing but the chart's files in the tree. What it does not know is
printed as a marked placeholder, so that the YAML that results says "unknown" there and nothing else. Where a condition
is unknown, every branch is printed and marked as optional.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sselint.facts import Span
from sselint.read.kubernetes.helm import functions
from sselint.read.kubernetes.helm.syntax import (
    Action,
    Command,
    Field,
    Literal,
    Node,
    Operand,
    Pipeline,
    Template,
    TemplateError,
    Text,
    parse,
)
from sselint.read.kubernetes.helm.values import Places, Unknown
from sselint.read.yaml_nodes import Node as YamlNode
from sselint.source import Source
from sselint.unwrap.tags import Role, Tag
from sselint.unwrap.yaml_shape import shaped

STEP_BUDGET = 200_000
"""Nodes that one file may evaluate."""

OUTPUT_BUDGET = 2_000_000
"""Characters that one file may print."""

MADE_BUDGET = 20_000_000
"""Characters and items that the functions of one file may make, printed or not: a text that is put behind itself again
and again takes few steps."""

DEPTH_BUDGET = 60
"""Templates that include each other."""

BEGIN, END = functions.BEGIN, functions.END
MAYBE, SURELY = "\ue002", "\ue003"
"""Around text that an unknown condition decides."""

_MARKS = re.compile(f"[{BEGIN}{END}{MAYBE}{SURELY}]")


@dataclass(frozen=True)
class RenderedSource(Source):
    """What a template prints. `values` are the places in values files that line i of the text was made of."""

    values: tuple[tuple[Span, ...], ...] = ()


@dataclass(frozen=True)
class Segment:
    """A piece of output: `start` is the offset in the file of its first character, or of the tag that printed it."""

    text: str
    start: int
    computed: bool = False
    values: tuple[Span, ...] = ()


@dataclass
class Scope:
    """The dot and the variables, blocks innermost last."""

    dot: Any
    blocks: list[dict[str, Any]]

    def inner(self, dot: Any) -> Scope:
        """The scope of a block."""
        return Scope(dot, [*self.blocks, {}])

    def get(self, name: str) -> Any:
        """A variable's value."""
        return next((b[name] for b in reversed(self.blocks) if name in b), Unknown(name or "root"))

    def put(self, name: str, value: Any, *, declare: bool) -> None:
        """Set a variable: a new one of this block, or the one that there is."""
        block = self.blocks[-1]
        if not declare:
            block = next((b for b in reversed(self.blocks) if name in b), block)
        block[name] = value


class _Stop(Exception):  # noqa: N818 - control flow of the template, not an error
    """break or continue."""


@dataclass
class Renderer:
    """Prints a chart's templates. `defined` are the named templates of the release, `files` gives the chart's files."""

    root: Mapping[str, Any]
    defined: Mapping[str, tuple[Node, ...]]
    files: Callable[[str], str | None]
    places: Places
    _steps: int = 0
    _size: int = 0
    _made: int = 0
    _depth: int = 0
    _used: list[Span] = field(default_factory=list)

    def render(self, template: Template, source: Source) -> RenderedSource:
        """The output of a file. Raises TemplateError over budget."""
        self._steps = self._size = self._made = 0
        scope = Scope(self.root, [{"": self.root}])
        try:
            return _assembled(list(self._nodes(template.body, scope)), source)
        except _Stop as stop:
            raise TemplateError(f"{stop} outside a range") from stop

    # -- actions -------------------------------------------------------------------------------------------------------

    def _nodes(self, nodes: Sequence[Node], scope: Scope) -> Iterator[Segment]:
        for node in nodes:
            self._step()
            if isinstance(node, Text):
                yield self._sized(Segment(node.text, node.start))
            else:
                yield from self._action(node, scope)

    def _step(self) -> None:
        self._steps += 1
        if self._steps > STEP_BUDGET:
            raise TemplateError("the template takes too many steps")

    def _sized(self, segment: Segment) -> Segment:
        self._size += len(segment.text)
        if self._size > OUTPUT_BUDGET:
            raise TemplateError("the template prints too much")
        return segment

    def _action(self, action: Action, scope: Scope) -> Iterator[Segment]:
        if action.kind == "output" and action.pipeline:
            before = len(self._used)
            printed = functions.text(self._pipeline(action.pipeline, scope))
            used = tuple(dict.fromkeys(self._used[before:]))
            yield self._sized(Segment(printed, action.start, True, used))
        elif action.kind == "assign" and action.pipeline:
            value = self._pipeline(action.pipeline, scope)
            scope.put(action.names[-1], value, declare=action.name != "=")
        elif action.kind == "template":
            dot = self._pipeline(action.pipeline, scope) if action.pipeline else None
            yield self._sized(Segment(self._include(action.name, dot), action.start, True))
        elif action.kind == "range":
            yield from self._range(action, scope)
        elif action.kind in ("if", "with"):
            yield from self._choice(action, scope)
        elif action.kind in ("break", "continue"):
            raise _Stop(action.kind)

    def _choice(self, action: Action, scope: Scope) -> Iterator[Segment]:
        """if and with: the first branch that is true; every branch from the first unknown one on."""
        doubtful = False
        for condition, body in action.branches:
            value = True if condition is None else self._pipeline(condition, scope)
            truth = functions.is_true(value)
            if truth is False:
                continue
            dot = value if action.kind == "with" and condition is not None else scope.dot
            inner = scope.inner(dot)
            if action.names and condition is not None:
                inner.put(action.names[-1], value, declare=True)
            doubtful = doubtful or truth is None
            yield from self._maybe(self._nodes(body, inner), doubtful)
            if truth is True:
                return

    def _maybe(self, segments: Iterator[Segment], doubtful: bool) -> Iterator[Segment]:
        if doubtful:
            yield Segment(MAYBE, 0, True)
        yield from segments
        if doubtful:
            yield Segment(SURELY, 0, True)

    def _range(self, action: Action, scope: Scope) -> Iterator[Segment]:
        pipeline, body = action.branches[0]
        container = self._pipeline(pipeline, scope) if pipeline else None
        if isinstance(container, Unknown):
            inner = scope.inner(container)
            for name in action.names:
                inner.put(name, container, declare=True)
            yield from self._maybe(self._nodes(body, inner), True)
            return
        pairs = list(_pairs(container))
        for key, value in pairs:
            inner = scope.inner(value)
            for name, item in zip(reversed(action.names), (value, key), strict=False):
                inner.put(name, item, declare=True)
            try:
                yield from self._nodes(body, inner)
            except _Stop as stop:
                if str(stop) == "break":
                    break
        if not pairs and len(action.branches) > 1:
            yield from self._nodes(action.branches[1][1], scope.inner(scope.dot))

    # -- values --------------------------------------------------------------------------------------------------------

    def _pipeline(self, pipeline: Pipeline, scope: Scope) -> Any:
        value: tuple[Any, ...] = ()
        for command in pipeline.commands:
            value = (self._command(command, scope, value),)
        return value[0]

    def _command(self, command: Command, scope: Scope, piped: tuple[Any, ...]) -> Any:
        self._step()
        if command.name is None:
            first, *rest = command.arguments
            if rest or piped:
                return self._method(first, [*(self._operand(a, scope) for a in rest), *piped], scope)
            return self._operand(first, scope)
        arguments = [*(self._operand(a, scope) for a in command.arguments), *piped]
        return self._call(command.name, arguments)

    def _call(self, name: str, arguments: Sequence[Any]) -> Any:
        if name == "include" and len(arguments) > 1:
            known = isinstance(arguments[0], str) and arguments[0] in self.defined
            return self._include(arguments[0], arguments[1]) if known else Unknown(f"include-{arguments[0]}")
        if name == "tpl" and len(arguments) > 1:
            return self._tpl(arguments[0], arguments[1])
        if name == "fail":
            raise TemplateError(
                f"the template refuses these values: {functions.text(arguments[0] if arguments else '')}"
            )
        made = functions.call(name, arguments)
        self._made += len(made) if isinstance(made, str | list | dict) else 1
        if self._made > MADE_BUDGET:
            raise TemplateError("the template makes too much")
        return made

    def _operand(self, operand: Operand, scope: Scope) -> Any:
        if isinstance(operand, Literal):
            return operand.value
        if isinstance(operand, Pipeline):
            return self._pipeline(operand, scope)
        if isinstance(operand, Command):
            return self._call(operand.name or "", ())
        return self._field(operand, scope)

    def _field(self, operand: Field, scope: Scope) -> Any:
        value: Any
        if operand.base is None:
            value = scope.dot
        elif isinstance(operand.base, str):
            value = scope.get(operand.base)
        else:
            value = self._pipeline(operand.base, scope)
        for part in operand.path:
            if isinstance(value, Unknown):
                return Unknown(f"{value.name}.{part}")
            if not isinstance(value, dict):
                return None
            span = self.places.of(value).get(part)
            if span is not None and not isinstance(value.get(part), dict):
                self._used.append(span)
            value = value.get(part)
        return value

    def _method(self, operand: Operand, arguments: Sequence[Any], scope: Scope) -> Any:
        """`.Files.Get "name"` and `.Capabilities.APIVersions.Has "group/version"`; other methods are unknown."""
        path = operand.path if isinstance(operand, Field) else ()
        name = arguments[0] if arguments and isinstance(arguments[0], str) else ""
        if path[-2:] == ("Files", "Get"):
            found = self.files(name)
            return found if found is not None else Unknown("file")
        if path[-2:] == ("APIVersions", "Has") and re.match(
            r"(?:networking\.k8s\.io/v1|autoscaling/v2|apps/v1)$", name
        ):
            return True
        return Unknown(".".join(path[-2:]) or "method")

    # -- templates in templates ----------------------------------------------------------------------------------------

    def _include(self, name: str, dot: Any) -> str:
        body = self.defined.get(name)
        if body is None:
            return functions.text(Unknown(f"template-{name}"))
        return self._printed(body, dot)

    def _tpl(self, text: Any, dot: Any) -> Any:
        if not isinstance(text, str) or "{{" not in text:
            return text
        return self._printed(parse(text).body, dot)

    def _printed(self, body: Sequence[Node], dot: Any) -> str:
        if self._depth >= DEPTH_BUDGET:
            raise TemplateError("templates include each other too deeply")
        self._depth += 1
        try:
            return "".join(s.text for s in self._nodes(body, Scope(dot, [{"": dot}])))
        finally:
            self._depth -= 1


def _pairs(container: Any) -> Iterator[tuple[Any, Any]]:
    if isinstance(container, dict):
        yield from sorted(container.items(), key=lambda pair: str(pair[0]))
    elif isinstance(container, list):
        yield from enumerate(container)
    elif isinstance(container, int) and not isinstance(container, bool):
        yield from ((n, n) for n in range(min(container, 1000)))


# -- from segments to a source -----------------------------------------------------------------------------------------


def _assembled(segments: Sequence[Segment], source: Source) -> RenderedSource:
    """The output as a source whose lines point to the template's."""
    marked = "".join(s.text for s in segments)
    origin, values = _origins(segments, source)
    text, masked, optional = _unmarked(marked)
    lone = [Tag(a, b, Role.OUTPUT, "") for a, b in masked if _fills_its_line(text, a, b)]
    named = text
    text, written = shaped(text, lone)
    doubtful = [(a, b) for a, b in optional if not re.search(r"^(?:kind|apiVersion):", text[a:b], re.MULTILINE)]
    return RenderedSource(
        **{name: getattr(source, name) for name in ("path", "kind", "unit")},
        text=text,
        origin=tuple(origin),
        masked=tuple(sorted({*masked, *written, *doubtful})),
        optional=tuple(optional),
        original=named,
        values=tuple(values),
    )


def _origins(segments: Sequence[Segment], source: Source) -> tuple[list[tuple[int, int]], list[tuple[Span, ...]]]:
    """For each line of the output its place in the template (line, column shift), and the values it was made of."""
    origin: list[tuple[int, int]] = []
    values: list[tuple[Span, ...]] = []
    place: tuple[int, int] | None = None
    settled = False
    used: list[Span] = []
    column = 0
    for segment in segments:
        lines = segment.text.split("\n")
        offset = segment.start
        for number, line in enumerate(lines):
            if number:
                origin.append(place or (0, 0))
                values.append(tuple(used))
                place, settled, used, column = None, False, [], 0
            visible = bool(_MARKS.sub("", line).strip())
            if place is None or (visible and not settled):
                file_line, file_column = _place(source, offset)
                place, settled = (file_line, max(file_column - column, -column)), visible
            if visible and segment.values:
                used.extend(segment.values)
            column += len(_MARKS.sub("", line))
            if not segment.computed:
                offset += len(line) + 1
    origin.append(place or (0, 0))
    values.append(tuple(used))
    return origin, values


def _place(source: Source, offset: int) -> tuple[int, int]:
    line = bisect_right(source.line_starts, offset) - 1
    return line, offset - source.line_starts[line]


def _unmarked(marked: str) -> tuple[str, list[tuple[int, int]], list[tuple[int, int]]]:
    """The text with placeholders as words, where they are, and what is optional."""
    parts: list[str] = []
    masked: list[tuple[int, int]] = []
    optional: list[tuple[int, int]] = []
    begun: int | None = None
    open_: list[int] = []
    position = length = 0
    for match in _MARKS.finditer(marked):
        piece = marked[position : match.start()]
        parts.append(piece)
        length += len(piece)
        position = match.end()
        if match[0] == BEGIN:
            begun = length if begun is None else begun
            parts.append("_")
            length += 1
        elif match[0] == END:
            parts.append("_")
            length += 1
            masked.append((length - 1 if begun is None else begun, length))
            begun = None
        elif match[0] == MAYBE:
            open_.append(length)
        elif open_:
            start = open_.pop()
            if not open_ and start < length:
                optional.append((start, length))
    parts.append(marked[position:])
    length += len(parts[-1])
    if begun is not None:
        masked.append((begun, length))
    return "".join(parts), masked, optional


def _fills_its_line(text: str, start: int, end: int) -> bool:
    before = text.rfind("\n", 0, start) + 1
    after = text.find("\n", end)
    return not text[before:start].strip() and not text[end : len(text) if after < 0 else after].strip()


def values_behind(node: YamlNode) -> tuple[Span, ...]:
    """The places in values files that made the line on which a node begins; empty for what no chart printed."""
    source = node.source
    line = node.raw.start_mark.line if node.raw is not None else 0
    return source.values[line] if isinstance(source, RenderedSource) and line < len(source.values) else ()


__all__ = ["RenderedSource", "Renderer", "values_behind"]
