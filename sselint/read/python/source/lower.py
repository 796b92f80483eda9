"""libcst to the small form of `ir`. libcst is imported only in `parse`; all else goes by the nodes' type names."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from sselint.read.python.source import ir

BINARY = {
    "Add": "+", "Subtract": "-", "Multiply": "*", "Divide": "/", "FloorDivide": "//", "Modulo": "%", "Power": "**",
    "BitOr": "|", "BitAnd": "&", "BitXor": "^", "LeftShift": "<<", "RightShift": ">>", "MatrixMultiply": "@",
}  # fmt: skip
COMPARE = {
    "Equal": "==", "NotEqual": "!=", "LessThan": "<", "LessThanEqual": "<=", "GreaterThan": ">",
    "GreaterThanEqual": ">=", "In": "in", "NotIn": "not in", "Is": "is", "IsNot": "is not",
}  # fmt: skip
LITERALS = {"None": None, "True": True, "False": False}


class SyntaxTrouble(Exception):  # noqa: N818 - a signal, not an error
    """A file that is not Python: `line` and `column` from 1, and the parser's words."""

    def __init__(self, line: int, column: int, why: str) -> None:
        super().__init__(why)
        self.line = line
        self.column = column
        self.why = why


def parse(text: str) -> Any:
    """The libcst module of `text`. Raises SyntaxTrouble."""
    import libcst

    try:
        return libcst.parse_module(text)
    except libcst.ParserSyntaxError as error:
        raise SyntaxTrouble(error.raw_line, error.raw_column + 1, " ".join(error.message.split())) from error


def lower_module(module: Any) -> tuple[ir.Statement, ...]:
    """The statements of a module; function bodies are lowered when they are first run."""
    return tuple(_statements(module.body))


def lower_body(body: Any) -> tuple[ir.Statement, ...]:
    """The statements of an indented block or a one-line suite."""
    return tuple(_statements(body.body))


def _statements(nodes: Any) -> Iterator[ir.Statement]:
    for node in nodes:
        if type(node).__name__ == "SimpleStatementLine":
            for small in node.body:
                yield from _small(small)
        elif type(node).__name__ in COMPOUND:
            yield COMPOUND[type(node).__name__](node)
        else:  # a one-line suite holds small statements directly
            yield from _small(node)


def _small(node: Any) -> Iterator[ir.Statement]:
    kind = type(node).__name__
    if kind == "Expr":
        yield ir.Evaluate(node, expression(node.value))
    elif kind == "Assign":
        yield ir.Assign(node, tuple(expression(t.target) for t in node.targets), expression(node.value))
    elif kind == "AnnAssign":
        value = expression(node.value) if node.value is not None else None
        yield ir.Assign(node, (expression(node.target),), value, expression(node.annotation.annotation))
    elif kind == "AugAssign":
        operator = BINARY.get(type(node.operator).__name__.removesuffix("Assign"), "?")
        yield ir.Augment(node, expression(node.target), operator, expression(node.value))
    elif kind == "Return":
        yield ir.Return(node, _maybe(node.value))
    elif kind == "Raise":
        yield ir.Raise(node, _maybe(node.exc))
    elif kind == "Assert":
        yield ir.Assert(node, expression(node.test))
    elif kind in ("Pass", "Break", "Continue"):
        yield ir.Jump(node, kind.lower())
    elif kind in ("Global", "Nonlocal"):
        yield ir.Declare(node, kind.lower(), tuple(item.name.value for item in node.names))
    elif kind == "Del":
        several = type(node.target).__name__ == "Tuple"
        for target in [e.value for e in node.target.elements] if several else [node.target]:
            yield ir.Delete(node, expression(target))
    elif kind == "Import":
        for item in node.names:
            yield ir.Import(node, dotted(item.name), item.asname.name.value if item.asname else None)
    elif kind == "ImportFrom":
        yield from _import_from(node)


def _import_from(node: Any) -> Iterator[ir.Statement]:
    module = dotted(node.module) if node.module is not None else ""
    level = len(node.relative)
    if type(node.names).__name__ == "ImportStar":
        yield ir.ImportFrom(node, module, level, "*", "*")
        return
    for item in node.names:
        name = dotted(item.name)
        yield ir.ImportFrom(node, module, level, name, item.asname.name.value if item.asname else name)


