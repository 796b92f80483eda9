"""How far sselint agrees with labels on how many processes public deployments run.

usage: python bench/process_agreement.py CHECKOUTS [--write PAGE.md]

CHECKOUTS holds one folder a repository, `owner+name`. Each repository is read as a whole, as a user would. The labels
are in process_labels.yaml beside this file. Exits 1 below nine in ten.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from sselint.facts import Pool, Reading
from sselint.find import CONFIG_READERS, find
from sselint.pipeline import read_kind

LABELS = Path(__file__).with_name("process_labels.yaml")
MARK = "<!-- table -->\n"


@cache
def pools(checkout: Path) -> tuple[Pool, ...]:
    """Every pool of a checkout."""
    found = find(checkout, [checkout], ["*.py"])
    reading = Reading()
    for kind in CONFIG_READERS:
        if found.of(kind):
            reading += read_kind(kind, found.of(kind), found.tree)
    return reading.pools


def meant(label: Mapping[str, Any], checkout: Path) -> list[Pool]:
    """The pools that a label speaks of."""
    path, variant = label.get("path", ""), label.get("variant")
    named = [p for p in pools(checkout) if p.name == label["pool"] and p.path.startswith(path)]
    return [p for p in named if variant in (None, p.variant)]


def derived(pool: Pool, label: Mapping[str, Any]) -> str:
    """What sselint says, in the words of the table."""
    text = interval(pool.processes.low, pool.processes.high)
    if "workers" in label:
        workers = pool.workers.processes if pool.workers else None
        text += " x " + (interval(workers.low, workers.high) if workers else "1")
    return text


def wanted(label: Mapping[str, Any]) -> str:
    """What the label says, likewise."""
    text = interval(*label["processes"])
    return text + (f" x {interval(*label['workers'])}" if "workers" in label else "")


def interval(low: int, high: int | None) -> str:
    """A number, or its bounds."""
    return str(low) if low == high else f"{low} to {high}" if high is not None else f"{low} or more"


def page(labels: Sequence[Mapping[str, Any]], checkouts: Path) -> tuple[str, bool]:
    """The table as Markdown with the counts before it, and whether nine in ten agree."""
    rows: list[tuple[str, ...]] = []
    absent: list[str] = []
    for label in labels:
        checkout = checkouts / label["repository"].replace("/", "+")
        if not checkout.is_dir():
            absent.append(label["repository"])
            continue
        found = sorted({derived(p, label) for p in meant(label, checkout)})
        agrees = found == [wanted(label)]
        where = label.get("variant") or label.get("path") or ""
        says = ", ".join(found) or "no such pool"
        rows.append((label["repository"], label["pool"], where, wanted(label), says, "yes" if agrees else "no"))
    agree = sum(row[-1] == "yes" for row in rows)
    lines = [f"{agree} of {len(rows)} agree.", ""]
    if absent:
        lines += [f"Not compared, because the repository is not there: {', '.join(sorted(set(absent)))}.", ""]
    lines += ["| repository | pool | where | label | sselint | agrees |", "|---|---|---|---|---|---|"]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join(lines) + "\n", agree >= 0.9 * len(rows)


def main() -> int:
    """Prints the table, and writes it below the heading of a page if asked to."""
    parser = argparse.ArgumentParser()
    parser.add_argument("checkouts", type=Path)
    parser.add_argument("--write", type=Path)
    options = parser.parse_args()
    text, enough = page(yaml.safe_load(LABELS.read_text(encoding="utf-8")), options.checkouts)
    sys.stdout.write(text)
    if options.write:
        head, mark, _ = options.write.read_text(encoding="utf-8").partition(MARK)
        options.write.write_text(head + (mark or "\n" + MARK) + text, encoding="utf-8")
    return 0 if enough else 1


if __name__ == "__main__":
    sys.exit(main())
