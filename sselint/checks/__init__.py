"""The checks: importing this package registers all of them."""

from __future__ import annotations

from sselint.checks import cursor, ids, inputs, observing, processes, routes, verdicts
from sselint.checks.registry import DEPLOYMENT_CHECKS, INPUT_CHECKS, WAIVING_CODES, Part

__all__ = [
    "DEPLOYMENT_CHECKS",
    "INPUT_CHECKS",
    "WAIVING_CODES",
    "Part",
    "cursor",
    "ids",
    "inputs",
    "observing",
    "processes",
    "routes",
    "verdicts",
]
