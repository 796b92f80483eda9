"""Which deployments sselint finds in whole repositories: hops, processes and verdict, as a Markdown table.

usage: python bench/deployments_table.py CHECKOUTS [--labels LABELS.json] [--write TABLE.md] [NAME ...]

CHECKOUTS holds one folder a repository (`owner+name`); NAMEs narrow it. With LABELS.json (records with repo, path and
label) each repository's labels stand beside what was found.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import defaultdict
from pathlib import Path

from sselint.deployment import Deployment, Hop
from sselint.facts import Count
from sselint.findings import Judgement
from sselint.judge import judge
from sselint.pipeline import audit
from sselint.settings import load_settings

HEAD = """| repository | deployment | hops, outermost first | verdict | labels |
|---|---|---|---|---|
"""


def count(number: Count) -> str:
    """A number of processes as people write it."""
    if number.high is None:
        return f"{number.low} or more"
    return str(number.low) if number.low == number.high else f"{number.low} to {number.high}"


def hop(step: Hop) -> str:
    """A hop with its affinity, or a pool with its processes."""
    if step.route:
        affinity = step.route.affinity
        text = f"{step.route.format} `{step.route.name}` ({affinity.mechanism}, {affinity.strength.value})"
    elif step.pool:
        text = f"{step.pool.kind} `{step.pool.name}` x {count(step.pool.processes)}"
    else:
        text = step.name
    return text + (" (assumed)" if step.assumed else "")


def hops(deployment: Deployment) -> str:
    """The chain."""
    return " -> ".join(hop(step) for step in deployment.hops) or "none known"


def rows(folder: Path, labels: list[str]) -> tuple[list[str], float]:
    """One row a deployment of a repository, and the seconds it took."""
    began = time.perf_counter()
    settings = load_settings([folder])
    report = judge(audit([folder], settings), settings)
    name = folder.name.replace("+", "/", 1)
    told = sorted(report.judgements, key=lambda j: j.deployment.name)
    found = [_row(name, judgement, labels) for judgement in told if judgement.verdict.value != "none"]
    if not found:
        found = [f"| {name} | none: {len(told)} deployed streams without a promise | | | {', '.join(labels)} |"]
    return found, time.perf_counter() - began


def _row(name: str, judgement: Judgement, labels: list[str]) -> str:
    deployment = judgement.deployment
    cells = (name, deployment.name, hops(deployment), judgement.verdict.value, ", ".join(labels))
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def main() -> int:
    """Prints the table, or writes it below the heading of a page."""
    parser = argparse.ArgumentParser()
    parser.add_argument("checkouts", type=Path)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--labels", type=Path)
    parser.add_argument("--write", type=Path)
    options = parser.parse_args()
    labels: dict[str, list[str]] = defaultdict(list)
    for record in json.loads(options.labels.read_text()) if options.labels else []:
        labels[record["repo"].replace("/", "+")].append(str(record.get("label") or record.get("affinity")))
    table = HEAD
    for folder in sorted(p for p in options.checkouts.iterdir() if p.is_dir() and any(p.iterdir())):
        if options.names and folder.name not in options.names:
            continue
        found, seconds = rows(folder, sorted(set(labels[folder.name])))
        print(f"{seconds:8.2f} s  {folder.name}", file=sys.stderr)
        table += "".join(row + "\n" for row in found)
    if options.write:
        head, mark, _ = options.write.read_text().partition("<!-- table -->\n")
        options.write.write_text(head + (mark or "\n<!-- table -->\n") + table)
    else:
        print(table)
    return 0


if __name__ == "__main__":
    sys.exit(main())
