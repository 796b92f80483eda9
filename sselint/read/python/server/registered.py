"""What start-up registered, and what it refused."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from sselint.read.python.interpreter.oracle import Decision
from sselint.read.python.interpreter.values import Ref, Value
from sselint.read.python.rules import Effect
from sselint.read.python.source.modules import Module, Site

MAX_AT_ONE_PLACE = 120
"""Registrations by one line of code: a loop over routers has as many as there are routers."""


@dataclass(frozen=True)
class Registration:
    """Something that was registered with an application or router: a route, a mount, a middleware, a handler."""

    kind: str
    receiver: Ref | None
    handler: Value | None
    values: Mapping[str, Value]
    effect: Effect
    site: Site
    only_as_script: bool = False
    """Whether only a run of the file as a script comes here."""

    def says_the_same(self, other: Registration) -> bool:
        """Whether it was the same call with the same arguments, on whichever path."""
        mine = (self.kind, self.site, self.receiver, self.handler, self.values)
        return mine == (other.kind, other.site, other.receiver, other.handler, other.values)


class Registrations:
    """What was registered so far, in this order. Who is asked for on each request is found without looking at all."""

    def __init__(self) -> None:
        self._all: list[Registration] = []
        self._with: dict[tuple[str, Ref | None], list[int]] = {}
        self._at: dict[Site, list[int]] = {}

    def __iter__(self) -> Iterator[Registration]:
        return iter(self._all)

    def of(self, kind: str, receiver: Ref) -> list[Registration]:
        """What was registered with an application or router, of one kind."""
        return [self._all[number] for number in self._with.get((kind, receiver), ())]

    def add(self, made: Registration) -> bool:
        """Adds one: False where the same is there, or too many of the place. Of the same, the one stays that is not
        only come to where the file is run as a script."""
        here = self._at.setdefault(made.site, [])
        known = next((number for number in here if self._all[number].says_the_same(made)), None)
        if known is not None:
            if not made.only_as_script:
                self._all[known] = made
            return False
        if len(here) >= MAX_AT_ONE_PLACE:
            return False
        here.append(len(self._all))
        self._with.setdefault((made.kind, made.receiver), []).append(len(self._all))
        self._all.append(made)
        return True


@dataclass
class SetThere:
    """What a middleware was seen to set on a request, by name, and how often and when it was looked at last."""

    values: dict[str, dict[Value, None]] = field(default_factory=dict)
    version: int = -1
    looks: int = 0


@dataclass(frozen=True)
class Refusal:
    """A start-up that was refused because of environment variables."""

    module: Module
    site: Site
    decisions: tuple[Decision, ...]
    names: tuple[str, ...]
