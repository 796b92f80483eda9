"""What stands in for a value that nobody has been seen to give yet: it goes where somebody does.

A function that nobody calls is looked at by itself, with arguments that stand in for what callers would give. It may
turn out later that it has callers. Likewise what was read from a container before anything was seen to fill it, and
from an object before anything was seen to set it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from sselint.read.python.interpreter.values import Input, Ref, Unknown, Value, leaves
from sselint.read.python.source import ir

if TYPE_CHECKING:
    from sselint.read.python.interpreter.machine import Machine

UNFILLED = "nothing in the tree fills "
UNFED = "nothing in the tree puts anything into "


def argument(m: Machine, given: Input | Unknown, function: ir.FunctionNode | ir.Lambda) -> Value:
    """An argument of a function that is looked at by itself: `given`, as long as nobody calls the function."""
    m.world.placeholders.setdefault(_said(given), set()).add(function)
    return given


def unfilled(label: str, cursor: bool = False) -> Unknown:
    """What is in a container that nothing fills."""
    return Unknown(UNFILLED + label, cursor)


def unset(m: Machine, ref: Ref, name: str, owner: str) -> Unknown:
    """What an object has under a name that nothing sets, as long as nothing does."""
    made = Unknown(f"{name} of {owner}, which nothing in the tree sets")
    m.world.placeholders.setdefault(made.why, set()).add((ref.id, name))
    return made


def without(m: Machine, options: Iterable[Value]) -> list[Value]:
    """Of the values that were put somewhere those that are no stand-ins. Where there is nothing else, what they stand
    in for if that has been set since, and all of them otherwise."""
    found = list(options)
    kept = [v for v in found if not any(_is_one(m, leaf) for leaf in leaves(v))] if len(found) > 1 else []
    return kept or [value for given in found for value in _set_since(m, given)] or found


def _set_since(m: Machine, given: Value) -> list[Value]:
    """What is by now under the name of an object for which something stands in."""
    places = m.world.placeholders.get(given.why, ()) if isinstance(given, Unknown) else ()
    if not all(_is_there(m, place) for place in places):
        return []
    named = [m.heap[place[0]].attributes[place[1]] for place in places if isinstance(place, tuple)]
    return [value for values in named for value in values if not isinstance(value, Unknown)]


def _said(value: Input | Unknown) -> str:
    return value.name if isinstance(value, Input) else value.why


def _is_one(m: Machine, value: Value) -> bool:
    if not isinstance(value, Input | Unknown):
        return False
    waited_for = m.world.placeholders.get(_said(value))
    if waited_for:
        return all(_is_there(m, place) for place in waited_for)
    return isinstance(value, Unknown) and value.why.startswith((UNFILLED, UNFED))


def _is_there(m: Machine, place: ir.Node | tuple[int, str]) -> bool:
    """Whether a function has callers by now, or an attribute of an object is set."""
    if not isinstance(place, tuple):
        return place in m.world.reached
    number, name = place
    return any(not isinstance(value, Unknown) for value in m.heap[number].attributes.get(name, ()))
