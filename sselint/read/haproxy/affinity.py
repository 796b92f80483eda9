"""From what a HAProxy backend says to its measured affinity: which row, what undoes it, what the text leaves open."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product

from sselint.affinity import AffinityRow, Features, find_row, judge_row
from sselint.catalogue import affinity_rows
from sselint.facts import Affinity, Evidence, Meets, RoutingEvent, RoutingKey, Span, Strength
from sselint.read.haproxy.conditions import condition
from sselint.read.haproxy.lexer import Choice, Line
from sselint.read.haproxy.persistence import NOTHING_ASSUMED, Assumed, Backend, persistence
from sselint.read.haproxy.sections import Section
from sselint.read.haproxy.servers import Server, servers

RETRIES = 3
"""`retries` where nothing says otherwise (manual, "retries"; the 503 after three tries is measured)."""


@dataclass(frozen=True)
class Overrides:
    """`force-persist` and `ignore-persist` as they hold for the requests at hand."""

    forced: bool = False
    ignored: bool = False


@dataclass(frozen=True)
class Failover:
    """When a client that presents its key is sent elsewhere. `when` is never | maintenance | down | connect; `persist`
    says whether a server that is marked down still gets its clients' first try."""

    when: str
    persist: bool
    undone_by: Evidence


MOST_WORLDS = 64
"""Ways for undecided conditions to turn out that are looked at one by one; of more, all alone and all together."""


def affinity_of(backend: Backend, overrides: Overrides, assumed: Assumed = NOTHING_ASSUMED) -> Affinity:
    """The affinity of a backend. Where lines stand under conditions that nobody can decide here, every way they can
    turn out is looked at: if a client may be pinned strictly or not, the strength is unknown; else the weakest counts.
    """
    doubtful = [line for line in backend.section.doubtful if _matters(line)]
    if not doubtful:
        return _with_unread_lines(_judged(backend, overrides, assumed), backend)
    found: dict[tuple[Strength, str], Affinity] = {}
    for chosen in _worlds(doubtful):
        section = backend.section.under(chosen)
        here = replace(backend, section=section, servers=servers(section))
        if here.servers or not backend.servers:  # without any server there is no backend to speak of
            affinity = _judged(here, overrides, assumed)
            found.setdefault((affinity.strength, affinity.mechanism), affinity)
    if not found:
        return _judged(backend, overrides, assumed)
    by_weakness = sorted(found.values(), key=lambda affinity: _WEAKEST_FIRST.index(affinity.strength))
    weakest = by_weakness[0]
    if len(found) == 1:
        return _with_unread_lines(weakest, backend)
    spans = tuple(line.span("may or may not stand") for line in doubtful)
    why = f"depends on a condition that is not decided here: {' or else '.join(a.why for a in by_weakness[:3])}"
    if {Strength.STRICT, Strength.UNKNOWN} & {affinity.strength for affinity in by_weakness}:
        weakest = replace(weakest, strength=Strength.UNKNOWN, row="", events=())
    mechanism = " or ".join(dict.fromkeys(a.mechanism for a in by_weakness[:3]))
    return replace(weakest, mechanism=mechanism, why=why, evidence=weakest.evidence + spans)


def _with_unread_lines(affinity: Affinity, backend: Backend) -> Affinity:
    """Nobody knows what else stands where a template prints whole lines: they may undo what pins strictly."""
    unread = [line for section in backend.section.lineage for line in section.own("")]
    if affinity.strength is not Strength.STRICT or not unread:
        return affinity
    why = f"{affinity.why}; unless the lines that a template prints here undo it"
    spans = tuple(line.span("what is printed here is not known") for line in unread)
    return replace(affinity, strength=Strength.UNKNOWN, why=why, evidence=affinity.evidence + spans)


_WEAKEST_FIRST = (Strength.NONE, Strength.BEST_EFFORT, Strength.UNKNOWN, Strength.STRICT)


