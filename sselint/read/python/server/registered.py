"""What start-up registered, and what it refused."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sselint.read.python.interpreter.oracle import Decision
from sselint.read.python.interpreter.values import Ref, Value
from sselint.read.python.rules import Effect
from sselint.read.python.source.modules import Module, Site


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


@dataclass(frozen=True)
class Refusal:
    """A start-up that was refused because of environment variables."""

    module: Module
    site: Site
    decisions: tuple[Decision, ...]
    names: tuple[str, ...]
