"""The functions of Helm templates, as far as they decide what is printed: of text/template, Sprig and Helm itself.

Sources: pkg.go.dev/text/template, masterminds.github.io/sprig, helm.sh/docs/chart_template_guide/function_list. What is
not here, and whatever is given an unknown value, is unknown. None of them reads anything.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sselint.read.kubernetes.helm.syntax import TemplateError
from sselint.read.kubernetes.helm.values import Unknown

MAX_EXTENT = 1_000_000
"""Characters and items of all that one value holds, where it is printed or made at a blow."""

BEGIN, END = "\ue000", "\ue001"
"""Around the name of an unknown value in text: private characters, which no chart has."""

Function = Callable[..., Any]


def is_true(value: Any) -> bool | None:
    """Go's truth of a value; None where it is unknown."""
    if isinstance(value, Unknown):
        return None
    return bool(value)


def call(name: str, arguments: Sequence[Any]) -> Any:
    """The value of a function; `Unknown` where it is not known or does not take these arguments."""
    lazy = _LAZY.get(name)
    if lazy is not None:
        return lazy(arguments)
    function = _FUNCTIONS.get(name)
    unknown = next((a for a in arguments if isinstance(a, Unknown)), None)
    if function is None:
        return Unknown("-".join([name, *(unknown.name for _ in [0] if unknown)]))
    if unknown is not None and name not in _OF_TEXT:
        return unknown
    try:
        result = function(*arguments)
        # Go's integers end here; without an end a few squarings fill the memory.
        return Unknown(name) if isinstance(result, int) and abs(result) >= 1 << 63 else result
    except (TypeError, ValueError, KeyError, IndexError, AttributeError, ZeroDivisionError, OverflowError, re.error):
        return Unknown(name)


def extent(value: Any) -> int:
    """Characters and items of all that a value holds, counted up to just over `MAX_EXTENT`: a value may hold another
    one many times over, or itself."""
    total, rest = 0, [value]
    while rest and total <= MAX_EXTENT:
        one = rest.pop()
        total += len(one) if isinstance(one, str | list | dict) else 1
        if isinstance(one, list):
            rest.extend(one)
        elif isinstance(one, dict):
            rest.extend(one.values())
    return total


def _within(size: int) -> None:
    """Raises TemplateError for a text that would be too large to make."""
    if size > MAX_EXTENT:
        raise TemplateError("the template makes a value that is too large")


# -- functions that decide before they look at all of their arguments --------------------------------------------------


def _and(arguments: Sequence[Any]) -> Any:
    unknown = None
    for value in arguments:
        if is_true(value) is False:
            return value
        if isinstance(value, Unknown):
            unknown = unknown or value
    return unknown or (arguments[-1] if arguments else Unknown("and"))


def _or(arguments: Sequence[Any]) -> Any:
    for value in arguments:
        if isinstance(value, Unknown) or value:
            return value
    return arguments[-1] if arguments else Unknown("or")


def _default(arguments: Sequence[Any]) -> Any:
    if len(arguments) == 1:
        return arguments[0]
    fallback, value = arguments[0], arguments[-1]
    return value if isinstance(value, Unknown) or value else fallback


def _ternary(arguments: Sequence[Any]) -> Any:
    if len(arguments) != 3:
        return Unknown("ternary")
    yes, no, condition = arguments
    chosen = is_true(condition)
    return Unknown("ternary") if chosen is None else yes if chosen else no


def _not(arguments: Sequence[Any]) -> Any:
    value = is_true(arguments[0]) if arguments else None
    return Unknown("not") if value is None else not value


def _eq(arguments: Sequence[Any]) -> Any:
    if len(arguments) < 2 or any(isinstance(a, Unknown) for a in arguments):
        return Unknown("eq")
    return any(_same(arguments[0], other) for other in arguments[1:])


def _same(one: Any, other: Any) -> bool:
    return bool(one == other) and isinstance(one, bool) == isinstance(other, bool)


def _list(arguments: Sequence[Any]) -> Any:
    return list(arguments)


