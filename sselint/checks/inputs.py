"""SSE9xx: what could not be read. These decide exit 3, never exit 1."""

from __future__ import annotations

from collections.abc import Iterator

from sselint.checks.registry import Part, input_check
from sselint.facts import FileOutcome, FileReport, Span


def _of(file: FileReport, outcome: FileOutcome, says: str) -> Iterator[Part]:
    if file.outcome is outcome:
        why = f": {file.why}" if file.why else ""
        harmless = "" if file.needed else "no deployment needs it"
        yield Part(f"{says}{why}", (file.span or Span(file.path, 1, 1, 1, 1),), harmless=harmless)


@input_check("SSE901")
def unreadable(file: FileReport) -> Iterator[Part]:
    """A file that could not be read or parsed."""
    return _of(file, FileOutcome.UNREADABLE, "could not be read")


@input_check("SSE902")
def partly_read(file: FileReport) -> Iterator[Part]:
    """A file that was understood in part: an include is missing, a piece does not parse."""
    return _of(file, FileOutcome.PARTLY, "was read in part")


@input_check("SSE903")
def over_budget(file: FileReport) -> Iterator[Part]:
    """A file beyond the budget on size, nesting or time."""
    return _of(file, FileOutcome.TOO_LARGE, "is over budget")


@input_check("SSE904")
def internal_error(file: FileReport) -> Iterator[Part]:
    """sselint failed on the file or on the deployment that it begins: a fault of sselint."""
    return _of(file, FileOutcome.INTERNAL_ERROR, "made sselint fail")
