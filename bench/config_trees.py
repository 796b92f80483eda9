"""What a configuration reader makes of whole trees: files, outcomes, routes, and whether every place lies in its file.

usage: python bench/config_trees.py FORMAT FOLDER ...

Prints a Markdown table, a line for each folder. Exits 1 if a reader failed on a file or cites a place outside it.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from sselint.facts import FileOutcome, Reading, Span
from sselint.find import find
from sselint.pipeline import read_kind

COLUMNS = (
    "tree", "files", "analysed", "partly", "failed", "places outside", "routes",
    "strict / best effort / none / unknown", "seconds",
)  # fmt: skip


def cited(reading: Reading) -> Iterator[Span]:
    """All places that the routes and reports cite."""
    for route in reading.routes:
        yield from (*route.evidence, *route.affinity.evidence, *route.affinity.undone_by, *route.affinity.no_effect)
        yield from (*route.last_event_id_evidence, *(s for o in route.observations for s in o.evidence))
    yield from (report.span for report in reading.files if report.span)


def outside(reading: Reading, root: Path) -> int:
    """How many cited places do not lie in their file."""
    lengths: dict[str, int] = {}
    wrong = 0
    for span in set(cited(reading)):
        if span.path not in lengths:
            lengths[span.path] = (root / span.path).read_text(encoding="utf-8", errors="replace").count("\n") + 1
        wrong += not 1 <= span.line <= span.end_line <= lengths[span.path]
    return wrong


def line(kind: str, folder: Path) -> tuple[str, int]:
    """The folder's line of the table, and how many faults of ours there are."""
    found = find(folder, [folder], ["*.py"])
    sources = found.of(kind)
    begun = time.perf_counter()
    reading = read_kind(kind, sources, found.tree)
    seconds = time.perf_counter() - begun
    troubled = {r.path: r.outcome for r in reading.files if r.outcome is not FileOutcome.ANALYSED}
    outcomes = Counter(troubled.values())
    strengths = Counter(route.affinity.strength.value for route in reading.routes)
    shares = " / ".join(str(strengths[name]) for name in ("strict", "best_effort", "none", "unknown"))
    files, failed = len({s.path for s in sources}), outcomes[FileOutcome.INTERNAL_ERROR]
    wrong = outside(reading, folder)
    cells = (
        folder.name.replace("+", "/", 1), files, files - len(troubled), outcomes[FileOutcome.PARTLY], failed, wrong,
        len(reading.routes), shares, f"{seconds:.1f}",
    )  # fmt: skip
    return "| " + " | ".join(map(str, cells)) + " |", failed + wrong


def main(arguments: list[str]) -> int:
    """Prints the table."""
    kind, *folders = arguments
    faults = 0
    print("| " + " | ".join(COLUMNS) + " |\n" + "|---" * len(COLUMNS) + "|")
    for folder in folders:
        text, wrong = line(kind, Path(folder))
        print(text)
        faults += wrong
    return int(faults > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