def _dict(arguments: Sequence[Any]) -> Any:
    pairs = zip(arguments[::2], arguments[1::2], strict=False)
    return {key: value for key, value in pairs if isinstance(key, str)}


_LAZY: Mapping[str, Callable[[Sequence[Any]], Any]] = {
    "and": _and,
    "or": _or,
    "coalesce": _or,
    "default": _default,
    "ternary": _ternary,
    "not": _not,
    "empty": _not,
    "eq": _eq,
    "ne": lambda arguments: _not([_eq(arguments)]),
    "list": _list,
    "tuple": _list,
    "dict": _dict,
    "required": lambda arguments: arguments[-1] if arguments else Unknown("required"),
}


# -- text --------------------------------------------------------------------------------------------------------------


def text(value: Any) -> str:
    """A value as Go prints it; an unknown one is its name between marks."""
    if isinstance(value, Unknown):
        return BEGIN + re.sub(r"[^\w.-]+", "-", value.name)[:80] + END
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, list | dict):
        _within(extent(value))
    return str(value)


def _quote(*values: Any) -> str:
    return " ".join('"' + text(v).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"' for v in values)


def _indent(width: int, value: Any) -> str:
    return "\n".join(" " * min(int(width), 200) + line for line in text(value).split("\n"))


def _trunc(length: int, value: Any) -> str:
    return text(value)[:length] if length >= 0 else text(value)[length:]


def _replace(old: str, new: str, value: Any) -> str:
    _within(text(value).count(old) * len(new))
    return text(value).replace(old, new)


def _repeat(times: int, value: Any) -> str:
    _within(len(text(value)) * int(times))
    return text(value) * int(times)


def _printf(pattern: str, *values: Any) -> str:
    rest = list(values)

    def one(match: re.Match[str]) -> str:
        if match[0] == "%%":
            return "%"
        value = rest.pop(0) if rest else None
        if match[2] == "q":
            return _quote(value)
        if match[2] == "d" and match[1].startswith("0"):
            return text(value).zfill(min(int(match[1] or 0), 200))
        return text(value)

    return re.sub(r"%(?:%|[-+#]?(\d*)(?:\.\d+)?([a-zA-Z]))", one, pattern)


def to_yaml(value: Any) -> str:
    """A value as YAML, keys sorted as Helm does."""
    import yaml

    if isinstance(value, Unknown):
        return text(value)
    dumped = yaml.safe_dump(_printable(value), default_flow_style=False, width=10_000, allow_unicode=True)
    return str(dumped).removesuffix("\n...\n").strip()


def _printable(value: Any) -> Any:
    """A value with its unknown parts as text."""
    _within(extent(value))
    return _printable_part(value)


def _printable_part(value: Any) -> Any:
    if isinstance(value, Unknown):
        return text(value)
    if isinstance(value, dict):
        return {key: _printable_part(inner) for key, inner in value.items()}
    return [_printable_part(inner) for inner in value] if isinstance(value, list) else value


def _to_json(value: Any) -> str:
    import json

    return json.dumps(_printable(value), sort_keys=True, ensure_ascii=False)


def _from_yaml(value: str) -> Any:
    from sselint.read.kubernetes.helm.values import Places, construct
    from sselint.read.yaml_nodes import UnreadableYamlError, documents
    from sselint.source import Source

    try:
        found = documents(Source("", value, "kubernetes"))
    except UnreadableYamlError:
        return Unknown("fromYaml")
    return construct(found[0], Places()) if found else {}


# -- numbers -----------------------------------------------------------------------------------------------------------


def _int(value: Any) -> int:
    if isinstance(value, str):
        try:
            return int(float(value))
        except ValueError:
            return 0
    return int(value or 0)


def _float(value: Any) -> float:
    try:
        return float(value or 0)
    except ValueError:
        return 0.0


def _until(count: int) -> list[int]:
    return list(range(min(int(count), 1000)))


# -- lists and mappings ------------------------------------------------------------------------------------------------


def _index(container: Any, *keys: Any) -> Any:
    for key in keys:
        if isinstance(container, dict):
            container = container.get(key)
        elif container is None:
            return None
        else:
            container = container[key]
    return container


def _dig(*arguments: Any) -> Any:
    *keys, fallback, container = arguments
    for key in keys:
        if not isinstance(container, dict) or key not in container:
            return fallback
        container = container[key]
    return container


def _set(container: dict[str, Any], key: str, value: Any) -> dict[str, Any]:
    container[key] = value
    return container


def _unset(container: dict[str, Any], key: str) -> dict[str, Any]:
    container.pop(key, None)
    return container


def _merge(*containers: dict[str, Any]) -> dict[str, Any]:
    """The first one wins."""
    return _overwrite(*reversed(containers))


def _overwrite(*containers: dict[str, Any]) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for container in containers:
        for key, value in (container or {}).items():
            before = result.get(key)
            deeper = isinstance(before, dict) and isinstance(value, dict)
            result[key] = _overwrite(result[key], value) if deeper else value
    return result


def _kind(value: Any) -> str:
    kinds = {
        bool: "bool",
        int: "int",
        float: "float64",
        str: "string",
        list: "slice",
        dict: "map",
        type(None): "invalid",
    }
    return kinds.get(type(value), "invalid")


def _kind_is(kind: str, value: Any) -> bool:
    have = _kind(value)
    return kind == have or (kind in ("float64", "int64") and have in ("int", "float64"))


def _has(item: Any, container: Any) -> bool:
    return item in (container or [])


def _join(separator: str, values: Any) -> str:
    if not isinstance(values, list):
        return text(values)
    _within(len(separator) * len(values))
    return separator.join(text(v) for v in values)


def _flat(*lists: Any) -> list[Any]:
    return [item for one in lists for item in (one or [])]


def _semver(constraint: str, version: str) -> Any:
    """Constraints of one comparison (`>=1.19-0`), which is what charts ask of the cluster's version."""
    match = re.fullmatch(r"\s*([<>]=?|=|\^|~)?\s*v?(\d+)(?:\.(\d+))?(?:\.(\d+))?(?:-.*)?\s*", constraint)
    have = re.match(r"v?(\d+)(?:\.(\d+))?(?:\.(\d+))?", version)
    if not match or not have:
        return Unknown("semverCompare")
    wanted = tuple(int(part or 0) for part in match.groups()[1:])
    found = tuple(int(part or 0) for part in have.groups())
    relation = match[1] or "="
    if relation in ("^", "~"):
        return found >= wanted and found[:1] == wanted[:1]
    return {">=": found >= wanted, ">": found > wanted, "<=": found <= wanted, "<": found < wanted}.get(
        relation, found == wanted
    )


_OF_TEXT = frozenset(
    {
        "quote",
        "squote",
        "toString",
        "print",
        "println",
        "printf",
        "cat",
        "indent",
        "nindent",
        "trunc",
        "trim",
        "trimAll",
        "trimSuffix",
        "trimPrefix",
        "lower",
        "upper",
        "replace",
        "toYaml",
        "toYamlPretty",
        "toJson",
        "toPrettyJson",
        "toRawJson",
        "join",
        "append",
        "prepend",
        "concat",
    }
)
"""Functions that keep what is unknown apart by its name in the text that they make."""

_FUNCTIONS: Mapping[str, Function] = {
    "quote": _quote,
    "squote": lambda *v: " ".join(f"'{text(x)}'" for x in v),
    "toString": text,
    "print": lambda *v: "".join(map(text, v)),
    "println": lambda *v: " ".join(map(text, v)) + "\n",
    "printf": _printf,
    "cat": lambda *v: " ".join(map(text, v)),
    "indent": _indent,
    "nindent": lambda w, v: "\n" + _indent(w, v),
    "trunc": _trunc,
    "trim": lambda v: text(v).strip(),
    "trimAll": lambda c, v: text(v).strip(c),
    "trimSuffix": lambda s, v: text(v).removesuffix(s),
    "trimPrefix": lambda s, v: text(v).removeprefix(s),
    "lower": lambda v: text(v).lower(),
    "upper": lambda v: text(v).upper(),
    "title": lambda v: text(v).title(),
    "camelcase": lambda v: "".join(part.title() for part in text(v).split("_")),
    "kebabcase": lambda v: re.sub(r"(?<=[a-z0-9])(?=[A-Z])|[_\s]+", "-", text(v)).lower(),
    "snakecase": lambda v: re.sub(r"(?<=[a-z0-9])(?=[A-Z])|[-\s]+", "_", text(v)).lower(),
    "replace": _replace,
    "repeat": _repeat,
    "substr": lambda a, b, v: text(v)[a:b],
    "nospace": lambda v: re.sub(r"\s", "", text(v)),
    "contains": lambda part, v: part in text(v),
    "hasPrefix": lambda part, v: text(v).startswith(part),
    "hasSuffix": lambda part, v: text(v).endswith(part),
    "join": _join,
    "splitList": lambda s, v: text(v).split(s),
    "split": lambda s, v: {f"_{i}": part for i, part in enumerate(text(v).split(s))},
    "lines": lambda v: text(v).splitlines(),
    "toYaml": to_yaml,
    "toYamlPretty": to_yaml,
    "toJson": _to_json,
    "toPrettyJson": _to_json,
    "toRawJson": _to_json,
    "fromYaml": _from_yaml,
    "fromJson": _from_yaml,
    "fromYamlArray": _from_yaml,
    "int": _int,
    "int64": _int,
    "atoi": _int,
    "float64": _float,
    "add": lambda *v: sum(map(_int, v)),
    "add1": lambda v: _int(v) + 1,
    "sub": lambda a, b: _int(a) - _int(b),
    "mul": lambda a, b: _int(a) * _int(b),
    "div": lambda a, b: _int(a) // _int(b),
    "mod": lambda a, b: _int(a) % _int(b),
    "max": lambda *v: max(map(_int, v)),
    "min": lambda *v: min(map(_int, v)),
    "ceil": lambda v: -int(-_float(v) // 1),
    "floor": lambda v: int(_float(v) // 1),
    "round": lambda v, n=0: round(_float(v), n),
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
    "len": lambda v: len(v or ()),
    "until": _until,
    "index": _index,
    "get": lambda d, k: d.get(k, ""),
    "hasKey": lambda d, k: k in d,
    "dig": _dig,
    "set": _set,
    "unset": _unset,
    "keys": lambda *ds: [k for d in ds for k in d],
    "values": lambda *ds: [v for d in ds for v in d.values()],
    "pick": lambda d, *ks: {k: d[k] for k in ks if k in d},
    "omit": lambda d, *ks: {k: v for k, v in d.items() if k not in ks},
    "pluck": lambda k, *ds: [d[k] for d in ds if k in d],
    "merge": _merge,
    "mustMerge": _merge,
    "mergeOverwrite": _overwrite,
    "mustMergeOverwrite": _overwrite,
    "deepCopy": lambda v: v,
    "mustDeepCopy": lambda v: v,
    "append": lambda a, v: [*a, v],
    "prepend": lambda a, v: [v, *a],
    "concat": _flat,
    "first": lambda v: v[0] if v else None,
    "last": lambda v: v[-1] if v else None,
    "rest": lambda v: v[1:],
    "initial": lambda v: v[:-1],
    "reverse": lambda v: v[::-1],
    "uniq": lambda v: [x for i, x in enumerate(v) if x not in v[:i]],
    "compact": lambda v: [x for x in v if x],
    "without": lambda v, *xs: [x for x in v if x not in xs],
    "sortAlpha": lambda v: sorted(map(text, v)),
    "has": _has,
    "all": lambda *v: all(v),
    "any": lambda *v: any(v),
    "kindOf": _kind,
    "typeOf": _kind,
    "kindIs": _kind_is,
    "typeIs": _kind_is,
    "semverCompare": _semver,
    "lookup": lambda *v: {},
    "b64enc": lambda v: Unknown("b64enc"),
}
