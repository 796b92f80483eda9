"""Text: put together, taken apart, formatted and parsed, with the cursor and its parts kept apart from all else."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from sselint.read.python.interpreter import classes, variables
from sselint.read.python.interpreter.machine import Arguments, Frame, Hypothesis, Machine, Raised
from sselint.read.python.interpreter.values import (
    Const,
    Cursor,
    Exceptional,
    Input,
    Join,
    Length,
    Minted,
    Position,
    Ref,
    Remembered,
    Reply,
    Scope,
    Tuple,
    Unknown,
    Value,
    Variable,
    Wrapped,
    leaves,
    mentions_cursor,
)
from sselint.read.python.source.modules import Site

PERCENT = re.compile(r"%(?:\((\w+)\))?[-#0 +]*(?:\*|\d+)?(?:\.\d+)?[diouxXeEfFgGcrsa%]")
BRACES = re.compile(r"\{\{|\}\}|\{([\w.\[\]]*)(?:![rsa])?(?::[^{}]*)?\}")
SAME = frozenset({
    "strip", "lstrip", "rstrip", "lower", "upper", "title", "capitalize", "casefold", "encode", "decode", "zfill",
    "ljust", "rjust", "center", "replace", "expandtabs", "removeprefix", "removesuffix", "translate",
    "hex", "tobytes", "__str__", "isoformat", "hexdigest", "digest",
})  # fmt: skip
QUESTIONS = frozenset({
    "isdigit", "isdecimal", "isnumeric", "isalnum", "isalpha", "isascii", "isidentifier", "isprintable",
})  # fmt: skip
AFFIXES = frozenset({"startswith", "endswith"})
PARTS = frozenset({"split", "rsplit", "splitlines", "partition", "rpartition"})
LIKE_TEXT = (Const, Join, Cursor, Wrapped, Minted, Variable, Length, Position)
"""What the methods of text are called on: a number that was made text is still the number here."""
MAX_EXTENT = 10_000_000
"""Characters that a method of a text that is written down may make."""


def is_method(name: str) -> bool:
    """Whether text has a method of this name that says something here."""
    return name in SAME or name in QUESTIONS or name in AFFIXES or name in PARTS


def is_text(value: Value) -> bool:
    """Whether a value is surely text or bytes."""
    if isinstance(value, Const):
        return isinstance(value.value, str | bytes)
    return isinstance(value, Join)


def spelled(value: Any) -> str:
    """Text or bytes as text."""
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def join(values: Sequence[Value]) -> Value:
    """Text put together from parts; neighbouring constants melt into one."""
    parts: list[Value] = []
    for value in values:
        for part in value.parts if isinstance(value, Join) else (value,):
            if isinstance(part, Const):
                text = spelled(part.value)
                last = parts[-1] if parts else None
                if isinstance(last, Const):
                    parts[-1] = Const.of(str(last.value) + text)
                else:
                    parts.append(Const.of(text))
            else:
                parts.append(part)
    kept = [p for p in parts if not (isinstance(p, Const) and p.value == "")]
    if not kept:
        return Const.of("")
    return kept[0] if len(kept) == 1 else Join(tuple(kept))


def as_bytes(m: Machine, a: Arguments) -> Value:
    """`bytes(value)`: an object of the tree says itself what it is as bytes."""
    from sselint.read.python.interpreter import calls

    method = classes.find_method(m, a.first(), "__bytes__") if a.positional else None
    return calls.call(m, method, (), {}, a.site, a.frame) if method is not None else a.first()


def as_bytearray(m: Machine, a: Arguments) -> Value:
    """`bytearray(value)`: nothing as yet, where it is given nothing or a size."""
    given = as_bytes(m, a)
    return given if (a.positional and is_text(given)) or not isinstance(given, Const) else Const.of(b"")


def as_text(m: Machine, value: Value, site: Site, frame: Frame | None) -> Value:
    """`str(value)`: an object's own `__str__`, else the value itself."""
    if isinstance(value, Ref):
        method = classes.find_method(m, value, "__str__") or classes.find_method(m, value, "__repr__")
        if method is not None:
            from sselint.read.python.interpreter import calls

            return calls.call(m, method, (), {}, site, frame)
        mixed = m.read_attribute(value, "value", site) if m.object(value).kind == "instance" else None
        return mixed if mixed is not None else value
    if isinstance(value, Const):
        return Const.of(spelled(value.value), *value.trail)
    if isinstance(value, Tuple):
        return join([as_text(m, item, site, frame) for item in value.items])
    return value


