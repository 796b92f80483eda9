"""Puts a `facts.Route` together from a frontend, the rule that chooses, and the backend."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

from sselint.facts import Affinity, CursorTreatment, Evidence, Match, Route, Strength
from sselint.read.haproxy.affinity import (
    PERSISTENCE_RULES,
    Overrides,
    affinity_of,
    overrides_always,
    overrides_by,
    persistence_rules,
)
from sselint.read.haproxy.conditions import Condition, condition
from sselint.read.haproxy.evidence import pseudo_config
from sselint.read.haproxy.keys import LAST_EVENT_ID
from sselint.read.haproxy.lexer import Line
from sselint.read.haproxy.observations import CursorEdit, cursor_edits, observations
from sselint.read.haproxy.persistence import NOTHING_ASSUMED, Assumed, Backend
from sselint.read.haproxy.replicas import Replicas, Rule, looks_at_cursor
from sselint.read.haproxy.sections import Configuration, Section
from sselint.read.haproxy.servers import Server, members, servers

ANY_REQUEST = Match()
MOST_SINGLED_OUT = 50
"""Paths and hosts of one backend that get routes of their own; more are a generated list."""


@dataclass(frozen=True)
class Branch:
    """A backend as a frontend reaches it: by which rule (None: a listen's own servers, or no frontend known), for which
    requests, and whether that is the default."""

    backend: Section
    rule: Line | None = None
    match: Match = ANY_REQUEST
    default: bool = False


@dataclass(frozen=True, eq=False)
class Assembly:
    """What all routes of one configuration share."""

    configuration: Configuration
    assumed: Assumed = NOTHING_ASSUMED
    _by_cursor_rules: dict[Section, Evidence] = field(default_factory=dict)

    def routes(self, frontend: Section | None, branch: Branch) -> Iterator[Route]:
        """The routes to a backend: one, and one more for each path or host that persistence rules or edits of
        `Last-Event-ID` single out."""
        backend = Backend(branch.backend, self.configuration, servers(branch.backend))
        if not backend.servers:
            return
        sections = self._sections(frontend, branch.backend)
        edits = cursor_edits(*sections) if backend.http else CursorEdit(CursorTreatment.PASSED, ())
        always = overrides_always(branch.backend)
        for line, only in islice(self._singled_out(branch.backend, edits), MOST_SINGLED_OUT):
            match = _narrowed(branch.match, only.match(branch.match.priority - 1))
            overrides = overrides_by(line) if line.keyword in PERSISTENCE_RULES else always
            edit = edits
            if line in edits.only:
                edit = CursorEdit(CursorTreatment.STRIPPED, (line.span(),))
            here = replace(backend, only=only.match())
            yield self._route(frontend, replace(branch, match=match), here, overrides, edit, extra=(line,))
        yield self._route(frontend, branch, backend, always, edits)

    def by_replica(self, frontend: Section, rules: Sequence[Rule], fallback: Section | None) -> Iterator[Route]:
        """The route of a frontend that sends each client to its own one-server backend by a key."""
        chosen = Replicas(frontend, tuple(rules), fallback, self.configuration)
        sections = [s for s in (frontend, *chosen.backends, *([fallback] if fallback else [])) if s]
        edits = cursor_edits(*dict.fromkeys(sections))
        if fallback:
            other = Backend(fallback, self.configuration, servers(fallback))
            without_key: Affinity | None = affinity_of(other, overrides_always(fallback), self.assumed)
        else:
            without_key = None
        found = chosen.servers
        paths, hosts = chosen.paths_and_hosts
        shown = tuple(rule.line for rule in rules)
        by_cursor: Evidence = tuple(line.span() for line in shown) if chosen.by_last_event_id else ()
        yield Route(
            path=frontend.header.source.path,
            line=frontend.header.span().line,
            format="haproxy",
            name=f"frontend {frontend.name} -> {chosen.label}",
            pool=", ".join(dict.fromkeys(b.name for b in chosen.backends)),
            members=members(found),
            affinity=chosen.affinity(without_key),
            match=Match(paths, hosts, (chosen.key.name.lower(),) if chosen.key.kind == "header" else (), 0),
            targets=tuple(s.target for s in found),
            addresses=_addresses(frontend),
            resolves=_resolves(found),
            last_event_id=CursorTreatment.ROUTED_ON if by_cursor else edits.treatment,
            last_event_id_evidence=edits.evidence or by_cursor,
            observations=observations(frontend, chosen.backends[0], http=True),
            evidence=pseudo_config(frontend, shown, (*chosen.backends, *([fallback] if fallback else []))),
        )

    def _sections(self, frontend: Section | None, backend: Section) -> tuple[Section, ...]:
        return (backend,) if frontend is None or frontend is backend else (frontend, backend)

    def _singled_out(self, backend: Section, edits: CursorEdit) -> Iterator[tuple[Line, Condition]]:
        seen: list[Condition] = []
        for line in (*persistence_rules(backend), *backend.own("stick")):
            holds = condition(line, backend)
            if holds.by_path_and_host and holds not in seen:
                seen.append(holds)
                yield line, holds
        for line in edits.only:
            section = next(s for s in self.configuration.sections if line in s.all(line.keyword))
            yield line, condition(line, section)

    def _route(
        self,
        frontend: Section | None,
        branch: Branch,
        backend: Backend,
        overrides: Overrides,
        edits: CursorEdit,
        extra: tuple[Line, ...] = (),
    ) -> Route:
        section = branch.backend
        affinity = self._affinity(backend, overrides)
        shown = (*([branch.rule] if branch.rule else []), *extra)
        by_cursor = self._by_cursor(frontend, backend, affinity)
        header = (frontend or section).header
        return Route(
            path=header.source.path,
            line=header.span().line,
            format="haproxy",
            name=_name(frontend, section),
            pool=section.name,
            members=members(backend.servers),
            affinity=affinity,
            match=branch.match,
            targets=tuple(s.target for s in backend.servers),
            addresses=_addresses(frontend) if frontend else frozenset(),
            resolves=_resolves(backend.servers),
            last_event_id=CursorTreatment.ROUTED_ON
            if by_cursor and edits.treatment is CursorTreatment.PASSED
            else edits.treatment,
            last_event_id_evidence=edits.evidence or by_cursor,
            observations=observations(frontend, section, http=backend.http),
            evidence=pseudo_config(frontend, shown, (section,)),
        )

    def _affinity(self, backend: Backend, overrides: Overrides) -> Affinity:
        """The affinity; where a persistence rule has a condition that is not decided here and the answer depends on it,
        the strength is unknown."""
        found = affinity_of(backend, overrides, self.assumed)
        for line in persistence_rules(backend.section):
            holds = condition(line, backend.section)
            if holds.always or holds.never or holds.by_path_and_host:
                continue
            other = affinity_of(backend, overrides_by(line), self.assumed)
            if line.keyword == "ignore-persist":
                skipped = line.span("ignore-persist: persistence is skipped under a condition")
                found = replace(found, undone_by=(*found.undone_by, skipped))
            if other.strength is not found.strength and Strength.STRICT in (other.strength, found.strength):
                why = f"depends on a condition that is not decided here: with it {other.why}; without it {found.why}"
                found = replace(found, strength=Strength.UNKNOWN, why=why, row="", events=())
        return found

    def _by_cursor(self, frontend: Section | None, backend: Backend, affinity: Affinity) -> Evidence:
        """The lines that choose by `Last-Event-ID`, if any do."""
        if affinity.key.name.lower() == LAST_EVENT_ID:
            return affinity.evidence
        if frontend is None:
            return ()
        if frontend not in self._by_cursor_rules:
            rules = (line for line in frontend.own("use_backend") if looks_at_cursor(line, frontend))
            self._by_cursor_rules[frontend] = tuple(line.span() for line in rules)
        return self._by_cursor_rules[frontend]


def _name(frontend: Section | None, backend: Section) -> str:
    if frontend is None:
        return f"backend {backend.name}"
    if frontend is backend:
        return f"listen {backend.name}"
    return f"{frontend.kind} {frontend.name} -> {backend.kind} {backend.name}"


def _addresses(frontend: Section) -> frozenset[str]:
    """host:port of what it listens on, where a host is written."""
    words = [w for line in frontend.own("bind") if line.arguments for w in [line.words[1]]]
    if len(frontend.header.words) > 2 and ":" in frontend.header.words[2].text:
        words.append(frontend.header.words[2])
    parts = [part for w in words if w.known for part in w.text.split(",")]
    return frozenset(p for p in parts if p.rpartition(":")[0] not in ("", "*", "0.0.0.0", "::", "[::]"))  # noqa: S104


def _resolves(found: Sequence[Server]) -> str:
    """HAProxy takes the first address of a name for a server line; a server-template fills its slots with all."""
    return "all" if any(s.line.keyword == "server-template" for s in found) else "one"


def _narrowed(match: Match, only: Match) -> Match:
    return replace(match, paths=only.paths or match.paths, hosts=only.hosts or match.hosts, priority=only.priority)
