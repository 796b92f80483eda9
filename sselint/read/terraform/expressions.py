"""What an HCL expression stands for, as far as the files of a module tell: numbers, texts, lists, references.

Nothing is executed and nothing outside the tree is read. A variable is its default (nobody knows what is passed), a
reference to another resource stays a reference, and the rest is unknown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sselint.facts import Count

MAX_DEPTH = 60
"""Expressions inside each other."""

MAX_EXTENT = 100_000
"""Characters and items of all that one value holds. What is larger is made of itself again and again."""


@dataclass(frozen=True)
class Unknown:
    """A value that the files do not tell; `why` in their words."""

    why: str = "an expression that is not known"


@dataclass(frozen=True)
class Reference:
    """`aws_lb_target_group.mcp.arn`: the resource that is meant, and the attribute of it ("" for all of it)."""

    address: str
    attribute: str = ""


@dataclass(frozen=True)
class Assumed:
    """A value that holds unless somebody sets something else: `why` says what."""

    value: Any
    why: str


@dataclass(frozen=True)
class Either:
    """One of several values: a condition decides that is not known."""

    values: tuple[Any, ...]


Value = Any
"""int | float | str | bool | None | list | dict | Unknown | Reference | Assumed | Either | Text."""

Resolve = Callable[[tuple[str, ...]], Value]
"""From the parts of a name (`var`, `desired`) to its value."""


@dataclass(frozen=True)
class Text:
    """Text with parts that are not known in it: `parts` are str or values."""

    parts: tuple[Any, ...]


def plain(value: Value) -> Any:
    """A value without the assumption that it rests on."""
    return value.value if isinstance(value, Assumed) else value


def text_of(value: Value) -> str | None:
    """A known text or number as text."""
    value = plain(value)
    if isinstance(value, bool) or value is None:
        return None
    return str(value) if isinstance(value, (str, int, float)) else None


def number_of(value: Value) -> int | None:
    """A known number, also one that is written as text."""
    try:
        return int(text_of(value) or "")
    except ValueError:
        return None


def references(value: Value) -> list[Reference]:
    """Every reference in a value, however deep."""
    found: list[Reference] = []
    stack = [value]
    while stack:
        value = stack.pop()
        if isinstance(value, Reference):
            found.append(value)
        stack.extend(_held(value))
    return found


def count_of(value: Value, what: str) -> Count:
    """A value as a number of processes."""
    if isinstance(value, Assumed):
        found = count_of(value.value, what)
        return Count(found.low, found.high, f"{found.why} ({value.why})")
    if isinstance(value, Either):
        counts = [count_of(v, what) for v in value.values]
        highs = [c.high for c in counts]
        high = None if None in highs else max(h for h in highs if h is not None)
        return Count(min(c.low for c in counts), high, " or ".join(dict.fromkeys(c.why for c in counts)))
    number = number_of(value)
    if number is not None:
        return Count.exactly(max(number, 0), f"{what} is {number}")
    return Count.unknown(f"{what}: {value.why}" if isinstance(value, Unknown) else f"{what} is not known")


def evaluate(tree: Any, resolve: Resolve, depth: int = 0) -> Value:
    """The value of an expression's parse tree."""
    if depth > MAX_DEPTH:
        return Unknown("nested too deeply")
    handler = _HANDLERS.get(getattr(tree, "data", ""))
    value = handler(tree, resolve, depth + 1) if handler else Unknown()
    return value if _is_small(value) else Unknown("a value that is too large")


def _is_small(value: Value) -> bool:
    """Whether all that a value holds is within `MAX_EXTENT`, and no further: it may hold one thing many times."""
    extent, stack = 0, [value]
    while stack and extent <= MAX_EXTENT:
        one = stack.pop()
        extent += len(one) if isinstance(one, str) else 1
        stack.extend(_held(one))
    return extent <= MAX_EXTENT


def _held(value: Value) -> Iterable[Value]:
    """The values that a value consists of."""
    if isinstance(value, Assumed):
        return (value.value,)
    if isinstance(value, Either):
        return value.values
    if isinstance(value, Text):
        return value.parts
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


def _parts(tree: Any) -> list[Any]:
    """The children that mean something: no punctuation, no comments."""
    return [c for c in tree.children if hasattr(c, "data") and c.data != "new_line_or_comment"]


def _token(tree: Any) -> str:
    return str(tree.children[0]) if tree.children else ""


def _inner(tree: Any, resolve: Resolve, depth: int) -> Value:
    parts = _parts(tree)
    return evaluate(parts[0], resolve, depth) if len(parts) == 1 else Unknown()


def _integer(tree: Any, resolve: Resolve, depth: int) -> Value:
    return int(_token(tree))


def _float(tree: Any, resolve: Resolve, depth: int) -> Value:
    return float(_token(tree))


def _literal(tree: Any, resolve: Resolve, depth: int) -> Value:
    return {"true": True, "false": False}.get(_token(tree))


def _string(tree: Any, resolve: Resolve, depth: int) -> Value:
    parts: list[Any] = []
    for part in _parts(tree):
        child = part.children[0] if part.children else ""
        data = getattr(child, "data", None)
        if data is None:
            parts.append(_unescaped(str(child)))
        elif data == "interpolation":
            parts.append(_inner(child, resolve, depth))
        else:
            parts.append(Unknown("a template directive"))
    if len(parts) == 1:
        return parts[0]
    texts = [p if isinstance(p, str) else text_of(p) for p in parts]
    assumed = [p.why for p in parts if isinstance(p, Assumed)]
    if None in texts:
        return Text(tuple(parts))
    joined = "".join(t or "" for t in texts)
    return Assumed(joined, "; ".join(dict.fromkeys(assumed))) if assumed else joined


