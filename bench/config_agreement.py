"""How far sselint agrees with labels that a reader gave to public proxy configurations.

usage: python bench/config_agreement.py LABELS.json CHECKOUTS FORMAT [--reasons REASONS.yaml] [--write PAGE.md]

LABELS.json is a list of records (id, repo, path, format, affinity_mechanism, affinity, multi_replica); CHECKOUTS holds
one folder a repository, `owner+name`. Each repository is read as a whole, as a user would, and the routes of the
labelled file are compared in mechanism and strength. REASONS.yaml maps record ids to a sentence that says why label and
tool differ. Exits 1 below nine in ten.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from sselint.facts import FileOutcome, KeyIssuer, Meets, Reading, Route, RoutingEvent, Strength
from sselint.find import find
from sselint.pipeline import read_kind

FAMILIES = (
    ("none", r"^(?:none|no\b)"),
    ("single", r"^one server|single (?:server|upstream|host)"),
    ("backup", r"backup"),
    ("chosen by key", r"use.server|use_backend|\bmap\b(?!-)|split_clients|geo\b|header match"),
    ("session state", r"stateful.session|envelope"),
    ("table", r"stick.?table|\bstick (?:on|match)|sticky learn"),
    ("hash", r"hash|balance source|balance url_param|ip_hash|maglev"),
    ("cookie", r"cookie|sticky"),
)
"""Families of mechanisms, by the words of labels and of our own names for them; the first that is found counts."""

STRENGTHS = {"unclear": "unknown", "n/a": "none"}
"""Words of the labels that we say otherwise."""

MARK = "<!-- table -->\n"


@dataclass(frozen=True)
class Row:
    """One record: what the label says, what sselint says, and whether that is the same."""

    record: str
    repository: str
    path: str
    label: str
    derived: str
    agrees: bool


def family(words: str) -> str:
    """The family of a mechanism, `unknown` if its words name none."""
    return next((name for name, shape in FAMILIES if re.search(shape, words, re.IGNORECASE)), "unknown")


def families(words: str) -> list[str]:
    """The families of the mechanisms of several pools (`;`), or of one that a condition decides (`or`)."""
    return [family(part.strip()) for part in re.split(r";| or ", words)]


@cache
def reading(checkout: Path, kind: str) -> Reading:
    """What the reader of a format finds in a checkout."""
    found = find(checkout, [checkout], ["*.py"])
    return read_kind(kind, found.of(kind), found.tree)


def alone(path: Path, kind: str) -> tuple[Route, ...]:
    """The routes of a file that stands in a folder of its own."""
    if not path.is_file():
        return ()
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(path, folder)
        return reading(Path(folder), kind).routes


def compared(record: dict[str, Any], checkouts: Path) -> Row:
    """A record beside what sselint says of the labelled file. The label speaks of the file's main pool: it agrees with
    any route of that mechanism and strength. A mechanism that pins nobody, and none, are the same. Where the label says
    that the file by itself does not tell, the file is asked by itself."""
    checkout = checkouts / record["repo"].replace("/", "+")
    read = reading(checkout, record["format"])
    routes = [route for route in read.routes if route.path == record["path"]]
    if record["affinity"] == "unclear" and not routes:
        routes = alone(checkout / record["path"], record["format"])
    strength = STRENGTHS.get(record["affinity"], record["affinity"])
    afterwards = record.get("pins_to_creating_replica") == "no"
    pairs = [(named, _strength(route, afterwards)) for route in routes for named in _families_of(route)]
    possible = [(named, strength) for named in families(record["affinity_mechanism"])]
    wanted = next((pair for pair in possible if pair in pairs), possible[0])
    one = record["multi_replica"] == "no" and "single" in {mechanism for mechanism, _ in pairs}
    unpinned = wanted[1] == "none" and ("none", "none") in pairs
    open_too = wanted[1] == "unknown" and any("unknown" in pair for pair in pairs)
    nothing_to_pin = not routes and record["multi_replica"] == "n/a" and wanted == ("none", "none")
    agrees = wanted in pairs or one or unpinned or open_too or nothing_to_pin
    derived = ", ".join(wanted) if wanted in pairs else "; ".join(_shown(routes)) or _nothing(read, record["path"])
    return Row(record["id"], record["repo"], record["path"], ", ".join(wanted), derived, agrees)


def _strength(route: Route, afterwards: bool) -> str:
    """The strength. `afterwards`: the label says beside it that the session's first request goes astray, and speaks of
    the later ones; a row in which that happens says of these only whether they come back while nothing changes."""
    affinity = route.affinity
    astray = affinity.meets(RoutingEvent.INIT) in (Meets.OTHER, Meets.DEPENDS)
    if afterwards and astray and affinity.meets(RoutingEvent.PLAIN) is Meets.SAME:
        return Strength.BEST_EFFORT.value
    return affinity.strength.value


def _families_of(route: Route) -> list[str]:
    """The families of a route's mechanism; one that has no key and no name among the families is `none`."""
    keyless = route.affinity.strength is Strength.NONE and route.affinity.key.issued_by is KeyIssuer.NONE
    return ["none" if named == "unknown" and keyless else named for named in families(route.affinity.mechanism)]


def _shown(routes: Sequence[Route]) -> list[str]:
    """Mechanism and strength of the file's routes, each once."""
    return list(dict.fromkeys(f"{r.affinity.mechanism}, {r.affinity.strength.value}" for r in routes))[:3]


def _nothing(read: Reading, path: str) -> str:
    """Why a file has no routes, as far as that is known."""
    reports = [f for f in read.files if f.path == path]
    bad = [f.why for f in reports if f.outcome is not FileOutcome.ANALYSED]
    return bad[0] if bad else "no routes" if reports else "not recognised, or not at this revision"


def page(rows: Sequence[Row], absent: Sequence[str], reasons: dict[str, str]) -> str:
    """The rows as a Markdown table, with the counts before it."""
    agree = sum(row.agrees for row in rows)
    lines = [f"{agree} of {len(rows)} agree on mechanism and strength.", ""]
    if absent:
        lines += [f"Not compared, because the repository could not be fetched: {', '.join(absent)}.", ""]
    lines += ["| repository | file | label | sselint | agrees |", "|---|---|---|---|---|"]
    for row in rows:
        verdict = "yes" if row.agrees else f"no: {reasons.get(row.record, 'not explained')}"
        cells = (row.repository, f"`{row.path}`", row.label, row.derived, verdict)
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines) + "\n"


def main() -> int:
    """Prints the table, and writes it below the heading of a page if asked to."""
    parser = argparse.ArgumentParser()
    parser.add_argument("labels", type=Path)
    parser.add_argument("checkouts", type=Path)
    parser.add_argument("format")
    parser.add_argument("--reasons", type=Path)
    parser.add_argument("--write", type=Path)
    options = parser.parse_args()
    records = [r for r in json.loads(options.labels.read_text()) if r["format"] == options.format]
    here = [r for r in records if (options.checkouts / r["repo"].replace("/", "+")).is_dir()]
    absent = sorted({r["repo"] for r in records} - {r["repo"] for r in here})
    reasons = yaml.safe_load(options.reasons.read_text()) if options.reasons else {}
    rows = [compared(record, options.checkouts) for record in here]
    text = page(rows, absent, reasons or {})
    sys.stdout.write(text)
    if options.write:
        head, mark, _ = options.write.read_text().partition(MARK)
        options.write.write_text(head + (mark or "\n" + MARK) + text)
    return int(sum(row.agrees for row in rows) < 0.9 * len(rows))


if __name__ == "__main__":
    sys.exit(main())