def percent(m: Machine, left: Value, right: Value) -> Value:
    """`left % right`."""
    if not isinstance(left, Const):
        return join([left, right])
    template = spelled(left.value)
    operands = list(right.items) if isinstance(right, Tuple) else [right]
    parts: list[Value] = []
    end = 0
    for match in PERCENT.finditer(template):
        parts.append(Const.of(template[end : match.start()]))
        end = match.end()
        if match.group().endswith("%"):
            parts.append(Const.of("%"))
        elif match.group(1) is not None:
            parts.append(named(m, right, match.group(1)))
        elif operands:
            parts.append(operands.pop(0))
    parts.append(Const.of(template[end:]))
    return join(parts)


def named(m: Machine, mapping: Value | None, name: str) -> Value:
    """What a mapping holds under a name that a template asks for."""
    from sselint.read.python.interpreter import containers
    from sselint.read.python.stores import stores

    if isinstance(mapping, Reply):
        return stores.reply_item(m, mapping, Const.of(name))
    found = containers.known_entries(m, mapping).get(name) if mapping is not None else None
    return found if found is not None else Unknown("a value that the template names and nobody gives")


def formatted(m: Machine, template: str, positional: Sequence[Value], keywords: dict[str, Value], site: Site) -> Value:
    """`template.format(...)`."""
    parts: list[Value] = []
    end = number = 0
    for match in BRACES.finditer(template):
        parts.append(Const.of(template[end : match.start()]))
        end = match.end()
        if match.group(1) is None:
            parts.append(Const.of(match.group()[0]))
            continue
        name, *path = re.findall(r"[.\[]?[^.\[\]]*", match.group(1))[:-1] or [""]
        if name == "" or name.isdigit():
            index = number if name == "" else int(name)
            number += name == ""
            value = positional[index] if index < len(positional) else Unknown("an argument that is not given")
        else:
            value = keywords[name] if name in keywords else named(m, keywords.get("**"), name)
        parts.append(as_text(m, _reached(m, value, [p for p in path if len(p) > 1], site), site, None))
    parts.append(Const.of(template[end:]))
    return join(parts)


def _reached(m: Machine, value: Value, path: Sequence[str], site: Site) -> Value:
    """What `{value.name}` or `{value[key]}` stands for in a template."""
    from sselint.read.python.interpreter import subscripts

    for part in path:
        if part[0] == ".":
            value = classes.attribute(m, value, part[1:], site, None)
        elif isinstance(value, Reply):
            value = named(m, value, part[1:])
        else:
            key = Const.of(int(part[1:]) if part[1:].isdigit() else part[1:])
            value = subscripts.get_item(m, value, key, site, Frame(site.module, Scope(site.module, {})))
    return value


# -- taking apart --------------------------------------------------------------------------------------------------


def shape_parts(shape: Value | None, separator: str, last: bool = False) -> tuple[Value, Value] | None:
    """A shape cut in two at a separator, or None where it does not hold one as far as is known."""
    if shape is None or not separator:
        return None
    parts = list(shape.parts) if isinstance(shape, Join) else [shape]
    order = range(len(parts) - 1, -1, -1) if last else range(len(parts))
    for position in order:
        part = parts[position]
        if isinstance(part, Const) and isinstance(part.value, str) and separator in part.value:
            left, _, right = part.value.rpartition(separator) if last else part.value.partition(separator)
            return (
                join([*parts[:position], Const.of(left)]),
                join([Const.of(right), *parts[position + 1 :]]),
            )
    return None


