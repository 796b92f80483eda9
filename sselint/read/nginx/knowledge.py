"""What rules/affinity/nginx.yaml knows of nginx's variables and directives, beside the measured rows."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Any

from sselint.catalogue import load_yaml, rules_directory


@dataclass(frozen=True)
class Knowledge:
    """`variables` maps a name, or the beginning of one, to who decides its value; see the rules file for the rest."""

    variables: dict[str, str]
    beginnings: tuple[tuple[str, str], ...]
    foreign_methods: frozenset[str]
    neutral: frozenset[str]
    shipped: re.Pattern[str]
    main: frozenset[str]
    shown: tuple[str, ...]

    def decided_by(self, variable: str) -> str:
        """Who decides a request variable's value: cursor | changing | address | server | path | client | unknown."""
        name = variable.lower()
        if name in self.variables:
            return self.variables[name]
        return next((group for beginning, group in self.beginnings if name.startswith(beginning)), "unknown")


@cache
def knowledge() -> Knowledge:
    """The knowledge in the rules file. Raises CatalogueError."""
    document: dict[str, Any] = load_yaml(rules_directory() / "affinity" / "nginx.yaml")
    groups = document["variables"]
    names = {name: group for group, members in groups.items() for name in members}
    return Knowledge(
        variables={name: group for name, group in names.items() if not name.endswith("*")},
        beginnings=tuple((name[:-1], group) for name, group in names.items() if name.endswith("*")),
        foreign_methods=frozenset(document["upstream"]["foreign"]),
        neutral=frozenset(document["upstream"]["neutral"]),
        shipped=re.compile(r"(?:.*/)?(?:" + "|".join(document["shipped"]) + r")\Z"),
        main=frozenset(document["main"]),
        shown=tuple(document["shown"]),
    )
