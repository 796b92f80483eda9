"""Says in the last line of a run that premises were not proved, where the platform has no proxies to ask."""

from __future__ import annotations

import pytest

from tests.proxies import NOT_PROVED

_UNPROVED = pytest.StashKey[int]()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Counts the tests that were skipped for want of a proxy."""
    skipped = terminalreporter.stats.get("skipped", ())
    config.stash[_UNPROVED] = sum(NOT_PROVED in str(report.longrepr) for report in skipped)


def pytest_unconfigure(config: pytest.Config) -> None:
    """The last line, after pytest's own."""
    number = config.stash.get(_UNPROVED, 0)
    if number:
        tests = "test" if number == 1 else "tests"
        print(f"premises were not proved: {number} {tests} had no proxy to ask on this platform")
