"""Ids are `{epoch}:{seq}`. The epoch is minted at boot: an id of another process, or of an earlier life of this one, is
known to be foreign and is never resolved."""

import re
import secrets
from dataclasses import dataclass

EVENT_ID = re.compile(r"(?P<epoch>[0-9a-f]{8}):(?P<seq>\d+)")


class ResumeViolation(RuntimeError):
    """A Last-Event-ID that this process cannot honour."""


@dataclass(frozen=True)
class EventId:
    epoch: str
    seq: int

    def __str__(self) -> str:
        return f"{self.epoch}:{self.seq}"


def parse(raw: str) -> EventId:
    match = EVENT_ID.fullmatch(raw)
    if match is None:
        raise ResumeViolation(f"{raw!r} is not an id of the form epoch:seq")
    return EventId(match["epoch"], int(match["seq"]))


class Journal:
    def __init__(self) -> None:
        self.epoch = secrets.token_hex(4)
        self.texts: list[str] = []

    def add(self, text: str) -> EventId:
        self.texts.append(text)
        return EventId(self.epoch, len(self.texts))

    def resume_at(self, raw: str | None) -> int:
        """The position to continue from. Raises ResumeViolation for any id that is not this process's own."""
        if raw is None:
            return 0
        last = parse(raw)
        if last.epoch != self.epoch:
            raise ResumeViolation(f"{last} is of another epoch than {self.epoch}")
        if last.seq > len(self.texts):
            raise ResumeViolation(f"{last} lies ahead of {len(self.texts)}")
        return last.seq

    def id_at(self, position: int) -> EventId:
        return EventId(self.epoch, position)


journal = Journal()
