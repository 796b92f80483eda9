"""`receiver[index]`, whatever the receiver is: read, written, taken away, and slices of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sselint.read.python.interpreter import (
    calls,
    containers,
    extended,
    iteration,
    records,
    slices,
    text,
)
from sselint.read.python.interpreter.machine import Arguments, Frame, Machine, Raised
from sselint.read.python.interpreter.values import (
    ClassValue,
    Collection,
    Const,
    Cursor,
    Exceptional,
    External,
    Input,
    Join,
    Minted,
    Ref,
    Reply,
    Tuple,
    Unknown,
    Value,
    Wrapped,
    mentions_cursor,
)
from sselint.read.python.libraries import library, proxies
from sselint.read.python.source.modules import Site

# -- reading -------------------------------------------------------------------------------------------------------


def get_item(m: Machine, receiver: Value, index: Value, site: Site, frame: Frame) -> Value:
    """`receiver[index]`."""
    if isinstance(receiver, Tuple | Const) and isinstance(index, Const):
        return _constant_item(receiver, index, site)
    if isinstance(receiver, Cursor | Wrapped | Join):
        return text.item(m, receiver, index, site)
    if isinstance(receiver, Reply):
        if receiver.is_nothing:
            raise Raised(Exceptional("KeyError"), site)
        return library.reply_item(m, receiver, index)
    if isinstance(receiver, Collection):
        return containers.element(m, receiver, index, site)
    if isinstance(receiver, ClassValue):
        return receiver
    if isinstance(receiver, External):
        return library.external_item(m, receiver, index, site)
    if isinstance(receiver, Ref):
        behind = proxies.behind(m, receiver, site)
        if behind is not None:
            return get_item(m, behind, index, site, frame)
        return _object_item(m, receiver, index, site, frame)
    if isinstance(receiver, Unknown | Input | Minted):
        return receiver
    return Unknown(
        "an element of something that is not understood", mentions_cursor(receiver) or mentions_cursor(index)
    )


def _constant_item(receiver: Tuple | Const, index: Const, site: Site) -> Value:
    holder = receiver.items if isinstance(receiver, Tuple) else receiver.value
    try:
        value = holder[index.value]
    except (TypeError, KeyError):
        return Unknown("an element of a constant that is not understood")
    except IndexError:
        raise Raised(Exceptional("IndexError"), site) from None
    return value if isinstance(value, Value) else Const.of(value)


def _object_item(m: Machine, ref: Ref, index: Value, site: Site, frame: Frame) -> Value:
    method = extended.defined(m, ref, "__getitem__")
    if method is not None:
        return calls.call(m, method, (index,), {}, site, frame)
    if m.object(ref).kind in containers.KINDS:
        return containers.entry(m, ref, index, site, frame)
    found = m.read_attribute(ref, containers.name_of_key(index), site)
    if found is not None:
        return found
    fields = records.tuple_fields(m, ref)
    if (
        fields is not None
        and isinstance(index, Const)
        and isinstance(index.value, int)
        and -len(fields) <= index.value < len(fields)
    ):
        return fields[index.value]
    return library.object_item(m, ref, index, site)


# -- writing -------------------------------------------------------------------------------------------------------


def set_item(m: Machine, receiver: Value, key: Value, value: Value, site: Site) -> None:
    """`receiver[key] = value`."""
    if not isinstance(receiver, Ref):
        return
    method = extended.defined(m, receiver, "__setitem__")
    if method is not None:
        calls.call(m, method, (key, value), {}, site, None)
    elif m.object(receiver).kind in containers.KINDS:
        containers.put(m, receiver, key, value, site)
    elif library.describes(m, receiver, "__setitem__"):
        library.object_method(m, receiver, "__setitem__", Arguments((key, value), {}, site, None))
    else:
        m.write_attribute(receiver, containers.name_of_key(key), value, site)


def delete_item(m: Machine, receiver: Value, key: Value, site: Site) -> None:
    """`del receiver[key]`."""
    method = extended.defined(m, receiver, "__delitem__") if isinstance(receiver, Ref) else None
    if method is not None:
        calls.call(m, method, (key,), {}, site, None)
    else:
        containers.remove_item(m, receiver, key, site)


# -- slices --------------------------------------------------------------------------------------------------------


def take_slice(m: Machine, receiver: Value, lower: Value | None, upper: Value | None, site: Site) -> Value:
    """`receiver[lower:upper]`."""
    bounds: list[Any] = [b.value if isinstance(b, Const) else b for b in (lower, upper)]
    if isinstance(receiver, Const | Tuple) and all(b is None or isinstance(b, int) for b in bounds):
        if isinstance(receiver, Tuple):
            return Tuple(receiver.items[bounds[0] : bounds[1]])
        if isinstance(receiver.value, str | bytes):
            return Const.of(receiver.value[bounds[0] : bounds[1]])
    if isinstance(receiver, Cursor):
        return receiver
    if isinstance(receiver, Join | Minted | Input | Wrapped):
        return Wrapped("slice", receiver)
    if isinstance(receiver, Ref) and library.describes(m, receiver, "__getitem__"):
        return library.object_item(m, receiver, lower or Const.of(None), site)
    view = iteration.view_of(m, receiver)
    if m.building and view is not None and isinstance(receiver, Ref) and m.own(receiver) and not _asks(bounds):
        return containers.made_of(m, view.items, site)
    if view is None:
        return Unknown("a slice of something that is not understood", mentions_cursor(receiver))
    return slices.up_to(view, upper) if lower is None else slices.starting_at(m, view, lower, site)


def _asks(bounds: Sequence[Any]) -> bool:
    return any(isinstance(bound, Value) and mentions_cursor(bound) for bound in bounds)
