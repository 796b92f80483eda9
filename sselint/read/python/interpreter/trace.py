"""What a run did, event by event."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from sselint.read.python.source.modules import Site

ASKS = ("compare", "lookup", "bound")
"""What is noted where the cursor is held against something."""


@dataclass
class Event:
    """Something that a run did and that a client or a reader of the report cares about: `kind` is begin, chunk, event,
    read, cursor, refuse, mint, compare, lookup, live."""

    kind: str
    site: Site | None
    data: dict[str, Any] = field(default_factory=dict)

    @property
    def begins_stream(self) -> bool:
        """Whether the answer was said to be an event stream here."""
        return self.kind == "stream" or (self.kind == "start" and bool(self.data["stream"]))
