"""SSE9xx: what could not be read."""

from __future__ import annotations

import pytest

from sselint.facts import FileOutcome, FileReport, Span
from sselint.findings import Finding, Severity
from tests.report import builders

CODE_OF = {
    FileOutcome.UNREADABLE: "SSE901",
    FileOutcome.PARTLY: "SSE902",
    FileOutcome.TOO_LARGE: "SSE903",
    FileOutcome.INTERNAL_ERROR: "SSE904",
}
PLACE = Span("edge.conf", 9, 3, 9, 12)


def told(outcome: FileOutcome, needed: bool, span: Span | None = PLACE) -> tuple[tuple[Finding, ...], int]:
    file = FileReport("edge.conf", outcome, "line 9 never ends", needed, span)
    report = builders.report(files=(file,))
    return report.findings, report.exit


def fires(outcome: FileOutcome) -> None:
    (needed,), code = told(outcome, needed=True)
    assert (needed.code, needed.severity, code) == (CODE_OF[outcome], Severity.WARNING, 3)
    assert needed.message.endswith("line 9 never ends")
    assert needed.evidence == (PLACE,)
    (other,), code = told(outcome, needed=False)
    assert (other.code, other.severity, code) == (CODE_OF[outcome], Severity.NOTE, 0)
    assert other.harmless == "no deployment needs it"


def test_unreadable_fires() -> None:
    fires(FileOutcome.UNREADABLE)


def test_partly_read_fires() -> None:
    fires(FileOutcome.PARTLY)


def test_over_budget_fires() -> None:
    fires(FileOutcome.TOO_LARGE)


def test_internal_error_fires() -> None:
    fires(FileOutcome.INTERNAL_ERROR)


@pytest.mark.parametrize("outcome", [FileOutcome.ANALYSED, FileOutcome.IRRELEVANT])
def test_what_was_read_or_does_not_matter_is_silent(outcome: FileOutcome) -> None:
    assert told(outcome, needed=True) == ((), 0)


def test_a_trouble_without_a_place_is_shown_at_the_file() -> None:
    (finding,), _ = told(FileOutcome.UNREADABLE, True, None)
    assert (finding.evidence[0].path, finding.evidence[0].line) == ("edge.conf", 1)