def _worlds(doubtful: Sequence[Line]) -> Iterator[dict[Choice, int]]:
    """The ways in which the choices that these lines stand under can turn out, those with most lines first."""
    choices = list(dict.fromkeys(choice for line in doubtful for choice, _ in line.when))
    ways = [[*range(choice.branches), *([] if choice.complete else [-1])] for choice in choices]
    number = 1
    for each in ways:
        number *= len(each)
        if number > MOST_WORLDS:
            break
    if number <= MOST_WORLDS:
        yield from (dict(zip(choices, way, strict=True)) for way in product(*ways))
        return
    first, last = ({c: each[end] for c, each in zip(choices, ways, strict=True)} for end in (0, -1))
    yield from (first, last)
    for choice in choices[:MOST_WORLDS]:
        yield {**first, choice: last[choice]}
        yield {**last, choice: first[choice]}


_DECIDING = frozenset(
    {
        "balance", "cookie", "stick", "stick-table", "use-server", "server", "server-template", "default-server",
        "hash-type", "hash-balance-factor", "option", "no", "retries", "retry-on", "force-persist", "ignore-persist",
        "mode", "dynamic-cookie-key", "http-check",
    }
)


def _matters(line: Line) -> bool:
    return line.keyword in _DECIDING


def _judged(backend: Backend, overrides: Overrides, assumed: Assumed) -> Affinity:
    single = _single(backend)
    if single:
        return single
    found = persistence(backend, ignored=overrides.ignored, assumed=assumed)
    evidence = tuple(line.span() for line in found.lines) or (backend.section.header.span(),)
    if found.features["method"] == "none" and _backup_only(backend):
        found = replace(found, features={"method": "backup"})
    failover = _failover(backend, overrides, found.features)
    features: Features = {
        **found.features,
        "failover": failover.when,
        "persist": failover.persist,
        "check": backend.checked,
    }
    row = find_row(affinity_rows("haproxy"), features)
    if row is None:
        key = RoutingKey(found.key.issued_by, found.key.carrier, found.key.name, found.lifetime, found.seconds)
        return Affinity("unknown", Strength.UNKNOWN, key, "no measured row speaks of it", evidence)
    undone = failover.undone_by if _pins(row) else ()
    affinity = judge_row(
        replace(row, issued_by=found.key.issued_by, carrier=found.key.carrier, events=_events(row, features)),
        key_name=found.key.name,
        lifetime=found.lifetime,
        seconds=found.seconds,
        evidence=evidence,
        undone_by=undone + found.notes + _backups(backend, features),
        no_effect=found.no_effect,
    )
    return _left_open(affinity, features, assumed)


def _events(row: AffinityRow, features: Features) -> tuple[tuple[RoutingEvent, Meets], ...]:
    """The row's table without events that cannot happen to this configuration."""
    absent = set()
    if not features.get("check"):
        absent.add(RoutingEvent.CHECK_FAILS)
    if not features.get("lapses"):
        absent.add(RoutingEvent.KEY_LAPSED)
    return tuple((event, meets) for event, meets in row.events if event not in absent)


def _left_open(affinity: Affinity, features: Features, assumed: Assumed) -> Affinity:
    """Only the application knows whether it sets the cookie that a strict pin would rest on, or moves it."""
    if affinity.strength is not Strength.STRICT or features.get("method") != "cookie":
        return affinity
    if features.get("mode") == "passive" or (features.get("mode") != "insert" and assumed.cookies is None):
        why = f"{affinity.why}; only if the application sets the cookie {affinity.key.name}, which is not known here"
        return replace(affinity, strength=Strength.UNKNOWN, why=why)
    return affinity


def _pins(row: AffinityRow) -> bool:
    """Whether the row pins at all, so that there is something to undo."""
    return dict(row.events).get(RoutingEvent.PLAIN) is Meets.SAME


def _single(backend: Backend) -> Affinity | None:
    """The affinity of a backend with one server: there is nothing to choose."""
    if len(backend.servers) != 1 or (backend.servers[0].low, backend.servers[0].high) != (1, 1):
        return None
    row = find_row(affinity_rows("haproxy"), {"method": "single"})
    return judge_row(row, evidence=(backend.servers[0].line.span(),)) if row else None


