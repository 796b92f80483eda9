"""A small form of Python that the abstract interpreter runs on.

Every node keeps the libcst node that it came from (`cst`), so that a place can be computed when, and only when, it is
cited. Nodes compare by identity: a node *is* a place in the source.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(eq=False)
class Node:
    """A piece of the program and where it came from."""

    cst: Any = field(repr=False)


# -- expressions ---------------------------------------------------------------------------------------------------


@dataclass(eq=False)
class Expression(Node):
    """Something that has a value."""


@dataclass(eq=False)
class Constant(Expression):
    """A literal, or one of the names that are literals (None, True, Ellipsis)."""

    value: Any


@dataclass(eq=False)
class Name(Expression):
    """A name that is read."""

    id: str


@dataclass(eq=False)
class Attribute(Expression):
    """`value.name`."""

    value: Expression
    name: str


@dataclass(eq=False)
class Subscript(Expression):
    """`value[index]`; the index is a Slice for `value[a:b]`."""

    value: Expression
    index: Expression


@dataclass(eq=False)
class Slice(Expression):
    """`lower:upper:step` of a subscript."""

    lower: Expression | None
    upper: Expression | None
    step: Expression | None


@dataclass(eq=False)
class Argument(Node):
    """One argument of a call: `star` is "", "*" or "**"."""

    value: Expression
    keyword: str | None
    star: str = ""


@dataclass(eq=False)
class Call(Expression):
    """`function(arguments)`."""

    function: Expression
    arguments: tuple[Argument, ...]


@dataclass(eq=False)
class Binary(Expression):
    """`left operator right`, the operator as it is written."""

    operator: str
    left: Expression
    right: Expression


@dataclass(eq=False)
class Compare(Expression):
    """A chain of comparisons."""

    left: Expression
    rest: tuple[tuple[str, Expression], ...]


@dataclass(eq=False)
class Logical(Expression):
    """`left and right`, `left or right`."""

    operator: str
    left: Expression
    right: Expression


@dataclass(eq=False)
class Unary(Expression):
    """`not x`, `-x`."""

    operator: str
    operand: Expression


@dataclass(eq=False)
class Conditional(Expression):
    """`body if test else orelse`."""

    test: Expression
    body: Expression
    orelse: Expression


@dataclass(eq=False)
class Format(Expression):
    """An f-string or implicit concatenation: constant text and expressions in turn."""

    parts: tuple[Expression, ...]


@dataclass(eq=False)
class Display(Expression):
    """A tuple, list or set display."""

    kind: str
    items: tuple[Expression, ...]


@dataclass(eq=False)
class Starred(Expression):
    """`*value` in a display or target."""

    value: Expression


@dataclass(eq=False)
class DictDisplay(Expression):
    """A dict display; a key of None is `**value`."""

    items: tuple[tuple[Expression | None, Expression], ...]


@dataclass(eq=False)
class Clause(Node):
    """`for target in iterable if conditions` of a comprehension."""

    target: Expression
    iterable: Expression
    conditions: tuple[Expression, ...]


@dataclass(eq=False)
class Comprehension(Expression):
    """A comprehension; `kind` is list, set, dict or generator, `key` only for dict."""

    kind: str
    element: Expression
    key: Expression | None
    clauses: tuple[Clause, ...]


@dataclass(eq=False)
class Lambda(Expression):
    """A lambda."""

    parameters: tuple[Parameter, ...]
    body: Expression


@dataclass(eq=False)
class Yield(Expression):
    """`yield value`; `delegates` for `yield from`."""

    value: Expression | None
    delegates: bool


@dataclass(eq=False)
class Await(Expression):
    """`await value`."""

    value: Expression


@dataclass(eq=False)
class Walrus(Expression):
    """`(target := value)`."""

    target: Expression
    value: Expression


# -- statements ----------------------------------------------------------------------------------------------------


@dataclass(eq=False)
class Statement(Node):
    """Something that is done."""


@dataclass(eq=False)
class Evaluate(Statement):
    """An expression for its effect."""

    value: Expression


@dataclass(eq=False)
class Assign(Statement):
    """`targets = value`; `annotation` for an annotated one, whose value may be None."""

    targets: tuple[Expression, ...]
    value: Expression | None
    annotation: Expression | None = None


@dataclass(eq=False)
class Augment(Statement):
    """`target operator= value`."""

    target: Expression
    operator: str
    value: Expression


@dataclass(eq=False)
class Return(Statement):
    """`return value`."""

    value: Expression | None


@dataclass(eq=False)
class Raise(Statement):
    """`raise exception`."""

    exception: Expression | None


@dataclass(eq=False)
class Assert(Statement):
    """`assert test`."""

    test: Expression


@dataclass(eq=False)
class If(Statement):
    """`if test: body else: orelse`."""

    test: Expression
    body: tuple[Statement, ...]
    orelse: tuple[Statement, ...]


@dataclass(eq=False)
class While(Statement):
    """`while test: body else: orelse`."""

    test: Expression
    body: tuple[Statement, ...]
    orelse: tuple[Statement, ...]


@dataclass(eq=False)
class For(Statement):
    """`for target in iterable: body else: orelse`, asynchronous or not."""

    target: Expression
    iterable: Expression
    body: tuple[Statement, ...]
    orelse: tuple[Statement, ...]


@dataclass(eq=False)
class With(Statement):
    """`with items: body`; an item is (context, target)."""

    items: tuple[tuple[Expression, Expression | None], ...]
    body: tuple[Statement, ...]


@dataclass(eq=False)
class Handler(Node):
    """`except type as name: body`."""

    type: Expression | None
    name: str | None
    body: tuple[Statement, ...]


@dataclass(eq=False)
class Try(Statement):
    """`try: body except ...: else: orelse finally: final`."""

    body: tuple[Statement, ...]
    handlers: tuple[Handler, ...]
    orelse: tuple[Statement, ...]
    final: tuple[Statement, ...]


@dataclass(eq=False)
class Case(Node):
    """`case pattern if guard: body`; `pattern` is the libcst pattern, read by the interpreter."""

    pattern: Any
    guard: Expression | None
    body: tuple[Statement, ...]


@dataclass(eq=False)
class Match(Statement):
    """`match subject: cases`."""

    subject: Expression
    cases: tuple[Case, ...]


@dataclass(eq=False)
class Parameter(Node):
    """A parameter; `kind` is "positional", "keyword", "*" or "**"."""

    name: str
    kind: str
    default: Expression | None
    annotation: Expression | None


@dataclass(eq=False)
class FunctionNode(Statement):
    """A function. The body is lowered when the function is first run."""

    name: str
    parameters: tuple[Parameter, ...]
    decorators: tuple[Expression, ...]
    returns: Expression | None
    _body: tuple[Statement, ...] | None = None
    _names: Names | None = None

    @property
    def asynchronous(self) -> bool:
        """Whether it is an `async def`."""
        return self.cst.asynchronous is not None

    @property
    def body(self) -> tuple[Statement, ...]:
        """The statements."""
        if self._body is None:
            from sselint.read.python.source.lower import lower_body

            self._body = lower_body(self.cst.body)
        return self._body

    @property
    def names(self) -> Names:
        """What the function binds and whether it yields."""
        if self._names is None:
            from sselint.read.python.source.lower import find_names

            self._names = find_names(self.body, tuple(p.name for p in self.parameters))
        return self._names


@dataclass(frozen=True)
class Names:
    """The names that a function binds for itself, and those that it declares to be another scope's."""

    local: frozenset[str]
    global_: frozenset[str]
    nonlocal_: frozenset[str]
    generator: bool


@dataclass(eq=False)
class ClassNode(Statement):
    """A class."""

    name: str
    bases: tuple[Argument, ...]
    decorators: tuple[Expression, ...]
    body: tuple[Statement, ...]


@dataclass(eq=False)
class Import(Statement):
    """`import module as name`; `name` None binds the first part of the dotted name."""

    module: str
    name: str | None


@dataclass(eq=False)
class ImportFrom(Statement):
    """`from module import name as alias`; `level` counts the dots, `name` may be "*"."""

    module: str
    level: int
    name: str
    alias: str


@dataclass(eq=False)
class Declare(Statement):
    """`global names` or `nonlocal names`."""

    kind: str
    names: tuple[str, ...]


@dataclass(eq=False)
class Delete(Statement):
    """`del target`."""

    target: Expression


@dataclass(eq=False)
class Jump(Statement):
    """`break`, `continue` or `pass`."""

    kind: str
