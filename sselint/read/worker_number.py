"""How many workers an expression stands for: interval arithmetic over the little programs people write for it.

`workers = multiprocessing.cpu_count() * 2 + 1` is at least three; `int(os.environ.get("WORKERS", 4))` is four unless
somebody sets WORKERS. Nothing is executed.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from sselint.facts import Count

Environment = Mapping[str, "str | None"]
"""Environment variables that are set; None is set, but to what cannot be known."""

MAX_DEPTH = 50
"""Nested expressions evaluated; deeper is not a number that somebody wrote by hand."""

_OPERATORS: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
}
_CPU_CALLS = frozenset({"cpu_count", "process_cpu_count"})
_TRANSPARENT_CALLS = frozenset({"int", "float", "round", "str", "ceil", "floor"})


@dataclass(frozen=True)
class Interval:
    """A number between `low` and `high` (None: unbounded), or a text; `why` in the words of the expression."""

    low: float
    high: float | None
    why: str = ""
    text: str | None = None

    def count(self, what: str) -> Count:
        """As a number of processes: never below one, since a server without workers serves nothing."""
        low = max(1, int(self.low))
        high = None if self.high is None else max(low, int(self.high))
        return Count(low, high, f"{what}: {self.why}" if self.why else what)


UNKNOWN = Interval(1, None)
NOT_SET = Interval(0, 0, "not set")
CPUS = Interval(1, None, "one or more, by the number of CPUs")


def exact(number: float, why: str = "") -> Interval:
    """A number that is written down."""
    return Interval(number, number, why or f"{number:g}")


def of_text(text: str, why: str = "") -> Interval | None:
    """The number a text is, or None."""
    try:
        return exact(int(text.strip().strip("\"'")), why)
    except ValueError:
        return None


def evaluate(expression: ast.expr, names: Mapping[str, ast.expr], environment: Environment, depth: int = 0) -> Interval:
    """The interval of a Python expression; `names` are the module's own assignments. Unknown is one or more."""
    if depth > MAX_DEPTH:
        return UNKNOWN

    def inner(node: ast.expr) -> Interval:
        return evaluate(node, names, environment, depth + 1)

    if isinstance(expression, ast.Constant):
        return _constant(expression.value)
    if isinstance(expression, ast.Name) and expression.id in names:
        rest = {k: v for k, v in names.items() if k != expression.id}
        return evaluate(names[expression.id], rest, environment, depth + 1)
    if isinstance(expression, ast.BinOp) and type(expression.op) in _OPERATORS:
        return _combine(_OPERATORS[type(expression.op)], inner(expression.left), inner(expression.right))
    if isinstance(expression, ast.BoolOp) and isinstance(expression.op, ast.Or):
        return _first_set([inner(v) for v in expression.values])
    if isinstance(expression, ast.IfExp):
        return _either(inner(expression.body), inner(expression.orelse))
    if isinstance(expression, ast.Subscript):
        return _subscript(expression, environment)
    if isinstance(expression, ast.Call):
        return _call(expression, inner, environment)
    return UNKNOWN


def _constant(value: object) -> Interval:
    if isinstance(value, bool) or value is None:
        return NOT_SET
    if isinstance(value, (int, float)):
        return exact(value)
    if isinstance(value, str):
        number = of_text(value)
        return number if number else Interval(1, None, f"{value!r} is not a number", value)
    return UNKNOWN


def _combine(calculate: Callable[[float, float], float], left: Interval, right: Interval) -> Interval:
    """Both ends of the result; right operands that reach zero or below leave it unknown."""
    why = "; ".join(w for w in dict.fromkeys((left.why, right.why)) if w and not w.isdigit())
    ends = [(a, b) for a in (left.low, left.high) for b in (right.low, right.high)]
    try:
        known = [calculate(a, b) for a, b in ends if a is not None and b is not None]
    except (ZeroDivisionError, OverflowError):
        return UNKNOWN
    if None in (left.high, right.high):
        if calculate in (operator.sub, operator.truediv, operator.floordiv) and right.high is None:
            return Interval(1, None, why)
        return Interval(calculate(left.low, right.low), None, why)
    return Interval(min(known), max(known), why)


def _either(one: Interval, other: Interval) -> Interval:
    high = None if one.high is None or other.high is None else max(one.high, other.high)
    return Interval(min(one.low, other.low), high, " or ".join(dict.fromkeys(w for w in (one.why, other.why) if w)))


def _first_set(values: list[Interval]) -> Interval:
    """`a or b`: the first that is not zero or empty."""
    return next((v for v in values if v.high != 0 and v.text != ""), values[-1])


def _variable(name: str, default: Interval | None, environment: Environment) -> Interval:
    if name in environment:
        value = environment[name]
        number = of_text(value, f"{name} is {value}") if value is not None else None
        return number or Interval(1, None, f"{name} is set, to what is not known")
    if default is None:
        return Interval(1, None, f"{name} is not set in the tree")
    if default.high == 0:
        return default
    return Interval(default.low, default.high, f"{default.why} unless {name} is set")


def _subscript(expression: ast.Subscript, environment: Environment) -> Interval:
    name = expression.slice.value if isinstance(expression.slice, ast.Constant) else None
    if isinstance(name, str) and _last_name(expression.value) == "environ":
        return _variable(name, None, environment)
    return UNKNOWN


def _call(call: ast.Call, inner: Callable[[ast.expr], Interval], environment: Environment) -> Interval:
    name = _last_name(call.func)
    arguments = [inner(a) for a in call.args]
    if name in _CPU_CALLS:
        return CPUS
    if name == "len" and call.args and isinstance(call.args[0], ast.Call):
        return CPUS if _last_name(call.args[0].func) == "sched_getaffinity" else UNKNOWN
    if name in _TRANSPARENT_CALLS and arguments:
        return UNKNOWN if arguments[0] == NOT_SET else arguments[0]
    if _reads_environment(call) and call.args and isinstance(call.args[0], ast.Constant):
        default = arguments[1] if len(arguments) > 1 else _keyword_default(call, inner)
        return _variable(str(call.args[0].value), default or NOT_SET, environment)
    if name == "max" and len(arguments) > 1:
        highs = [a.high for a in arguments]
        high = None if None in highs else max(h or 0 for h in highs)
        return Interval(max(a.low for a in arguments), high, _whys(arguments))
    if name == "min" and len(arguments) > 1:
        bounded = [a.high for a in arguments if a.high is not None]
        return Interval(min(a.low for a in arguments), min(bounded) if bounded else None, _whys(arguments))
    return UNKNOWN


def _reads_environment(call: ast.Call) -> bool:
    """`os.getenv`, `os.environ.get`, and the `config("X", default=)` and `env("X")` of settings libraries."""
    if isinstance(call.func, ast.Attribute) and call.func.attr in ("get", "pop"):
        return _last_name(call.func.value) == "environ"
    return _last_name(call.func) in ("getenv", "config", "env")


def _keyword_default(call: ast.Call, inner: Callable[[ast.expr], Interval]) -> Interval | None:
    return next((inner(k.value) for k in call.keywords if k.arg == "default"), None)


def _whys(values: list[Interval]) -> str:
    return "; ".join(dict.fromkeys(v.why for v in values if v.why))


def _last_name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
