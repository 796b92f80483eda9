"""HAProxy frontends to routes: which backend takes which requests, and replicas that are chosen by a key."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import islice

from sselint.facts import Match, Route
from sselint.read.haproxy.assembly import Assembly, Branch
from sselint.read.haproxy.conditions import Condition, Fetch, condition, fetch_of
from sselint.read.haproxy.keys import CARRIERS
from sselint.read.haproxy.replicas import Rule
from sselint.read.haproxy.sections import Configuration, Section
from sselint.read.haproxy.servers import servers

_EXPRESSION = re.compile(r"%\[((?:[^\[\]]|\[[^\]]*\])*)\]")
_REPLICA_KEYS = frozenset({"header", "cookie", "query"})
MOST_ROUTES = 2000
"""Routes of one configuration: more are a generated fleet that nobody reads one by one."""


def routes(configuration: Configuration, assembly: Assembly) -> Iterator[Route]:
    """The routes of a configuration: one for each frontend (or listen) and backend that it can choose, and one for each
    backend that no frontend here names."""
    yield from islice(_routes(configuration, assembly), MOST_ROUTES)


def _routes(configuration: Configuration, assembly: Assembly) -> Iterator[Route]:
    used: set[tuple[str, str]] = set()
    for frontend in configuration.of("frontend", "listen"):
        yield from _frontend(configuration, frontend, assembly, used)
    for backend in configuration.of("backend"):
        if (backend.kind, backend.name) not in used and servers(backend):
            yield from assembly.routes(None, Branch(backend))


def _frontend(
    configuration: Configuration, frontend: Section, assembly: Assembly, used: set[tuple[str, str]]
) -> Iterator[Route]:
    written = list(_rules(configuration, frontend))
    used.update((b.kind, b.name) for rule in written for b in rule.backends)
    rules = [rule for rule in written if not rule.condition.never]
    own = frontend.kind == "listen" and bool(servers(frontend))
    fallback = next((r.backends[0] for r in rules if r.default and r.backends), frontend if own else None)
    replicas, rest = _split(rules, fallback)
    if replicas:
        yield from assembly.by_replica(frontend, replicas, fallback)
        if all(not r.condition.match().paths and not r.condition.match().hosts for r in replicas):
            rest = [r for r in rest if not (r.default and _same_servers(r, replicas))]
    reached = set()
    for priority, rule in enumerate(rest):
        for backend in rule.backends:
            match = Match(priority=priority * 10 + 9) if rule.default else rule.condition.match(priority * 10 + 9)
            if rule.fetches:
                names = {f.name.lower() for f in rule.fetches if f.carrier == "header"}
                match = replace(match, headers=tuple(sorted({*match.headers, *names})))
            place = (backend.name, match.paths, match.hosts, match.headers)
            if place not in reached:
                reached.add(place)
                yield from assembly.routes(frontend, Branch(backend, rule.line, match, rule.default))
    covered = replicas and fallback is frontend
    if own and not covered and not any(r.condition.always for r in rest):
        yield from assembly.routes(frontend, Branch(frontend, None, Match(priority=len(rest) * 10 + 9), True))


def _rules(configuration: Configuration, frontend: Section) -> Iterator[Rule]:
    for line in frontend.own("use_backend"):
        if len(line.words) < 2:
            continue
        written = line.words[1]
        found = _EXPRESSION.findall(written.text) if written.known else []
        if found:
            backends = _computed(configuration, written.text)
            yield Rule(line, condition(line, frontend), backends, tuple(fetch_of(e, frontend.variables) for e in found))
        else:
            yield Rule(line, condition(line, frontend), configuration.backends(written.text)[:1])
    default = frontend.last("default_backend")
    if default and len(default.words) > 1:
        yield Rule(default, Condition(), configuration.backends(default.words[1].text)[:1], default=True)


@lru_cache(maxsize=256)
def _computed(configuration: Configuration, written: str) -> tuple[Section, ...]:
    """The backends that a computed name can mean."""
    parts = _EXPRESSION.split(written)[::2]
    if not "".join(parts):
        return configuration.of("backend")
    shape = re.compile(".+".join(re.escape(part) for part in parts), re.DOTALL)
    return tuple(s for s in configuration.of("backend", "listen") if shape.fullmatch(s.name))


def _split(rules: Sequence[Rule], fallback: Section | None) -> tuple[list[Rule], list[Rule]]:
    """The rules that choose a replica by one key, and the others. Replicas: two or more one-server backends."""
    by_key: dict[tuple[str, str], list[Rule]] = {}
    for rule in rules:
        fetch = _replica_key(rule)
        if fetch and all(len(servers(b)) == 1 and b is not fallback for b in rule.backends):
            by_key.setdefault(fetch.key, []).append(rule)
    for chosen in by_key.values():
        if len({b.name for rule in chosen for b in rule.backends}) > 1:
            return chosen, [r for r in rules if r not in chosen]
    return [], list(rules)


def _replica_key(rule: Rule) -> Fetch | None:
    """The one key that a rule chooses by, if it chooses by one that clients are given."""
    if not rule.backends or rule.default:
        return None
    tests = [t for t in rule.condition.tests if t.fetch.carrier not in ("path", "host", "always", "method")]
    fetches = [*rule.fetches, *(t.fetch for t in tests if not (rule.fetches and t.method == "found"))]
    wanted = {f.key for f in fetches if f.carrier in CARRIERS}
    if len(wanted) != 1 or len(wanted) != len({f.key for f in fetches}):
        return None
    return fetches[0] if fetches[0].carrier in _REPLICA_KEYS else None


def _same_servers(rule: Rule, replicas: Sequence[Rule]) -> bool:
    """Whether a rule's backend has no server that the replicas' backends do not have."""

    def addresses(sections: Sequence[Section]) -> set[tuple[str, int | None]]:
        return {(s.target.host, s.target.port) for b in sections for s in servers(b)}

    return addresses(rule.backends) <= addresses([b for r in replicas for b in r.backends])