def _backup_only(backend: Backend) -> bool:
    """Whether one server takes all traffic as long as it is up, and the others are backups."""
    active = [s for s in backend.servers if not s.flag("backup")]
    if not active and backend.section.option("allbackups") is None:
        active = list(backend.servers[:1])
    return len(active) == 1 and (active[0].low, active[0].high) == (1, 1) and len(backend.servers) > 1


def _backups(backend: Backend, features: Features) -> Evidence:
    if features["method"] == "none":
        return ()
    note = "a backup server, which takes over while the active ones are down"
    return tuple(s.line.span(note) for s in backend.servers if s.flag("backup"))


def _failover(backend: Backend, overrides: Overrides, features: Features) -> Failover:
    section = backend.section
    persist = section.option("persist") is not None or overrides.forced
    redispatch = _redispatch(section, features)
    if redispatch and not overrides.forced and not _chooses_the_same_again(features):
        return Failover("connect", persist, _redispatch_spans(section, redispatch))
    if persist:
        return Failover("never", persist, ())
    if backend.checked:
        return Failover("down", persist, tuple(_check_spans(backend.servers, section)))
    return Failover("maintenance", persist, ())


def _chooses_the_same_again(features: Features) -> bool:
    """Whether the choice that a redispatch repeats has the same result as long as the server counts as up: a hash that
    is not consistent gives the same server again, and so does a single active one (measured)."""
    return features["method"] == "backup" or (features["method"] == "hash" and not features["consistent"])


def _redispatch(section: Section, features: Features) -> Line | None:
    """The `option redispatch` line, if it can come to effect: it needs a retry (`retries 0` disables it), interval 0 is
    off, and one that is longer than `retries` never comes round, unless the algorithm alone chose (measured)."""
    line = section.option("redispatch")
    if line is None:
        return None
    retries = _number(section.last("retries"), 0, RETRIES)
    interval = _number(line, 1, -1)
    never_round = interval > retries and features["method"] != "first"
    if retries == 0 or interval == 0 or never_round:
        return None
    return line


def _number(line: Line | None, index: int, default: int) -> int:
    try:
        return int(line.argument(index)) if line else default
    except ValueError:
        return default


def _redispatch_spans(section: Section, line: Line) -> Evidence:
    spans = [line.span("option redispatch: a failed connection is tried again on another server")]
    for keyword in ("retry-on", "retries"):
        found = section.last(keyword)
        if found:
            spans.append(found.span(f"{keyword}: when and how often it is tried again"))
    return tuple(spans)


_NOTICED = "a failed check: without option persist the clients of a server that is marked down go elsewhere"


def _check_spans(found: tuple[Server, ...], section: Section) -> Iterator[Span]:
    """The first health check: what marks a server down makes HAProxy ignore the key."""
    for server in found:
        word = server.watch
        if word:
            yield server.line.source.span(word.start, word.end, _NOTICED)
            return
    line = section.last("default-server")
    if line:
        yield line.span(_NOTICED)


PERSISTENCE_RULES = ("force-persist", "ignore-persist")


def persistence_rules(section: Section) -> tuple[Line, ...]:
    """The `force-persist` and `ignore-persist` rules that can decide, in order: the first that holds does."""
    found = []
    for line in section.lines:
        if line.keyword in PERSISTENCE_RULES and not condition(line, section).never:
            found.append(line)
            if condition(line, section).always:
                break
    return tuple(found)


def overrides_by(line: Line) -> Overrides:
    """What a rule that holds makes of the persistence."""
    return Overrides(line.keyword == "force-persist", line.keyword == "ignore-persist")


def overrides_always(section: Section) -> Overrides:
    """What holds for requests that no narrower rule is about."""
    rules = persistence_rules(section)
    return overrides_by(rules[-1]) if rules and condition(rules[-1], section).always else Overrides()
