"""What is judged: conditions, verdicts, witnesses and findings. Data only; every report draws from these."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from sselint.deployment import Deployment
from sselint.facts import Evidence, FileReport, Pool, Route, Scope, Stream, Truth


class Policy(str, Enum):
    """The three defensible policies, by their one spelling."""

    SHARED_REPLAY = "shared-replay"
    PINNED_FAIL_CLOSED = "pinned-fail-closed"
    NO_RESUMPTION = "no-resumption"

    @property
    def number(self) -> int:
        """1, 2 or 3: what people call it."""
        return list(Policy).index(self) + 1


class Verdict(str, Enum):
    """What a deployment is."""

    CORRUPT = "corrupt"
    LATENT = "latent"
    LOUD = "loud"
    SHARED_REPLAY = "shared-replay"
    PINNED_FAIL_CLOSED = "pinned-fail-closed"
    NO_RESUMPTION = "no-resumption"
    UNKNOWN = "unknown"
    NONE = "none"


CONDITION_NAMES = (
    "no_shared_replay",
    "per_process_ids",
    "client_honours_last_event_id",
    "lb_can_route_elsewhere",
    "unknown_id_tolerated",
)
"""C1 to C5, by their names in the outputs."""


@dataclass(frozen=True)
class Condition:
    """One of the five: the value, the reason, the places. `scope` only for per_process_ids."""

    name: str
    value: Truth
    why: str
    evidence: Evidence = ()
    scope: Scope | None = None


@dataclass(frozen=True)
class Step:
    """One event of a witness: who does what, told in the reader's own names. `holds` is what the client then has."""

    n: int
    actor: str
    event: str
    text: str
    evidence: Evidence = ()
    holds: tuple[str, ...] = ()


@dataclass(frozen=True)
class WayOut:
    """One change on the way to a policy, concrete to the code at hand."""

    text: str
    evidence: Evidence = ()


@dataclass(frozen=True)
class Judgement:
    """A deployment judged. `why` is the verdict's reason in one sentence; `decides` names the unknown facts on which a
    latent or unknown verdict turns, and what would settle each. `ways_out` has a key for each policy."""

    deployment: Deployment
    verdict: Verdict
    why: str
    conditions: tuple[Condition, ...]
    witness: tuple[Step, ...] | None = None
    damage: str = ""
    """What the witness does to the client: "lost", "repeated", "another client's" ... in words."""
    decides: tuple[str, ...] = ()
    advertises: str = ""
    implements: str = ""
    assumes: str = ""
    ways_out: Mapping[Policy, tuple[WayOut, ...]] = field(default_factory=dict)

    def condition(self, name: str) -> Condition:
        """The condition of that name. Raises KeyError."""
        return {c.name: c for c in self.conditions}[name]


class Severity(str, Enum):
    """How bad; the order is the order of `--fail-on`."""

    NOTE = "note"
    WARNING = "warning"
    ERROR = "error"


class Confidence(str, Enum):
    """How sure."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


@dataclass(frozen=True)
class Suppression:
    """Who suppressed a finding: "inline", "baseline" or "settings", why, and where that stands."""

    by: str
    reason: str
    path: str
    line: int


@dataclass(frozen=True)
class Finding:
    """One thing to tell.

    `evidence` has the primary span first, then the related ones with their notes; it is empty only for findings without
    a place. `policies` says, for each of the three policies, contradicts | allows. `fingerprint` has no line numbers:
    code + deployment + symbol path + normalised evidence + ordinal. `harmless` is why a note does no harm in its
    deployment.
    """

    code: str
    severity: Severity
    confidence: Confidence
    message: str
    evidence: Evidence
    deployment: str
    policies: Mapping[Policy, str] = field(default_factory=dict)
    fingerprint: str = ""
    suppressed: Suppression | None = None
    harmless: str = ""

    @property
    def text(self) -> str:
        """The message, and why it does no harm where it does none."""
        return f"{self.message}; harmless here: {self.harmless}" if self.harmless else self.message


@dataclass(frozen=True)
class Report:
    """Everything a renderer needs. `root` is for people; paths in it are relative to it. `exit` is the exit code.

    `notes` are lines for people about the run as a whole (an assumption taken, premises of the settings). `narrowed` is
    True where file arguments narrow what is reported.
    """

    root: str
    version: str
    exit: int
    judgements: tuple[Judgement, ...] = ()
    findings: tuple[Finding, ...] = ()
    streams: tuple[Stream, ...] = ()
    routes: tuple[Route, ...] = ()
    pools: tuple[Pool, ...] = ()
    loose_routes: tuple[Route, ...] = ()
    files: tuple[FileReport, ...] = ()
    notes: tuple[str, ...] = ()
    narrowed: bool = False