def split_in_two(m: Machine, value: Value, separator: Value, last: bool, site: Site) -> Value:
    """`partition` and `rpartition`."""
    sign = spelled(separator.value) if isinstance(separator, Const) else ""
    if isinstance(value, Const) and isinstance(value.value, str | bytes) and sign:
        text = spelled(value.value)
        return Tuple(tuple(Const.of(t) for t in (text.rpartition(sign) if last else text.partition(sign))))
    if isinstance(value, Cursor):
        if m.hypothesis is Hypothesis.MALFORMED:
            return _unsplit(value, last)
        cut = shape_parts(value.shape, sign, last)
        if cut is None and value.shape is not None and not is_opaque(value.shape):
            return _unsplit(value, last)
        left, right = cut or (None, None)
        one, two = replace(value, part=0, shape=left), replace(value, part=1, shape=right)
        return Tuple((one, Const.of(sign), two))
    if isinstance(value, Join):
        halves = shape_parts(value, sign, last)
        if halves is not None:
            return Tuple((halves[0], Const.of(sign), halves[1]))
    same = piece(value)
    return Tuple((same, Const.of(sign), same))


def _unsplit(value: Value, last: bool) -> Value:
    empty = Const.of("")
    return Tuple((empty, empty, value)) if last else Tuple((value, empty, empty))


def is_opaque(shape: Value) -> bool:
    """Whether text of this shape may hold any separator: what a store, a client or nobody knows made."""
    return any(
        isinstance(leaf, Reply | Input | Unknown | Variable | Ref)
        or (isinstance(leaf, Minted) and leaf.kind == "store")
        for leaf in leaves(shape)
    )


def piece(value: Value) -> Value:
    """A part of a text of which it is not known which."""
    return value if isinstance(value, Reply | Input | Unknown | Minted | Cursor) else Wrapped("slice", value)


def split(
    m: Machine, value: Value, separator: Value | None, site: Site, limit: Value | None = None, last: bool = False
) -> Value:
    """`split` and `rsplit`: pieces, or a value whose pieces are asked for by index."""
    from sselint.read.python.interpreter import pieces

    sign = spelled(separator.value) if isinstance(separator, Const) and separator.value is not None else None
    bound = limit.value if isinstance(limit, Const) and isinstance(limit.value, int) else -1
    if isinstance(value, Const) and isinstance(value.value, str | bytes):
        plain = spelled(value.value)
        return Tuple(tuple(Const.of(t) for t in (plain.rsplit(sign, bound) if last else plain.split(sign, bound))))
    if isinstance(value, Join) and not mentions_cursor(value):
        found = pieces.cut_up(value, sign or "", bound, last)
        if len(found) > 1:
            return Tuple(tuple(found))
    if isinstance(value, Cursor) and sign:
        cut = pieces.of_cursor(m, value, sign, limit, last)
        if cut is not None:
            return cut
    if isinstance(value, Reply | Input | Unknown):
        return value
    return Wrapped(f"split:{sign or ' '}", value)


def item(m: Machine, receiver: Value, index: Value, site: Site | None) -> Value:
    """`receiver[index]` of text, of what `split` gave or of what a regular expression matched."""
    if not isinstance(receiver, Wrapped) or isinstance(receiver.inner, Const):
        from sselint.read.python.interpreter import as_json

        known = as_json.entry(m, receiver, index, site) if isinstance(receiver, Cursor) else None
        return known if known is not None else piece(receiver)
    if receiver.form.startswith("split:"):
        return _piece_at(m, receiver, index, site)
    if receiver.form.startswith("match:"):
        from sselint.read.python.interpreter import regular

        return regular.group(m, receiver, index, site)
    if receiver.form == "json":
        return receiver
    return piece(receiver.inner)


