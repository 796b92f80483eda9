"""How far the nginx tokenizer agrees with crossplane on configurations of other people.

usage: PYTHONPATH=. python bench/nginx_tokens.py FOLDER ...

Every `*.conf` under the folders is cut into directives by both (names, arguments, lines, blocks) and read by the nginx
reader as a whole tree. Prints the counts, and every file on which the two part. Exits 1 if the reader itself fails.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

from sselint.facts import FileOutcome
from sselint.read import nginx
from sselint.source import Source, Tree
from tests.read.nginx.test_parser import crossplanes, ours


def outcome(text: str) -> str:
    """What the two make of a text."""
    results = []
    for cut in (ours, crossplanes):
        try:
            results.append(cut(text))
        except AssertionError:
            results.append(None)
    mine, theirs = results
    if mine is None or theirs is None:
        both, one = "both refuse", "only sselint refuses" if mine is None else "only crossplane refuses"
        return both if mine is theirs else one
    return "agree" if mine == theirs else "differ"


def failures(folder: Path) -> list[str]:
    """Files of a tree on which the reader fails with an error of its own."""
    paths = [p.relative_to(folder).as_posix() for p in sorted(folder.rglob("*.conf")) if p.is_file()]
    tree = Tree(str(folder), tuple(paths), lambda path: (folder / path).read_bytes())
    read = nginx.read([Source(path, tree.text(path), "nginx") for path in paths], tree)
    return [f"{f.path}: {f.why}" for f in read.files if f.outcome is FileOutcome.INTERNAL_ERROR]


def main() -> int:
    """Prints counts for each folder; 1 if the reader failed anywhere."""
    failed = 0
    for folder in map(Path, sys.argv[1:]):
        counts: Counter[str] = Counter()
        for path in sorted(p for p in folder.rglob("*.conf") if p.is_file()):
            result = outcome(path.read_text(encoding="utf-8", errors="replace"))
            counts[result] += 1
            if result not in ("agree", "both refuse"):
                print(f"  {result}: {path}")
        broken = failures(folder)
        failed += len(broken)
        print(f"{folder.name}: {sum(counts.values())} files, {dict(counts)}, errors of the reader: {broken or 'none'}")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
