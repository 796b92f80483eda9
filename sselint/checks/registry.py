"""The registry of checks: one small function a code. A check reads judgements and facts, never files.

A check of a deployment takes a Judgement, a check of the inputs a FileReport; both yield Parts. What a part means, how
severe it is and what to do about it stands in `rules/findings/CODE.yaml`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from sselint.facts import Evidence, FileReport
from sselint.findings import Confidence, Judgement, Policy


@dataclass(frozen=True)
class Part:
    """What a check saw: one line for people (no full stop), the places (primary first), and how sure it is.

    `harmless` is why this does no harm in the deployment at hand: then the part is a note, or silent, whatever the
    verdict. `policies` replaces what the rule says of the policies, for a part where that depends on the facts.
    """

    message: str
    evidence: Evidence
    confidence: Confidence = Confidence.HIGH
    harmless: str = ""
    policies: Mapping[Policy, str] | None = None


DeploymentCheck = Callable[[Judgement], Iterable[Part]]
InputCheck = Callable[[FileReport], Iterable[Part]]

DEPLOYMENT_CHECKS: dict[str, DeploymentCheck] = {}
INPUT_CHECKS: dict[str, InputCheck] = {}

WAIVING_CODES = frozenset({"SSE905", "SSE906"})
"""Codes about inline ignores: `waive.py` makes them, since only it sees the text."""


def deployment_check(code: str) -> Callable[[DeploymentCheck], DeploymentCheck]:
    """Registers the function that reports `code` for a deployment."""

    def register(check: DeploymentCheck) -> DeploymentCheck:
        _refuse_second(code)
        DEPLOYMENT_CHECKS[code] = check
        return check

    return register


def input_check(code: str) -> Callable[[InputCheck], InputCheck]:
    """Registers the function that reports `code` for a file that was read."""

    def register(check: InputCheck) -> InputCheck:
        _refuse_second(code)
        INPUT_CHECKS[code] = check
        return check

    return register


def _refuse_second(code: str) -> None:
    if code in DEPLOYMENT_CHECKS or code in INPUT_CHECKS:
        raise ValueError(f"{code} has two checks")