def _piece_at(m: Machine, receiver: Wrapped, index: Value, site: Site | None) -> Value:
    from sselint.read.python.interpreter import pieces

    inner = receiver.inner
    number = index.value if isinstance(index, Const) and isinstance(index.value, int) else 0
    if not isinstance(inner, Cursor):
        return piece(inner)
    if m.hypothesis is Hypothesis.MALFORMED:
        if number in (0, -1):
            return inner
        raise Raised(Exceptional("IndexError"), site)
    found = pieces.cut_up(inner.shape, receiver.form.removeprefix("split:"))
    if inner.shape is not None and not -len(found) <= number < len(found) and not is_opaque(inner.shape):
        raise Raised(Exceptional("IndexError"), site)
    shape = found[number] if -len(found) <= number < len(found) else None
    return replace(inner, part=number, shape=shape)


# -- questions -----------------------------------------------------------------------------------------------------


def contains(m: Machine, container: Value, item: Value, site: Site) -> bool:
    """`item in container`, the container being text."""
    if isinstance(container, Const) and isinstance(item, Const):
        return spelled(item.value) in spelled(container.value)
    if isinstance(container, Wrapped):
        return contains(m, container.inner, item, site)
    if isinstance(container, Cursor) and isinstance(item, Const):
        if m.hypothesis is Hypothesis.MALFORMED:
            return False
        if container.shape is None or is_opaque(container.shape):
            return True
        return shape_parts(container.shape, spelled(item.value)) is not None
    if isinstance(container, Cursor) and any(isinstance(leaf, Minted) for leaf in leaves(item)):
        from sselint.read.python.interpreter import compare

        return m.hypothesis is not Hypothesis.MALFORMED and not compare.names_another(m, item, site)
    parts = container.parts if isinstance(container, Join) and isinstance(item, Const) else ()
    if any(isinstance(p, Const) and spelled(item.value) in spelled(p.value) for p in parts):  # type: ignore[attr-defined]
        return True
    return m.once(2, ("contains", site), "condition", "what the text holds", site) == 0


def method(
    m: Machine, receiver: Value, name: str, positional: tuple[Value, ...], keywords: dict[str, Value], site: Site
) -> Value | None:
    """A method of text; None where text has none of that name."""
    first = positional[0] if positional else None
    if name in ("partition", "rpartition") and first is not None:
        return split_in_two(m, receiver, first, name == "rpartition", site)
    if name in ("split", "rsplit", "splitlines"):
        separator = first if first is not None else keywords.get("sep")
        limit = positional[1] if len(positional) > 1 else keywords.get("maxsplit")
        return split(m, receiver, separator, site, limit, name == "rsplit")
    if isinstance(receiver, Const) and isinstance(receiver.value, str | bytes):
        return _constant_method(m, receiver, name, positional, keywords, site)
    if (
        name == "replace"
        and isinstance(receiver, Cursor)
        and any(isinstance(p, Minted) for p in leaves(first or receiver))
    ):
        return Unknown("a cursor out of which something of this process is taken", cursor=True)
    if name in SAME:
        return variables.through(receiver, name, positional) if isinstance(receiver, Variable) else receiver
    if name in QUESTIONS:
        return _question(m, receiver, name, site)
    if name in AFFIXES:
        return _affix(m, receiver, name, first, site)
    if name in ("find", "index", "count", "rfind"):
        return Unknown("a position in text", mentions_cursor(receiver))
    if name == "join" and first is not None:
        return joined(m, receiver, first, site)
    if name == "get" and first is not None and isinstance(receiver, Cursor):
        return item(m, receiver, first, site)
    return None


