"""docs/model-table.md is what the model says today."""

from __future__ import annotations

from pathlib import Path

from sselint.findings import Verdict
from tests.model.table import COLUMNS, Row, document, grouped, verdicts

PAGE = Path(__file__).parents[2] / "docs" / "model-table.md"


def test_the_page_is_up_to_date() -> None:
    assert PAGE.read_text() == document(), "run: python -m tests.model.table > docs/model-table.md"


def test_grouping_loses_and_adds_nothing() -> None:
    found = verdicts()
    rows = grouped(found)
    for combination, verdict in found.items():
        assert [v for row, v in rows if _stands_for_all(row, combination)] == [verdict], combination


def _stands_for_all(row: Row, combination: Row) -> bool:
    return all(_stands_for(cell, value) for cell, value in zip(row, combination, strict=True))


def _stands_for(cell: str, value: str) -> bool:
    tolerated = ("from the head", "everything", "what compares greater", "200 and nothing")
    values = [v for name in cell.split(", ") for v in (tolerated if name == "200 all the same" else (name,))]
    return cell == "*" or value in values


def test_every_verdict_that_facts_alone_can_give_is_in_the_page() -> None:
    page = document()
    assert len(COLUMNS) == 5
    for verdict in Verdict:
        assert (f"**{verdict.value}**" in page) is (verdict is not Verdict.UNKNOWN)
