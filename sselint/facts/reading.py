"""What reading a tree yields."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from sselint.facts.place import Evidence, Span, Truth
from sselint.facts.pool import Pool
from sselint.facts.route import Route
from sselint.facts.stream import Stream


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
