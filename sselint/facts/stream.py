"""Streams: what a server does with ids and cursors."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from sselint.facts.place import Evidence, Truth


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


class Name(str, Enum):
    """Whose name stands in front of an id: a name tells apart what has one of its own, and nothing inside of that."""

    HOST = "host"
    """Of the container or machine: the processes on it share it."""
    PROCESS = "process"
    """The number of the process: each container counts its processes anew, so that two of them have the same."""
    REPLICA = "replica"
    """Given by the deployment's files to each replica; the workers that one starts share it."""


@dataclass(frozen=True)
class IdSource:
    """Where the ids on the wire come from.

    `reaches_fresh_client` is no where ids travel only on replayed frames, so that no client ever learns one. `apart`
    says, of a name in front of the ids, whose it is.
    """

    kind: IdKind
    scope: Scope
    why: str
    evidence: Evidence = ()
    minted: Minted = Minted.PUBLISHED
    reaches_fresh_client: Truth = Truth.YES
    apart: frozenset[Name] = frozenset()


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