def _constant_method(
    m: Machine, receiver: Const, name: str, positional: tuple[Value, ...], keywords: dict[str, Value], site: Site
) -> Value | None:
    if name == "join" and positional:
        return joined(m, receiver, positional[0], site)
    if name == "format":
        return formatted(m, spelled(receiver.value), positional, keywords, site)
    if name == "format_map" and positional:
        return formatted(m, spelled(receiver.value), (), {"**": positional[0]}, site)
    if all(isinstance(p, Const) for p in positional) and not keywords and hasattr(receiver.value, name):
        arguments = [p.value for p in positional if isinstance(p, Const)]
        if (len(receiver.value) + 1) * sum(map(_reach, arguments)) > MAX_EXTENT:
            return Unknown("a very long text")
        try:
            result = getattr(receiver.value, name)(*arguments)
        except (TypeError, ValueError, LookupError, AttributeError, OverflowError):
            return Unknown("a method of text that does not work out")
        if isinstance(result, list | tuple):
            return Tuple(tuple(Const.of(r) for r in result))
        return Const.of(result)
    if name in AFFIXES | QUESTIONS:
        return Const.of(m.once(2, ("text", site), "condition", "what the text is", site) == 0)
    return receiver if name in SAME else None


def _reach(argument: Any) -> int:
    """How long an argument can make each character of a text: a width, or a text to put in."""
    return abs(argument) if isinstance(argument, int) else len(argument) if isinstance(argument, str | bytes) else 1


def _question(m: Machine, receiver: Value, name: str, site: Site) -> Value:
    if isinstance(receiver, Cursor):
        m.note("parse", site)
        return Const.of(m.hypothesis is not Hypothesis.MALFORMED)
    return Const.of(m.once(2, ("text", site), "condition", "what the text is", site) == 0)


def _affix(m: Machine, receiver: Value, name: str, affix: Value | None, site: Site) -> Value:
    """`startswith` and `endswith`: what the shape says of a well-formed cursor."""
    edge = 0 if name == "startswith" else -1
    known = receiver.shape if isinstance(receiver, Cursor) else receiver
    if isinstance(receiver, Cursor):
        if m.hypothesis is Hypothesis.MALFORMED:
            return Const.of(False)
        if affix is not None and not isinstance(affix, Const):
            from sselint.read.python.interpreter import compare

            return Const.of(not compare.names_another(m, affix, site))
    parts = known.parts if isinstance(known, Join) else (known,) if known is not None else ()
    end = parts[edge] if parts else None
    if isinstance(affix, Const) and isinstance(end, Const):
        return Const.of(getattr(spelled(end.value), name)(spelled(affix.value)))
    kind = "opaque" if mentions_cursor(receiver) else "condition"
    return Const.of(m.once(2, ("text", site), kind, "how the text begins or ends", site) == 0)


def joined(m: Machine, separator: Value, iterable: Value, site: Site) -> Value:
    """`separator.join(iterable)`."""
    from sselint.read.python.interpreter import iteration

    values = iteration.known_items(m, iterable)
    parts: list[Value] = []
    for value in values:
        if parts:
            parts.append(separator)
        parts.append(as_text(m, value, site, None))
    return join(parts)


# -- parsing -------------------------------------------------------------------------------------------------------


def to_number(m: Machine, value: Value, site: Site, kind: Callable[[Any], float] = int) -> Value:
    """`int(value)`, or of another kind. A malformed cursor raises the interpreted ValueError."""
    if isinstance(value, Const):
        try:
            number = Const.of(kind(value.value), *value.trail)
        except (TypeError, ValueError, OverflowError):
            raise Raised(Exceptional("TypeError" if value.value is None else "ValueError"), site) from None
        return replace(value, value=number.value, kind=number.kind) if isinstance(value, Remembered) else number
    if isinstance(value, Cursor):
        m.note("parse", site)
        if m.hypothesis is Hypothesis.MALFORMED:
            raise Raised(Exceptional("ValueError"), site)
        return replace(value, number=True)
    if isinstance(value, Variable):
        return replace(value, number=True)
    return value.inner if isinstance(value, Wrapped) and value.form == "slice" else value