def dotted(node: Any) -> str:
    """The dotted name that a Name or Attribute spells."""
    parts: list[str] = []
    while type(node).__name__ == "Attribute":
        parts.append(node.attr.value)
        node = node.value
    parts.append(getattr(node, "value", "?"))
    return ".".join(reversed(parts))


def _maybe(node: Any) -> ir.Expression | None:
    return expression(node) if node is not None else None


def _if(node: Any) -> ir.Statement:
    orelse: tuple[ir.Statement, ...] = ()
    if node.orelse is not None:
        orelse = (_if(node.orelse),) if type(node.orelse).__name__ == "If" else lower_body(node.orelse.body)
    return ir.If(node, expression(node.test), lower_body(node.body), orelse)


def _else(node: Any) -> tuple[ir.Statement, ...]:
    return lower_body(node.orelse.body) if node.orelse is not None else ()


def _with(node: Any) -> ir.Statement:
    items = tuple(
        (expression(item.item), expression(item.asname.name) if item.asname is not None else None)
        for item in node.items
    )
    return ir.With(node, items, lower_body(node.body))


def _try(node: Any) -> ir.Statement:
    handlers = tuple(
        ir.Handler(h, _maybe(h.type), h.name.name.value if h.name is not None else None, lower_body(h.body))
        for h in node.handlers
    )
    final = lower_body(node.finalbody.body) if node.finalbody is not None else ()
    return ir.Try(node, lower_body(node.body), handlers, _else(node), final)


def _match(node: Any) -> ir.Statement:
    cases = tuple(ir.Case(c, c.pattern, _maybe(c.guard), lower_body(c.body)) for c in node.cases)
    return ir.Match(node, expression(node.subject), cases)


def _function(node: Any) -> ir.Statement:
    return ir.FunctionNode(
        node,
        node.name.value,
        parameters(node.params),
        tuple(expression(d.decorator) for d in node.decorators),
        expression(node.returns.annotation) if node.returns is not None else None,
    )


def _class(node: Any) -> ir.Statement:
    return ir.ClassNode(
        node,
        node.name.value,
        tuple(_argument(a) for a in (*node.bases, *node.keywords)),
        tuple(expression(d.decorator) for d in node.decorators),
        lower_body(node.body),
    )


COMPOUND: dict[str, Callable[[Any], ir.Statement]] = {
    "If": _if,
    "While": lambda n: ir.While(n, expression(n.test), lower_body(n.body), _else(n)),
    "For": lambda n: ir.For(n, expression(n.target), expression(n.iter), lower_body(n.body), _else(n)),
    "With": _with,
    "Try": _try,
    "TryStar": _try,
    "Match": _match,
    "FunctionDef": _function,
    "ClassDef": _class,
}


def parameters(node: Any) -> tuple[ir.Parameter, ...]:
    """The parameters of a function or lambda, in the order in which they are written."""
    found = [_parameter(p, "positional") for p in (*node.posonly_params, *node.params)]
    if type(node.star_arg).__name__ == "Param":
        found.append(_parameter(node.star_arg, "*"))
    found.extend(_parameter(p, "keyword") for p in node.kwonly_params)
    if node.star_kwarg is not None:
        found.append(_parameter(node.star_kwarg, "**"))
    return tuple(found)


def _parameter(node: Any, kind: str) -> ir.Parameter:
    annotation = expression(node.annotation.annotation) if node.annotation is not None else None
    return ir.Parameter(node, node.name.value, kind, _maybe(node.default), annotation)


# -- expressions ---------------------------------------------------------------------------------------------------


def expression(node: Any) -> ir.Expression:
    """The small form of a libcst expression; what it does not know becomes an empty tuple display named "?"."""
    handler = EXPRESSIONS.get(type(node).__name__)
    return handler(node) if handler is not None else ir.Display(node, "?", ())


def _argument(node: Any) -> ir.Argument:
    keyword = node.keyword.value if node.keyword is not None else None
    return ir.Argument(node, expression(node.value), keyword, node.star)


def _name(node: Any) -> ir.Expression:
    if node.value in LITERALS:
        return ir.Constant(node, LITERALS[node.value])
    return ir.Name(node, node.value)


def _literal(node: Any) -> ir.Expression:
    try:
        return ir.Constant(node, ast.literal_eval(node.value))
    except (ValueError, SyntaxError):
        return ir.Display(node, "?", ())


