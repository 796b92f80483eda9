"""Where something stands in the audited tree, and answers of three values."""

from __future__ import annotations

from dataclasses import dataclass
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
