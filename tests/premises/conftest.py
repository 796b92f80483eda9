"""Prints what was measured, row by row, at the end of a run of the full matrices (`make premises`).

A test records `record_property("premise", [proxy, row, event, claim, met])`, where `met` counts what the sessions met.
"""

from __future__ import annotations

from collections import defaultdict

import pytest

Measured = dict[tuple[str, str], list[str]]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """The table: a line for each row, with every event's claim beside what was measured."""
    rows: Measured = defaultdict(list)
    for reports in terminalreporter.stats.values():
        for report in reports:
            for name, value in getattr(report, "user_properties", ()):
                if name == "premise" and getattr(report, "when", "") == "call":
                    proxy, row, event, claim, met = value
                    counts = " ".join(f"{kind} {number}" for kind, number in sorted(met.items())) or "nothing"
                    rows[proxy, row].append(f"{event}: {claim or '(not claimed)'} [{counts}]")
    if rows:
        terminalreporter.section("premises, as measured in this run")
    for (proxy, row), cells in sorted(rows.items()):
        terminalreporter.write_line(f"{proxy}/{row}")
        for cell in cells:
            terminalreporter.write_line(f"    {cell}")
