"""What a HAProxy backend does to bring a client back: features for the rows of `rules/affinity/haproxy.yaml`.

HAProxy asks in this order: `use-server` rules, the persistence cookie, the stick table, and last the balancing
algorithm (measured in tests/premises/test_haproxy_claims.py). What is found first decides; `ignore-persist` skips the
cookie alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from sselint.affinity import Features
from sselint.facts import Evidence, KeyCarrier, KeyIssuer, Match, Span
from sselint.read.haproxy import keys
from sselint.read.haproxy.conditions import Fetch, condition, fetch_of
from sselint.read.haproxy.keys import Key
from sselint.read.haproxy.lexer import Line
from sselint.read.haproxy.sections import Configuration, Section
from sselint.read.haproxy.servers import Server


@dataclass(frozen=True)
class Assumed:
    """What the text of a configuration cannot say. `cookies` are those that the application sets (None: unknown);
    `posts` says whether clients begin with a POST (MCP `initialize`), None: unknown."""

    cookies: frozenset[str] | None = None
    posts: bool | None = None


NOTHING_ASSUMED = Assumed()
NO_AFFINITY: Features = {"method": "none"}


@dataclass(frozen=True)
class Persistence:
    """What brings a client back, with the lines that say so. `lifetime` and `seconds` are those of the key."""

    features: Features
    key: Key
    lines: tuple[Line, ...] = ()
    lifetime: str = "none"
    seconds: float | None = None
    no_effect: Evidence = ()
    notes: tuple[Span, ...] = field(default=())


@dataclass(frozen=True)
class Backend:
    """A backend or listen with what decides about it."""

    section: Section
    configuration: Configuration
    servers: tuple[Server, ...]
    only: Match | None = None
    """The paths and hosts that are spoken of, where a route is about some alone."""

    @property
    def http(self) -> bool:
        """Whether HTTP is looked at: `mode http`. A piece of a configuration without any defaults is taken for HTTP."""
        line = self.section.last("mode")
        if line is not None:
            return line.argument(0) != "tcp"
        return not self.configuration.complete

    @property
    def checked(self) -> bool:
        """Whether anything can mark one of the servers down."""
        return any(server.checked for server in self.servers)


def persistence(backend: Backend, *, ignored: bool, assumed: Assumed) -> Persistence:
    """What brings a client back to its server. `ignored` is True where `ignore-persist` holds."""
    ways = [_use_server, _stick, _balance] if ignored else [_use_server, _cookie, _stick, _balance]
    dead: Evidence = ()
    notes: tuple[Span, ...] = ()
    if ignored:
        dead = tuple(line.span("ignore-persist skips it") for line in backend.section.own("cookie"))
    alone: Persistence | None = None
    for way in ways:
        found = way(backend, assumed)
        if found is None:
            continue
        dead, notes = dead + found.no_effect, notes + found.notes
        if alone and found.features == NO_AFFINITY:
            break
        if found.features and not _leaves_some_alone(found.features):
            return replace(found, no_effect=dead, notes=notes)
        if found.features:
            alone = alone or found
    return replace(alone or Persistence(NO_AFFINITY, keys.NOBODY), no_effect=dead, notes=notes)


def _leaves_some_alone(features: Features) -> bool:
    """Whether some clients that should come back by this are not, so that what HAProxy asks next decides about them."""
    unlearnt = features.get("issued_by_server") and not features.get("learnt")
    return bool(
        unlearnt or any(features.get(f) for f in ("partial", "unset", "postonly", "last_event_id", "bounded"))
    )


def _nothing(*no_effect: Span) -> Persistence:
    return Persistence({}, keys.NOBODY, no_effect=no_effect)


# -- use-server --------------------------------------------------------------------------------------------------------


def _use_server(backend: Backend, assumed: Assumed) -> Persistence | None:
    rules = backend.section.own("use-server")
    if not rules:
        return None
    fetches = [f for line in rules for f in _rule_fetches(line, backend.section)]
    wanted = {f.key for f in fetches if f.carrier in keys.CARRIERS}
    names = {line.argument(0) or line.words[1].text for line in rules if len(line.words) > 1}
    if len(wanted) != 1 or (len(names) < 2 and not any("%[" in name for name in names)):
        return None
    fetch = next(f for f in fetches if f.key in wanted)
    key = keys.key_of(fetch, chosen_by_prefix=True)
    dynamic = any("%[" in name for name in names)
    without = [] if dynamic else [s for s in _active(backend) if s.name not in names]
    features: Features = {"method": "use_server", "key": key.kind, "partial": bool(without)}
    notes = tuple(s.line.span("no use-server rule leads to this server: its clients are not pinned") for s in without)
    if not backend.http and key.carrier is not KeyCarrier.ADDRESS:
        return _nothing(*(line.span("looks at HTTP, which mode tcp does not read") for line in rules))
    return Persistence(features, key, (*rules, *(s.line for s in without)), notes=notes)


def _rule_fetches(line: Line, section: Section) -> list[Fetch]:
    found = [t.fetch for t in condition(line, section).tests]
    if "%[" in line.argument(0):
        found += [fetch_of(e, section.variables) for e in re.findall(r"%\[([^\]]*)", line.argument(0))]
    return found


# -- cookie ------------------------------------------------------------------------------------------------------------


def _cookie(backend: Backend, assumed: Assumed) -> Persistence | None:
    line = backend.section.last("cookie")
    if line is None or len(line.words) < 2:
        return None
    name = line.words[1].text
    if not backend.http:
        return _nothing(line.span("needs mode http"))
    says = {word.value for word in line.arguments[1:]}
    dynamic = "dynamic" in says
    active = _active(backend)
    without = [] if dynamic else [s for s in active if not s.flag("cookie")]
    if active and len(without) == len(active):
        return _nothing(line.span("no server has a cookie value"))
    shared = [] if dynamic else _with_a_shared_value(backend.servers)
    mode = next((m for m in ("insert", "prefix", "rewrite") if m in says), "passive")
    proxy = mode == "insert"
    features: dict[str, str | bool | int] = {
        "method": "cookie",
        "mode": mode,
        "dynamic": dynamic,
        "partial": bool(without or shared),
        "unset": not proxy and assumed.cookies is not None and name not in assumed.cookies,
        "postonly": "postonly" in says and assumed.posts is not True,
        "repointed": "preserve" in says and assumed.cookies is not None and name in assumed.cookies,
    }
    seconds = [t for t in (_seconds(line, "maxidle"), _seconds(line, "maxlife")) if t is not None]
    features["lapses"] = bool(seconds)
    key = Key("cookie", KeyIssuer.PROXY if proxy else KeyIssuer.SERVER, KeyCarrier.COOKIE, name)
    lines = (line, *(s.line for s in (*without, *shared)))
    return Persistence(
        features,
        key,
        lines,
        "expires" if seconds else "session",
        min(seconds, default=None),
        notes=(
            *(s.line.span("its cookie value is another server's: its clients go there") for s in shared),
            *_cookie_notes(line, without, assumed, name),
        ),
    )


def _with_a_shared_value(found: Sequence[Server]) -> list[Server]:
    """Servers whose cookie value an earlier one has: HAProxy takes the first that matches (measured). The slots of a
    template all have the same."""
    seen: set[str] = set()
    shared = []
    for server in found:
        value = server.value("cookie")
        if value and (value in seen or server.high != 1):
            shared.append(server)
        seen.add(value)
    return shared


def _cookie_notes(line: Line, without: Sequence[Server], assumed: Assumed, name: str) -> tuple[Span, ...]:
    notes = [s.line.span("a server without a cookie value: its clients are not pinned") for s in without]
    if not any(line.has(mode) for mode in ("insert", "prefix", "rewrite")):
        notes.append(line.span("passive: pins only if the application itself sets the value of the server"))
    if line.has("preserve") and (assumed.cookies is None or name in assumed.cookies):
        notes.append(line.span("preserve: the application may point the cookie at another server"))
    if line.has("postonly"):
        notes.append(line.span("postonly: a client that only sends GET never gets the cookie"))
    return tuple(notes)


_UNITS = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0, "": 1e-3}


def seconds_of(text: str | None) -> float | None:
    """A HAProxy time (`30s`, `5000`: milliseconds) in seconds; None if it is not one."""
    found = re.fullmatch(r"(\d{1,18})(us|ms|s|m|h|d|)", text or "")
    return int(found[1]) * _UNITS[found[2]] if found else None


def _seconds(line: Line, parameter: str) -> float | None:
    word = line.after(parameter)
    return seconds_of(word.value) if word else None


# -- stick table -------------------------------------------------------------------------------------------------------


def _active(backend: Backend) -> list[Server]:
    """The servers that new clients are given to."""
    return [s for s in backend.servers if not s.flag("backup")] or list(backend.servers)


def _stick(backend: Backend, assumed: Assumed) -> Persistence | None:
    section = backend.section
    rules = [line for line in section.own("stick") if len(line.words) > 2 and _sticks(line, backend)]
    if not rules:
        return None
    looks = [r for r in rules if r.argument(0) in ("match", "on")]
    learns = [r for r in rules if r.argument(0) in ("store-request", "store-response", "on")]
    for look in looks:
        pairs = [r for r in learns if _same_key(look, r, section)]
        if not pairs:
            continue
        fetch = fetch_of(look.argument(1), section.variables)
        if not backend.http and fetch.carrier in ("header", "cookie", "query", "path"):
            return _nothing(*(r.span("looks at HTTP, which mode tcp does not read") for r in rules))
        return _stuck(backend, look, pairs, fetch)
    why = "nothing ever looks the key up" if not looks else "nothing ever stores such a key"
    return _nothing(*(r.span(why) for r in rules))


def _sticks(line: Line, backend: Backend) -> bool:
    """Whether a stick rule may hold for the requests that are spoken of."""
    holds = condition(line, backend.section)
    if holds.by_path_and_host:
        match = holds.match()
        return backend.only is not None and (match.paths, match.hosts) == (backend.only.paths, backend.only.hosts)
    return not holds.never


def _same_key(look: Line, learn: Line, section: Section) -> bool:
    """Whether what one rule stores is what the other looks up, in the same table."""
    there, here = (fetch_of(line.argument(1), section.variables) for line in (look, learn))
    if learn.argument(1) != look.argument(1) and there.key != here.key:
        return False
    tables = [w.text if w else "" for w in (look.after("table"), learn.after("table"))]
    return tables[0] == tables[1]


def _stuck(backend: Backend, look: Line, pairs: Sequence[Line], fetch: Fetch) -> Persistence:
    learnt = any(r.argument(0) == "store-response" for r in pairs)
    named = look.after("table")
    table, peers = _table(backend, named.text if named else backend.section.name)
    expire = _seconds(table, "expire") if table else None
    key = keys.key_of(fetch)
    features: dict[str, str | bool | int] = {
        "method": "stick",
        "key": key.kind,
        "learnt": learnt,
        "issued_by_server": key.issued_by is KeyIssuer.SERVER,
        "last_event_id": key.is_last_event_id,
        "peers": peers,
        "lapses": expire is not None,
    }
    lines = tuple(dict.fromkeys([*([table] if table else []), look, *pairs]))
    unlearnt = [s.line for s in _active(backend) if s.flag("non-stick")]
    features["partial"] = bool(unlearnt)
    notes = tuple(server.span("non-stick: clients of this server are not learnt") for server in unlearnt)
    notes += tuple(_stick_conditions((look, *pairs), backend.section, fetch))
    return Persistence(features, key, lines, "none" if expire is None else "expires", expire, notes=notes)


def _stick_conditions(rules: Sequence[Line], section: Section, key: Fetch) -> Iterator[Span]:
    """The rules that do not hold for every request that carries the key."""
    for line in dict.fromkeys(rules):
        holds = condition(line, section)
        if not holds.always and any(t.fetch.key != key.key for t in holds.tests):
            yield line.span("holds under a condition only")


def _table(backend: Backend, name: str) -> tuple[Line | None, bool]:
    """The line that declares a stick table, and whether peers share it."""
    section_name, _, table_name = name.partition("/")
    for section in backend.configuration.named.get(section_name, ()):
        if section.kind == "peers":
            found = [line for line in section.own("table") if line.argument(0) == (table_name or name)]
            if found:
                return found[0], True
        elif section.own("stick-table"):
            line = section.own("stick-table")[-1]
            return line, line.has("peers")
    return None, False


# -- balance -----------------------------------------------------------------------------------------------------------


def _balance(backend: Backend, assumed: Assumed) -> Persistence | None:
    line = backend.section.last("balance")
    if line is None or len(line.words) < 2:
        return Persistence(NO_AFFINITY, keys.NOBODY, _lines(line))
    if not line.words[1].known:
        written = line.words[1].text if "$" in line.words[1].text else "a template value"
        notes = (line.span(f"the balancing algorithm is not written here ({written})"),)
        return Persistence({"method": "unwritten"}, keys.NOBODY, (line,), notes=notes)
    word = line.argument(0)
    fetch = _hashed(line, backend.section)
    if word == "first":
        return Persistence({"method": "first"}, keys.NOBODY, (line,))
    if fetch is None:
        return Persistence(NO_AFFINITY, keys.NOBODY, (line,))
    if not backend.http and fetch.carrier != "address":
        dead = line.span("looks at HTTP, which mode tcp does not read: plain round robin")
        return Persistence(NO_AFFINITY, keys.NOBODY, (line,), no_effect=(dead,))
    hash_type, factor = backend.section.last("hash-type"), backend.section.last("hash-balance-factor")
    consistent = hash_type is not None and hash_type.argument(0) == "consistent"
    bounded = consistent and factor is not None and factor.argument(0) != "0"
    key = keys.key_of(fetch)
    features: dict[str, str | bool | int] = {
        "method": "hash",
        "key": key.kind,
        "consistent": consistent,
        "bounded": bounded,
        "issued_by_server": key.issued_by is KeyIssuer.SERVER,
        "last_event_id": key.is_last_event_id,
    }
    lines = (line, *_lines(hash_type), *(_lines(factor) if bounded else ()))
    return Persistence(features, key, lines)


def _lines(*lines: Line | None) -> tuple[Line, ...]:
    return tuple(line for line in lines if line)


def _hashed(line: Line, section: Section) -> Fetch | None:
    """What the algorithm hashes, None if it hashes nothing."""
    word = line.argument(0)
    if word == "source":
        return Fetch("address")
    if word == "uri":
        return Fetch("path")
    if word == "url_param":
        return Fetch("query", line.argument(1))
    if word.startswith("hdr("):
        return Fetch("header", word[4:].split(")")[0])
    if word == "hash" and line.argument(1):
        return fetch_of(line.argument(1), section.variables)
    return Fetch("cookie", word[11:].strip("()")) if word.startswith("rdp-cookie") else None
