"""A call that a rule describes, as the verbs of the rules see it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sselint.read.python.interpreter.machine import Arguments
from sselint.read.python.interpreter.values import Value
from sselint.read.python.rules import Effect, Entry


@dataclass(frozen=True)
class Context:
    """A call that a rule describes: on which object, by which entry, with which arguments."""

    receiver: Value | None
    entry: Entry
    arguments: Arguments

    def bound(self, effect: Effect) -> dict[str, Value]:
        """The arguments by name."""
        parameters = effect.get("parameters")
        if parameters is None:
            parameters = self.entry.parameters if effect is self.entry.call else ()
        return bind_arguments(tuple(map(str, parameters)), self.arguments.positional, self.arguments.keywords)

    def argument(self, effect: Effect, option: str, default: Any = None) -> Value | None:
        """The argument that an option of the effect names."""
        name = effect.get(option, default)
        return None if name is None else self.bound(effect).get(str(name))


def bind_arguments(
    parameters: Sequence[str], positional: Sequence[Value], keywords: dict[str, Value]
) -> dict[str, Value]:
    """Arguments by the names of the parameters; what has no name is under its position."""
    bound: dict[str, Value] = {}
    for number, value in enumerate(positional):
        bound[parameters[number] if number < len(parameters) else str(number)] = value
    bound.update(keywords)
    return bound
