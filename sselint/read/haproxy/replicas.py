"""Replicas that a frontend chooses by a key: `use_backend` to one-server backends by session id, cookie or cursor."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

from sselint.affinity import find_row, judge_row
from sselint.catalogue import affinity_rows
from sselint.facts import Affinity, Evidence, Strength
from sselint.read.haproxy.conditions import Condition, Fetch, condition
from sselint.read.haproxy.keys import LAST_EVENT_ID, NOBODY, Key, key_of
from sselint.read.haproxy.lexer import Line
from sselint.read.haproxy.sections import Configuration, Section
from sselint.read.haproxy.servers import Server, servers

_NUMERIC = frozenset({"int", "len"})


@dataclass(frozen=True)
class Rule:
    """A `use_backend` or `default_backend` line: which backends it can choose, and when. `fetches` is what a computed
    name looks at."""

    line: Line
    condition: Condition
    backends: tuple[Section, ...]
    fetches: tuple[Fetch, ...] = ()
    default: bool = False


def looks_at_cursor(line: Line, section: Section) -> bool:
    """Whether a rule chooses by `Last-Event-ID`."""
    if any(t.fetch.key == ("header", LAST_EVENT_ID) for t in condition(line, section).tests):
        return True
    return any(LAST_EVENT_ID in word.text.lower() for word in line.arguments[:1] if "%[" in word.text)


@dataclass(frozen=True)
class Replicas:
    """A group of rules that choose one-server backends by the same key, and what takes the requests they leave."""

    frontend: Section
    rules: tuple[Rule, ...]
    fallback: Section | None
    configuration: Configuration

    @cached_property
    def backends(self) -> tuple[Section, ...]:
        """The replicas' backends."""
        return tuple(dict.fromkeys(b for rule in self.rules for b in rule.backends))

    @cached_property
    def servers(self) -> tuple[Server, ...]:
        """All servers, those of the fallback that are not the replicas' own included."""
        found = [s for b in self.backends for s in servers(b)]
        known = {(s.target.host, s.target.port) for s in found}
        others = servers(self.fallback) if self.fallback else ()
        return tuple(found) + tuple(s for s in others if (s.target.host, s.target.port) not in known)

    @cached_property
    def key(self) -> Key:
        """The key that they are chosen by."""
        for rule in self.rules:
            for fetch in (*rule.fetches, *(t.fetch for t in rule.condition.tests)):
                key = key_of(fetch, chosen_by_prefix=True)
                if key.kind in ("header", "cookie", "query", "last_event_id"):
                    return key
        return NOBODY

    @property
    def by_last_event_id(self) -> bool:
        """Whether the cursor itself is the key."""
        return self.key.is_last_event_id

    @property
    def by_range(self) -> bool:
        """Whether ids are compared as numbers: then an id says nothing about who made it."""
        return any(t.method in _NUMERIC for rule in self.rules for t in rule.condition.tests)

    @property
    def label(self) -> str:
        """The backends in words."""
        names = ", ".join(b.name for b in self.backends[:4]) + (", ..." if len(self.backends) > 4 else "")
        other = f", else {self.fallback.name}" if self.fallback else ""
        return f"backends {names} by {self.key.name or self.key.kind}{other}"

    @property
    def paths_and_hosts(self) -> tuple[tuple[tuple[str, str], ...], tuple[str, ...]]:
        """What else the rules ask for."""
        matches = [rule.condition.match() for rule in self.rules]
        paths = tuple(dict.fromkeys(p for m in matches for p in m.paths)) if all(m.paths for m in matches) else ()
        hosts = tuple(dict.fromkeys(h for m in matches for h in m.hosts)) if all(m.hosts for m in matches) else ()
        return paths, hosts

    def affinity(self, without_key: Affinity | None) -> Affinity:
        """What a client meets that presents the key. `without_key` is the affinity of the fallback."""
        row = find_row(affinity_rows("haproxy"), {"method": "use_backend", "range": self.by_range})
        evidence: Evidence = tuple(rule.line.span() for rule in self.rules)
        backups = [s.line for s in self.servers if s.flag("backup")]
        undone = [line.span("a backup server, which takes over while the replica is down") for line in backups]
        default = self.frontend.last("default_backend")
        stray = self._stray(without_key)
        if default and stray:
            undone.append(default.span(stray))
        assert row is not None, "rules/affinity/haproxy.yaml has a row for every use_backend"
        found = judge_row(
            replace(row, issued_by=self.key.issued_by, carrier=self.key.carrier),
            key_name=self.key.name,
            evidence=evidence,
            undone_by=tuple(undone),
        )
        if found.strength is Strength.STRICT and undone:
            return replace(found, strength=Strength.BEST_EFFORT, why=f"{found.why}; but {undone[-1].note}")
        return found

    def _stray(self, without_key: Affinity | None) -> str:
        """What happens to ids that no rule matches, where that matters: the application makes the cursors, and
        sessions on servers that no rule names never match."""
        if self.fallback is None or without_key is None:
            return ""
        default = "the default backend: "
        if self.by_last_event_id:
            return f"{default}an id that no rule matches goes to {self.fallback.name} ({without_key.mechanism})"
        own = {(s.target.host, s.target.port) for b in self.backends for s in servers(b)}
        if all((s.target.host, s.target.port) in own for s in servers(self.fallback)):
            return ""
        return f"{default}{self.fallback.name} has servers that no rule leads back to ({without_key.mechanism})"
