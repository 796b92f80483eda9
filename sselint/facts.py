"""The vocabulary that all readers speak. It imports nothing of the house.

Three things run through every fact:

* **evidence**: spans in the audited tree, the first primary, the others in the order a reader should follow
  ("made here", "stored here", "put on the wire here");
* **three values**: yes, no, or unknown *because ...*. An unknown is never reported as bad with confidence and never
  silently taken as good;
* **why**: one sentence in the reader's own names, without a full stop.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum


class Truth(str, Enum):
    """A three-valued answer."""

    YES = "yes"
    NO = "no"
    UNKNOWN = "unknown"

    @classmethod
    def of(cls, value: bool | None) -> Truth:
        """The truth value of `value`; None is unknown."""
        return cls.UNKNOWN if value is None else cls.YES if value else cls.NO


@dataclass(frozen=True, order=True)
class Span:
    """A place in the audited tree: `path` is POSIX and relative to the root, lines and columns count from 1.

    `end_line` and `end_column` point one past the last character, as editors do.
    """

    path: str
    line: int
    column: int
    end_line: int
    end_column: int
    note: str = ""

    def noted(self, note: str) -> Span:
        """The same place with another note."""
        return Span(self.path, self.line, self.column, self.end_line, self.end_column, note)

    def __str__(self) -> str:
        return f"{self.path}:{self.line}"


Evidence = tuple[Span, ...]


@dataclass(frozen=True)
class Answer:
    """A yes/no question answered from the tree, with the reason and the places that show it."""

    value: Truth
    why: str
    evidence: Evidence = ()


# -- streams: what a server does with ids and cursors ------------------------------------------------------------------


class IdKind(str, Enum):
    """How an event id is made."""

    COUNTER = "counter"
    INDEX = "index"
    CLOCK = "clock"
    RANDOM = "random"
    EPOCH_PREFIXED = "epoch_prefixed"
    REPLICA_PREFIXED = "replica_prefixed"
    STORE = "store"
    CONSTANT = "constant"
    CLIENT_SUPPLIED = "client_supplied"
    NONE = "none"
    UNKNOWN = "unknown"


class Scope(str, Enum):
    """Where an id means the same event."""

    SHARED = "shared"
    """On every process: a store hands it out, or it is the same by construction."""
    UNIQUE_LOCAL = "unique_local"
    """On one process, and another process can tell that it is foreign (uuid, a token minted at boot)."""
    ORDERED_LOCAL = "ordered_local"
    """On one process; foreign yet comparable (clock), so `id > last` silently skips."""
    OVERLAPPING = "overlapping"
    """On one process, and another process has its own event of the same id (counter, list index)."""
    NONE = "none"
    """No ids on the wire."""
    UNKNOWN = "unknown"


class Minted(str, Enum):
    """When an id is made: for all who listen, or inside the generator of one connection (then it names nothing)."""

    PUBLISHED = "published"
    CONNECTION = "connection"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class IdSource:
    """Where the ids on the wire come from.

    `reaches_fresh_client` is no where ids travel only on replayed frames, so that no client ever learns one.
    """

    kind: IdKind
    scope: Scope
    why: str
    evidence: Evidence = ()
    minted: Minted = Minted.PUBLISHED
    reaches_fresh_client: Truth = Truth.YES


class Where(str, Enum):
    """Where events live that a reconnect can be answered from."""

    MEMORY = "memory"
    POD_DISK = "pod_disk"
    """A file: as shared as the volume that holds it, which only the deployment knows (`Replay.disk_path`)."""
    SHARED = "shared"
    NONE = "none"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Replay:
    """What a reconnect is answered from.

    `where`: the events after the cursor. `live_tail`: what the same connection then delivers of what is published
    later. `ends` is yes where the response closes after the replay, so that the client asks again and needs no live
    tail. `evicts` is yes where a bounded buffer drops events without telling. `disk_path` is the file behind POD_DISK.
    """

    where: Where
    live_tail: Where
    why: str
    evidence: Evidence = ()
    ends: Truth = Truth.NO
    evicts: Truth = Truth.NO
    disk_path: str | None = None


@dataclass(frozen=True)
class Cursor:
    """Whether the server reads `Last-Event-ID`, and how ("header last-event-id", "query lastEventId")."""

    read: Truth
    how: str = ""
    why: str = ""
    evidence: Evidence = ()


class Outcome(str, Enum):
    """The end of the paper run: what a client gets that presents a cursor."""

    FAIL_CLOSED = "fail_closed"
    """4xx or 5xx before the response has begun, 204, or an explicit in-band reset."""
    FROM_HEAD = "from_head"
    """200 and only what is published from now on."""
    REPLAY_ALL = "replay_all"
    """200 and everything from the start."""
    COMPARED = "compared"
    """200 and what compares greater than the cursor (or stands behind it) here."""
    IGNORED = "ignored"
    """The cursor is read, and business goes on as if it had not been."""
    EMPTY = "empty"
    """200 and nothing, or a body that is aborted after the response has begun."""
    NOT_READ = "not_read"
    """Nothing reads the cursor."""
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Run:
    """One paper run: the outcome, and the path that leads there as evidence.

    `status` is the HTTP status where the run refuses; `reset` says that the refusal is an event in a 200 stream.
    `late` says that the handler refuses only after the response has begun (then the outcome is not FAIL_CLOSED).
    """

    outcome: Outcome
    why: str
    evidence: Evidence = ()
    status: int | None = None
    reset: bool = False
    late: bool = False


class KeyOrigin(str, Enum):
    """Who makes the key that a guard looks up: only a key minted at random in this process cannot exist elsewhere."""

    RANDOM_LOCAL = "random_local"
    CLIENT = "client"
    SHARED = "shared"
    UNKNOWN = "unknown"
    STARTUP = "startup"
    """Not a lookup: the server refuses to start with more than one process."""


@dataclass(frozen=True)
class Guard:
    """A check of *another* key (session, run, chat) that refuses before the cursor is interpreted."""

    key: str
    origin: KeyOrigin
    why: str
    evidence: Evidence = ()
    status: int | None = None


@dataclass(frozen=True)
class AppReference:
    """An application object as command lines name it: `module:attribute`, with the file that defines it."""

    module: str
    attribute: str
    path: str


@dataclass(frozen=True)
class Stream:
    """An endpoint that sends events.

    `symbol` is the dotted path of the handler in its module, `path`/`line` where it is defined. `url` is the route's
    path as the application declares it, None if unknown. `apps` are the applications that mount it; an empty tuple is
    library code: a fact without a verdict. `unit` is the folder of the unit ("." is the root).

    The paper runs assume that the `guards` have passed: `on_foreign` with a well-formed cursor minted elsewhere and
    unknown here, `on_overlap` with one that equals an id of this process (None where the id's shape forbids that),
    `on_missing` without a cursor, `on_malformed` with one that does not parse.

    `environment` names the environment variables that the facts depend on.
    """

    path: str
    line: int
    symbol: str
    unit: str
    ids: IdSource
    replay: Replay
    cursor: Cursor
    on_foreign: Run
    on_overlap: Run | None = None
    on_missing: Run | None = None
    on_malformed: Run | None = None
    guards: tuple[Guard, ...] = ()
    tags_replica: Truth = Truth.NO
    protocol: str = "sse"
    """"sse", or "mcp" where the endpoint speaks MCP streamable HTTP."""
    url: str | None = None
    apps: tuple[AppReference, ...] = ()
    deployable: bool = True
    """False for streams in tests, examples and docs: no deployment unless a configuration starts them."""
    environment: frozenset[str] = frozenset()
    evidence: Evidence = ()
    image: str | None = None
    """The image that runs it, where the stream is stated by hand and so says; source never knows."""


# -- routes: hops that choose among members ----------------------------------------------------------------------------


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


# -- pools: processes that one address stands for ----------------------------------------------------------------------


class Rolling(str, Enum):
    """What a release does to the number of processes that answer at one moment."""

    SURGE_WRITTEN = "surge_written"
    """Two generations overlap, and somebody wrote that down (maxSurge, start-first)."""
    SURGE_DEFAULT = "surge_default"
    """Two generations overlap by the platform's default."""
    REPLACED = "replaced"
    """The old one is gone before the new one starts (Recreate, a StatefulSet, compose up)."""
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Setting:
    """An environment variable of a pool; `value` None means set, but to what cannot be known (a secret, a template)."""

    name: str
    value: str | None
    evidence: Evidence = ()


@dataclass(frozen=True)
class Volume:
    """A mount. `shared` says whether every replica of the pool sees the same files."""

    mount_path: str
    shared: Truth
    why: str
    evidence: Evidence = ()
    source: str | None = None
    """The file or folder of the tree that is mounted, where it is one."""


@dataclass(frozen=True)
class Pool:
    """Processes that one address stands for.

    `kind` is "replicas" (pods, containers, tasks: each with an address of its own) or "workers" (processes behind one
    socket: a balancer without affinity). A container that starts workers is a pool of replicas with the workers as
    `workers`. `name` reads like "Deployment app". `addresses` are the names an outer hop reaches it by (service names,
    "deployment/app"). `starts` is the application on the command line (`module:attribute`, path not resolved);
    `command` the words as written. `image`, `build_context` and `dockerfile` (paths relative to the root) link it to a
    unit. `affinity` is that of its own address (workers and plain DNS: none). `settles_environment` is True where
    `environment` is all there is: a variable that is missing from it is not set. `number_from` is the variable that
    says how many processes there are, with what holds where it is not set. `only_as_script`: the start
    stands below `if __name__ == "__main__"`, so that importing its file does not run it.
    """

    path: str
    line: int
    format: str
    kind: str
    name: str
    processes: Count
    rolling: Rolling = Rolling.UNKNOWN
    rolling_evidence: Evidence = ()
    addresses: frozenset[str] = frozenset()
    answers: str = "one"
    command: tuple[str, ...] = ()
    starts: str | None = None
    app_directory: str | None = None
    image: str | None = None
    build_context: str | None = None
    dockerfile: str | None = None
    environment: tuple[Setting, ...] = ()
    settles_environment: bool = False
    volumes: tuple[Volume, ...] = ()
    workers: Pool | None = None
    evidence: Evidence = ()
    entrypoint: tuple[str, ...] = ()
    """The words at the head of `command` that replace an image's ENTRYPOINT (Kubernetes `command`, `entrypoint` of
    compose) or are it (Dockerfile). Empty: `command` are the arguments to whatever ENTRYPOINT the image has."""
    number_from: Setting | None = None
    only_as_script: bool = False
    variant: str = ""
    """Which of several alternative sets of files it is deployed with ("overlays/prod", "chart (values-prod.yaml)",
    "docker-compose.prod.yml"); empty where there is one. Routes and pools of two different variants never meet."""


# -- what reading a tree yields ----------------------------------------------------------------------------------------


class FileOutcome(str, Enum):
    """What became of a file."""

    ANALYSED = "analysed"
    IRRELEVANT = "irrelevant"
    PARTLY = "partly"
    UNREADABLE = "unreadable"
    TOO_LARGE = "too_large"
    INTERNAL_ERROR = "internal_error"


@dataclass(frozen=True)
class FileReport:
    """The outcome of one file. `needed` is True where a deployment needs it or it holds stream evidence: then anything
    but ANALYSED and IRRELEVANT means exit 3. `span` is where in the file the trouble is, if a place is known."""

    path: str
    outcome: FileOutcome
    why: str = ""
    needed: bool = False
    span: Span | None = None


@dataclass(frozen=True)
class ClientSighting:
    """A client library used in the tree: related evidence, never proof that there is no other. `swallows` is yes where
    it swallows the refusal or retries it for ever (SSE502)."""

    client: str
    swallows: Truth
    why: str
    evidence: Evidence = ()


@dataclass(frozen=True)
class Reading:
    """What one reader found in the sources it was given. Readers judge nothing and do not know each other."""

    streams: tuple[Stream, ...] = ()
    routes: tuple[Route, ...] = ()
    pools: tuple[Pool, ...] = ()
    clients: tuple[ClientSighting, ...] = ()
    files: tuple[FileReport, ...] = field(default=())

    def __add__(self, other: Reading) -> Reading:
        return Reading(
            self.streams + other.streams,
            self.routes + other.routes,
            self.pools + other.pools,
            self.clients + other.clients,
            self.files + other.files,
        )