def _unescaped(text: str) -> str:
    for escape, character in (('\\"', '"'), ("\\n", "\n"), ("\\t", "\t"), ("$${", "${"), ("%%{", "%{"), ("\\\\", "\\")):
        text = text.replace(escape, character)
    return text


def _heredoc(tree: Any, resolve: Resolve, depth: int) -> Value:
    lines = _token(tree).splitlines()
    body = "\n".join(lines[1:-1])
    return Unknown("a heredoc with templates") if "${" in body or "%{" in body else body


def _identifier(tree: Any, resolve: Resolve, depth: int) -> Value:
    return resolve((_token(tree),))


def _name(tree: Any) -> tuple[str, ...] | None:
    """The parts of `a.b.c`, None where something else is in it."""
    parts: list[str] = []
    while True:
        data = getattr(tree, "data", "")
        if data == "expr_term" and len(_parts(tree)) == 1:
            tree = _parts(tree)[0]
        elif data == "get_attr_expr_term":
            tree, attribute = _parts(tree)
            parts.append(_token(_parts(attribute)[0]))
        elif data in ("index_expr_term", "full_splat_expr_term", "attr_splat_expr_term"):
            # `x[0].arn` and `x[*].arn` are of the resource x.
            after = [_token(_parts(p)[0]) for p in _parts(tree)[1].find_data("get_attr")] if "splat" in data else []
            parts.extend(after)
            tree = _parts(tree)[0]
        elif data == "identifier":
            return (_token(tree), *reversed(parts))
        else:
            return None


def _attribute(tree: Any, resolve: Resolve, depth: int) -> Value:
    name = _name(tree)
    if name is None:
        return Unknown()
    return resolve(name)


def _index(tree: Any, resolve: Resolve, depth: int) -> Value:
    container = plain(evaluate(_parts(tree)[0], resolve, depth))
    if isinstance(container, Reference):
        return container
    index = _parts(tree)[1]
    if index.data == "short_index":
        key: Value = int(str(index.children[-1]))
    else:
        key = plain(_inner(index, resolve, depth))
    try:
        return container[key] if isinstance(container, (list, dict)) else Unknown()
    except (KeyError, IndexError, TypeError):
        return Unknown()


def _splat(tree: Any, resolve: Resolve, depth: int) -> Value:
    name = _name(tree)
    return resolve(name) if name else Unknown()


def _conditional(tree: Any, resolve: Resolve, depth: int) -> Value:
    condition, yes, no = (evaluate(p, resolve, depth) for p in _parts(tree))
    if isinstance(condition, bool):
        return yes if condition else no
    if isinstance(condition, Assumed) and isinstance(condition.value, bool):
        chosen = yes if condition.value else no
        return chosen if isinstance(chosen, (Assumed, Unknown)) else Assumed(chosen, condition.why)
    return yes if yes == no else Either((yes, no))


def _tuple(tree: Any, resolve: Resolve, depth: int) -> Value:
    return [evaluate(p, resolve, depth) for p in _parts(tree)]


def _object(tree: Any, resolve: Resolve, depth: int) -> Value:
    result: dict[str, Value] = {}
    for element in _parts(tree):
        key_tree, value_tree = _parts(element)[0], _parts(element)[-1]
        key = _name(key_tree.children[0]) if key_tree.children else None
        text = key[0] if key and len(key) == 1 else text_of(evaluate(key_tree.children[0], resolve, depth))
        if text is not None:
            result[text] = evaluate(value_tree, resolve, depth)
    return result


def _call(tree: Any, resolve: Resolve, depth: int) -> Value:
    parts = _parts(tree)
    name = _token(parts[0])
    arguments = [evaluate(p, resolve, depth) for p in (_parts(parts[1]) if len(parts) > 1 else [])]
    return _function(name, arguments)


def _function(name: str, arguments: Sequence[Value]) -> Value:
    """The functions that change nothing about the numbers and names that are asked for."""
    if name in (
        "jsonencode",
        "tostring",
        "tonumber",
        "tolist",
        "toset",
        "sensitive",
        "nonsensitive",
        "jsondecode",
        "one",
    ):
        return arguments[0] if len(arguments) == 1 else Unknown()
    if name in ("coalesce", "try"):
        return next((a for a in arguments if not isinstance(a, Unknown) and plain(a) not in (None, "")), Unknown())
    if name in ("concat", "flatten"):
        lists = [plain(a) for a in arguments]
        if all(isinstance(a, list) for a in lists):
            return [item for a in lists for item in a]
    if name == "merge":
        maps = [plain(a) for a in arguments]
        if all(isinstance(a, dict) for a in maps):
            return {k: v for a in maps for k, v in a.items()}
    if name in ("max", "min"):
        numbers = [number_of(a) for a in arguments]
        if arguments and None not in numbers:
            return (max if name == "max" else min)(n for n in numbers if n is not None)
    if name in ("file", "templatefile") and arguments:
        return Unknown(f"the content of {text_of(arguments[0]) or 'a file'}")
    return Unknown(f"{name}(...)")


_HANDLERS: Mapping[str, Callable[[Any, Resolve, int], Value]] = {
    "expr_term": _inner,
    "int_lit": _integer,
    "float_lit": _float,
    "literal_value": _literal,
    "string": _string,
    "heredoc_template": _heredoc,
    "heredoc_template_trim": _heredoc,
    "identifier": _identifier,
    "get_attr_expr_term": _attribute,
    "index_expr_term": _index,
    "full_splat_expr_term": _splat,
    "attr_splat_expr_term": _splat,
    "conditional": _conditional,
    "tuple": _tuple,
    "object": _object,
    "function_call": _call,
}
