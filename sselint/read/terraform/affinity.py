"""Affinity of managed balancers, out of the documented rows of `rules/affinity/`."""

from __future__ import annotations

from sselint.affinity import Features, find_row, judge_row
from sselint.catalogue import affinity_rows
from sselint.facts import Affinity, Evidence, KeyCarrier


def documented(
    rows: str, features: Features, evidence: Evidence, *, key_name: str = "", seconds: float | None = None
) -> Affinity:
    """The affinity of the row that holds. Every file ends with a row that always holds; a cookie of these platforms
    expires after `seconds` (None: when is not known)."""
    row = find_row(affinity_rows(rows), features)
    if row is None:
        raise ValueError(f"rules/affinity/{rows}.yaml has no row for {features}")
    lifetime = "expires" if row.carrier is KeyCarrier.COOKIE else "none"
    return judge_row(row, key_name=key_name, lifetime=lifetime, seconds=seconds, evidence=evidence)
