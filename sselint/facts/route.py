"""Routes: hops that choose among members."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from sselint.facts.place import Evidence, Span


class RoutingEvent(str, Enum):
    """What can happen to routing between two connections of one client (columns of the affinity tables).

    KEY_LOST is the client's doing (no cookie jar); KEY_LAPSED is the lifetime running out during an open stream.
    """

    PLAIN = "plain"
    INIT = "init"
    """The request after the one that created the session (MCP initialize) goes to the process that created it."""
    KEY_LOST = "key_lost"
    KEY_LAPSED = "key_lapsed"
    DOWN = "down"
    DOWN_DETECTED = "down_detected"
    DRAIN = "drain"
    MAINTENANCE = "maintenance"
    CHECK_FAILS = "check_fails"
    REMOVED = "removed"
    MOVED = "moved"
    """The replica comes back under a new address."""
    SCALE_OUT = "scale_out"
    RELOAD = "reload"
    RESTART = "restart"
    SECOND_PROXY = "second_proxy"


class Meets(str, Enum):
    """What a reconnect meets after a routing event: its own process, another one, or an error; DEPENDS is a mixture."""

    SAME = "same"
    OTHER = "other"
    ERROR = "error"
    DEPENDS = "depends"


class Strength(str, Enum):
    """How well a hop pins a client that presents its key."""

    NONE = "none"
    BEST_EFFORT = "best_effort"
    STRICT = "strict"
    UNKNOWN = "unknown"


class KeyIssuer(str, Enum):
    """Who makes the routing key."""

    CLIENT = "client"
    PROXY = "proxy"
    SERVER = "server"
    ADDRESS = "address"
    NONE = "none"


class KeyCarrier(str, Enum):
    """What carries the routing key in a request; whether a client returns it depends on this."""

    COOKIE = "cookie"
    HEADER = "header"
    QUERY = "query"
    PATH = "path"
    ADDRESS = "address"
    NONE = "none"


@dataclass(frozen=True)
class RoutingKey:
    """The key an affinity rests on. `lifetime` is session | expires | none, as the JSON contract says; `seconds` is the
    time after which it lapses although a stream is open (None: it does not)."""

    issued_by: KeyIssuer
    carrier: KeyCarrier = KeyCarrier.NONE
    name: str = ""
    lifetime: str = "none"
    seconds: float | None = None


@dataclass(frozen=True)
class Affinity:
    """What a hop does with a reconnecting client that presents its key.

    `row` names the measured row in `rules/affinity/`; `events` is that row's table after what the file adds or takes
    away. `undone_by` are the lines that undo it; `no_effect` are affinity directives that do nothing as written
    (SSE304). `why` explains the strength.
    """

    mechanism: str
    strength: Strength
    key: RoutingKey
    why: str
    evidence: Evidence = ()
    row: str = ""
    events: tuple[tuple[RoutingEvent, Meets], ...] = ()
    undone_by: Evidence = ()
    no_effect: Evidence = ()

    def meets(self, event: RoutingEvent) -> Meets | None:
        """What a reconnect meets after `event`; None where the row says nothing of it."""
        return dict(self.events).get(event)


@dataclass(frozen=True)
class Count:
    """A number of processes or members: at least `low`, at most `high`; `high` None means that nothing bounds it, and
    with `low` 1 that the number is not known. `why` says where the number comes from."""

    low: int
    high: int | None
    why: str

    @classmethod
    def exactly(cls, number: int, why: str) -> Count:
        """A number that is written down."""
        return cls(number, number, why)

    @classmethod
    def unknown(cls, why: str) -> Count:
        """One or more, nobody can say how many."""
        return cls(1, None, why)


@dataclass(frozen=True)
class Match:
    """Which requests a route takes. `paths` are (kind, value) with kind prefix | exact | regex; an empty tuple is any
    path. `hosts` likewise (empty: any). `headers` are header names (lower case) that the choice depends on. `priority`
    orders routes of one listener: lower wins first."""

    paths: tuple[tuple[str, str], ...] = ()
    hosts: tuple[str, ...] = ()
    headers: tuple[str, ...] = ()
    priority: int = 0


@dataclass(frozen=True)
class Target:
    """An address that a hop forwards to: the name as it is written, and the port (None: not written or templated)."""

    host: str
    port: int | None = None
    span: Span | None = None


class CursorTreatment(str, Enum):
    """What a hop does with the `Last-Event-ID` request header."""

    PASSED = "passed"
    STRIPPED = "stripped"
    ROUTED_ON = "routed_on"


@dataclass(frozen=True)
class Observation:
    """Something a reader saw that a check in `checks/` may turn into a finding of that code (timeouts, gzip, buffering;
    SSE6xx). `value` is free for the check to read (seconds, a word)."""

    code: str
    why: str
    evidence: Evidence
    value: str = ""


@dataclass(frozen=True)
class Route:
    """A hop: a listener and match that forwards to members by an affinity mechanism.

    `name` reads like "frontend in -> backend feed". `addresses` are the names under which an outer hop reaches this one
    ("feed", "feed.default.svc"); `targets` are what it forwards to. `pool` is the upstream, backend or cluster name as
    written. `resolves` says what it does with a name that stands for several addresses: "all" (every one is a member)
    or "one". `answers` says what its own name resolves to: "one" (a virtual address) or "each" (headless: all members).
    `to_endpoints` is True where it balances straight over the pods behind a Service and so bypasses that hop.
    `fragment` is True for a piece of a configuration that names no members of its own (Envoy http_filters).
    """

    path: str
    line: int
    format: str
    name: str
    pool: str
    members: Count
    affinity: Affinity
    match: Match = Match()
    targets: tuple[Target, ...] = ()
    addresses: frozenset[str] = frozenset()
    resolves: str = "one"
    answers: str = "one"
    to_endpoints: bool = False
    fragment: bool = False
    last_event_id: CursorTreatment = CursorTreatment.PASSED
    last_event_id_evidence: Evidence = ()
    observations: tuple[Observation, ...] = ()
    evidence: Evidence = ()
    """The ancestor chain only, as a pseudo config: each span one line of the file, inherited lines included."""
    variant: str = ""
    """Which of several alternative sets of files it is deployed with (see `Pool.variant`)."""