def _concatenated(node: Any) -> ir.Expression:
    return ir.Format(node, tuple(_format_parts(node)))


def _format_parts(node: Any) -> Iterator[ir.Expression]:
    kind = type(node).__name__
    if kind == "ConcatenatedString":
        yield from _format_parts(node.left)
        yield from _format_parts(node.right)
    elif kind == "FormattedString":
        raw = "r" in node.prefix.lower()
        for part in node.parts:
            if type(part).__name__ == "FormattedStringText":
                yield ir.Constant(part, _unescape(part.value, raw))
            else:
                yield expression(part.expression)
    else:
        yield expression(node)


def _unescape(text: str, raw: bool) -> str:
    text = text.replace("{{", "{").replace("}}", "}")
    if raw or "\\" not in text:
        return text
    try:
        value = ast.literal_eval('"""' + text.replace('"', '\\"') + '"""')
    except (ValueError, SyntaxError):
        return text
    return value if isinstance(value, str) else text


def _subscript(node: Any) -> ir.Expression:
    items: list[ir.Expression] = []
    for element in node.slice:
        inner = element.slice
        if type(inner).__name__ == "Slice":
            items.append(ir.Slice(inner, _maybe(inner.lower), _maybe(inner.upper), _maybe(inner.step)))
        else:
            items.append(expression(inner.value))
    index = items[0] if len(items) == 1 else ir.Display(node, "tuple", tuple(items))
    return ir.Subscript(node, expression(node.value), index)


def _compare(node: Any) -> ir.Expression:
    rest = tuple((COMPARE.get(type(t.operator).__name__, "?"), expression(t.comparator)) for t in node.comparisons)
    return ir.Compare(node, expression(node.left), rest)


def _display(kind: str) -> Callable[[Any], ir.Expression]:
    def lower(node: Any) -> ir.Expression:
        items = tuple(
            ir.Starred(e, expression(e.value)) if type(e).__name__ == "StarredElement" else expression(e.value)
            for e in node.elements
        )
        return ir.Display(node, kind, items)

    return lower


def _dict(node: Any) -> ir.Expression:
    items: list[tuple[ir.Expression | None, ir.Expression]] = []
    for element in node.elements:
        key = expression(element.key) if type(element).__name__ == "DictElement" else None
        items.append((key, expression(element.value)))
    return ir.DictDisplay(node, tuple(items))


def _comprehension(kind: str) -> Callable[[Any], ir.Expression]:
    def lower(node: Any) -> ir.Expression:
        clauses = []
        clause = node.for_in
        while clause is not None:
            conditions = tuple(expression(c.test) for c in clause.ifs)
            clauses.append(ir.Clause(clause, expression(clause.target), expression(clause.iter), conditions))
            clause = clause.inner_for_in
        if kind == "dict":
            return ir.Comprehension(node, kind, expression(node.value), expression(node.key), tuple(clauses))
        return ir.Comprehension(node, kind, expression(node.elt), None, tuple(clauses))

    return lower


def _boolean(node: Any) -> ir.Expression:
    operator = "and" if type(node.operator).__name__ == "And" else "or"
    return ir.Logical(node, operator, expression(node.left), expression(node.right))


def _unary(node: Any) -> ir.Expression:
    operator = {"Not": "not", "Minus": "-", "Plus": "+", "BitInvert": "~"}.get(type(node.operator).__name__, "?")
    operand = expression(node.expression)
    if operator == "-" and isinstance(operand, ir.Constant) and isinstance(operand.value, int | float):
        return ir.Constant(node, -operand.value)
    return ir.Unary(node, operator, operand)


def _binary(node: Any) -> ir.Expression:
    return ir.Binary(node, BINARY.get(type(node.operator).__name__, "?"), expression(node.left), expression(node.right))


def _yield(node: Any) -> ir.Expression:
    if type(node.value).__name__ == "From":
        return ir.Yield(node, expression(node.value.item), True)
    return ir.Yield(node, _maybe(node.value), False)


