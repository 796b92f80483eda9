"""The contexts of a configuration (http, server, location, if) and what a directive's value is in each.

nginx merges most settings the same way: a block that says nothing of a directive takes over all that the nearest block
around it says; a block that says anything of it takes over none (nginx.org, "proxy_set_header": "inherited from the
previous configuration level if and only if there are no ... directives defined on the current level").
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from sselint.read.nginx.knowledge import knowledge
from sselint.read.nginx.parser import Directive, Word

_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0, "w": 604800.0, "M": 2592000.0, "y": 31536000.0}
_TIME_PART = re.compile(r"(\d+)(ms|[smhdwMy]?)")


@dataclass(frozen=True)
class Scope:
    """A block with the blocks around it. `directive` is None for a root that the text does not write (a fragment)."""

    kind: str
    directive: Directive | None
    children: tuple[Directive, ...]
    parent: Scope | None = None

    def chain(self) -> Iterator[Scope]:
        """This scope and those around it, innermost first."""
        scope: Scope | None = self
        while scope is not None:
            yield scope
            scope = scope.parent

    def own(self, *names: str) -> tuple[Directive, ...]:
        """The directives of these names in this very block."""
        found = [self._by_name[name] for name in names if name in self._by_name]
        if len(found) <= 1:
            return found[0] if found else ()
        return tuple(d for d in self.children if d.name in names)

    @cached_property
    def _by_name(self) -> dict[str, tuple[Directive, ...]]:
        """The children by name: an http block can have thousands, and every route asks it for a dozen settings."""
        found: dict[str, list[Directive]] = {}
        for directive in self.children:
            found.setdefault(directive.name, []).append(directive)
        return {name: tuple(directives) for name, directives in found.items()}

    @cached_property
    def lua(self) -> tuple[Directive, ...]:
        """The blocks of Lua in this very block."""
        return tuple(d for d in self.children if d.body is not None)

    def inherited(self, *names: str) -> tuple[Directive, ...]:
        """The directives of these names that hold here: those of the nearest block that has any."""
        for scope in self.chain():
            if found := scope.own(*names):
                return found
        return ()

    def setting(self, name: str) -> Directive | None:
        """The directive that decides a setting of one value here (the last one, as nginx refuses two), or None."""
        found = self.inherited(name)
        return found[-1] if found else None

    def inside(self, directive: Directive) -> Scope:
        """The scope of a block in this one."""
        return Scope(directive.name, directive, directive.block or (), self)

    def nearest(self, kind: str) -> Scope | None:
        """This scope or the nearest one around it of that kind."""
        return next((scope for scope in self.chain() if scope.kind == kind), None)

    @property
    def ancestors(self) -> tuple[Directive, ...]:
        """The heads of the blocks that lead here, outermost first."""
        return tuple(s.directive for s in reversed(tuple(self.chain())) if s.directive is not None)


def roots(directives: tuple[Directive, ...]) -> Iterator[Scope]:
    """The http and stream contexts of a configuration; a fragment counts as the inside of http.

    Everything at the top that is not a context of its own belongs to the fragment.
    """
    loose: list[Directive] = []
    for directive in directives:
        if directive.block is not None and directive.name in ("http", "stream"):
            yield Scope(directive.name, directive, directive.block)
        elif directive.name not in ("events", "mail"):
            loose.append(directive)
    if any(d.name not in knowledge().main for d in loose):
        yield Scope("http", None, tuple(loose))


def seconds(text: str) -> float | None:
    """A time as nginx writes it ("90", "1m30s", "500ms") in seconds; None if it is not one."""
    total, position = 0.0, 0
    text = text.replace(" ", "")
    while position < len(text):
        match = _TIME_PART.match(text, position)
        if match is None:
            return None
        total += int(match[1]) * _SECONDS[match[2] or "s"]
        position = match.end()
    return total if text else None


def parameter(directive: Directive, name: str) -> Word | None:
    """The word `name=...` of a directive, or None."""
    return next((w for w in directive.words[1:] if w.text.startswith(f"{name}=")), None)


def value_of(directive: Directive, name: str) -> str | None:
    """The value of the parameter `name=value`, or None where it is not written."""
    word = parameter(directive, name)
    return word.text[len(name) + 1 :] if word else None