EXPRESSIONS: dict[str, Callable[[Any], ir.Expression]] = {
    "Name": _name,
    "Integer": _literal,
    "Float": _literal,
    "Imaginary": _literal,
    "SimpleString": _literal,
    "Ellipsis": lambda n: ir.Constant(n, ...),
    "FormattedString": _concatenated,
    "ConcatenatedString": _concatenated,
    "Attribute": lambda n: ir.Attribute(n, expression(n.value), n.attr.value),
    "Subscript": _subscript,
    "Call": lambda n: ir.Call(n, expression(n.func), tuple(_argument(a) for a in n.args)),
    "Comparison": _compare,
    "BinaryOperation": _binary,
    "BooleanOperation": _boolean,
    "UnaryOperation": _unary,
    "IfExp": lambda n: ir.Conditional(n, expression(n.test), expression(n.body), expression(n.orelse)),
    "Tuple": _display("tuple"),
    "List": _display("list"),
    "Set": _display("set"),
    "Dict": _dict,
    "ListComp": _comprehension("list"),
    "SetComp": _comprehension("set"),
    "DictComp": _comprehension("dict"),
    "GeneratorExp": _comprehension("generator"),
    "Lambda": lambda n: ir.Lambda(n, parameters(n.params), expression(n.body)),
    "Await": lambda n: ir.Await(n, expression(n.expression)),
    "Yield": _yield,
    "NamedExpr": lambda n: ir.Walrus(n, expression(n.target), expression(n.value)),
    "StarredElement": lambda n: ir.Starred(n, expression(n.value)),
}


# -- scopes --------------------------------------------------------------------------------------------------------


def find_names(body: tuple[ir.Statement, ...], parameter_names: tuple[str, ...]) -> ir.Names:
    """The names that a function with this body and these parameters binds, and whether it is a generator."""
    local: set[str] = set(parameter_names)
    declared: dict[str, set[str]] = {"global": set(), "nonlocal": set()}
    generator = False
    stack: list[Any] = list(body)
    while stack:
        node = stack.pop()
        if isinstance(node, ir.FunctionNode | ir.ClassNode):
            local.add(node.name)
            continue
        if isinstance(node, ir.Lambda):
            continue
        generator = generator or isinstance(node, ir.Yield)
        if isinstance(node, ir.Assign):
            for target in node.targets:
                _bind(target, local)
        elif isinstance(node, ir.Augment | ir.For | ir.Walrus):
            _bind(node.target, local)
        elif isinstance(node, ir.With):
            for _, item in node.items:
                _bind(item, local)
        elif isinstance(node, ir.Handler) and node.name:
            local.add(node.name)
        elif isinstance(node, ir.Import):
            local.add(node.name or node.module.partition(".")[0])
        elif isinstance(node, ir.ImportFrom):
            local.add(node.alias)
        elif isinstance(node, ir.Declare):
            declared[node.kind].update(node.names)
        elif isinstance(node, ir.Case):
            local.update(_captures(node.pattern))
        stack.extend(children(node))
    outer = declared["global"] | declared["nonlocal"]
    return ir.Names(frozenset(local - outer), frozenset(declared["global"]), frozenset(declared["nonlocal"]), generator)


def _bind(target: Any, into: set[str]) -> None:
    if isinstance(target, ir.Name):
        into.add(target.id)
    elif isinstance(target, ir.Starred):
        _bind(target.value, into)
    elif isinstance(target, ir.Display):
        for item in target.items:
            _bind(item, into)


def _captures(pattern: Any) -> Iterator[str]:
    stack = [pattern]
    while stack:
        node = stack.pop()
        if type(node).__name__ in ("MatchAs", "MatchStar") and node.name is not None:
            yield node.name.value
        stack.extend(c for c in getattr(node, "children", ()) if type(c).__name__.startswith("Match"))


def walk(nodes: Sequence[ir.Node]) -> Iterator[ir.Node]:
    """All nodes below, bodies of functions and classes too."""
    stack: list[ir.Node] = list(reversed(nodes))
    while stack:
        node = stack.pop()
        yield node
        below = node.body if isinstance(node, ir.FunctionNode) else children(node)
        stack.extend(reversed(list(below)))


def children(node: Any) -> Iterator[Any]:
    """The nodes directly below a node of the small form; bodies of functions and classes are not entered."""
    if isinstance(node, ir.FunctionNode):
        return
    for name, value in vars(node).items():
        if name in ("cst", "pattern"):
            continue
        yield from _nodes_in(value)


def _nodes_in(value: Any) -> Iterator[Any]:
    if isinstance(value, ir.Node):
        yield value
    elif isinstance(value, tuple):
        for item in value:
            yield from _nodes_in(item)
