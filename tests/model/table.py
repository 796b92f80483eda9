"""`python -m tests.model.table > docs/model-table.md`: every combination of facts with its verdict, grouped.

Facts that change nothing in a group are left out of it, so that each row is as general as it can be.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from itertools import product

from sselint.facts import Outcome, Scope, Where
from sselint.findings import Verdict
from sselint.model import Situation
from sselint.policies import verdict_of
from sselint.routing import Way
from sselint.situation import Completion
from tests.model.situations import HANDLERS, PLACES

HEAD = """# The verdict of every combination of facts

Generated from the model by `python -m tests.model.table > docs/model-table.md`; a test holds that it is up to date.
`docs/model.md` explains the words. `*` stands for any value, *200 all the same* for the four ways of tolerating a
cursor that a process does not hold (from the head, everything, what compares greater, nothing). *Affinity* is what the
hops do with the clients at hand: one process at a time, strict, best effort (or a key that lapses), none. Every
combination falls under exactly one row; the rows of a table are in the order of their verdicts, the worst first.
"""

ROUTING = {
    "one process": Way(False),
    "strict": Way(True),
    "best effort": Way(True, (), True),
    "none": Way(True, (), False),
}
"""What brings a client back to its process. The verdict asks only whether a client can be moved at all, and whether
something usually brings it back."""

ELSEWHERE = {"one process": (), "strict": (), "best effort": ("drain",), "none": ("plain",)}
PLACE = {Where.MEMORY: "local", Where.SHARED: "shared", Where.NONE: "none"}
SCOPES = (Scope.OVERLAPPING, Scope.ORDERED_LOCAL, Scope.UNIQUE_LOCAL, Scope.SHARED)
ORDER = tuple(Verdict)
TOLERATED = ("from the head", "everything", "what compares greater", "200 and nothing")
COLUMNS = ("ids", "replay", "live tail", "a foreign cursor", "affinity")

Row = tuple[str, ...]


def verdicts(*, guarded: bool = False, stripped: bool = False) -> dict[Row, Verdict]:
    """The verdict of each combination, in the words of the columns."""
    found = {}
    for scope, (replay, tail), (name, handler), affinity in product(SCOPES, PLACES, HANDLERS.items(), ROUTING):
        situation = Situation(
            scope=scope,
            replay=replay,
            live_tail=tail,
            on_foreign=handler[0],
            on_held=handler[1],
            reads_cursor=handler[2],
            on_missing=Outcome.FROM_HEAD,
            guarded=guarded,
            stripped=stripped,
            processes=2 if ROUTING[affinity].several else 1,
            elsewhere=ELSEWHERE[affinity],
        )
        row = (scope.value, PLACE[replay], PLACE[tail], name, affinity)
        found[row] = verdict_of(Completion(situation, ROUTING[affinity], per_connection=False))
    return found


def grouped(found: dict[Row, Verdict]) -> list[tuple[Row, Verdict]]:
    """The fewest rows that a greedy merge finds: values of one column that always come to the same are put together."""
    rows = {tuple((value,) for value in row): verdict for row, verdict in found.items()}
    everything = [tuple(dict.fromkeys(row[n] for row in found)) for n in range(len(COLUMNS))]
    changed = True
    while changed:
        changed = False
        for column in reversed(range(len(COLUMNS))):
            merged = _merged(rows, column, everything[column])
            changed |= len(merged) < len(rows)
            rows = merged
    told = [(tuple(_words(cell, everything[n]) for n, cell in enumerate(row)), v) for row, v in rows.items()]
    return sorted(told, key=lambda item: (ORDER.index(item[1]), item[0]))


def _merged(
    rows: dict[tuple[tuple[str, ...], ...], Verdict], column: int, order: Sequence[str]
) -> dict[tuple[tuple[str, ...], ...], Verdict]:
    """The rows that differ in this column only, and have the same verdict, as one."""
    together: dict[tuple[object, ...], list[tuple[tuple[str, ...], ...]]] = {}
    for row, verdict in rows.items():
        together.setdefault((row[:column], row[column + 1 :], verdict), []).append(row)
    result = {}
    for group in together.values():
        values = sorted((value for row in group for value in row[column]), key=order.index)
        row = (*group[0][:column], tuple(values), *group[0][column + 1 :])
        result[row] = rows[group[0]]
    return result


def _words(cell: tuple[str, ...], everything: Sequence[str]) -> str:
    if len(cell) == len(everything):
        return "*"
    if set(TOLERATED) <= set(cell):
        cell = (*(value for value in cell if value not in TOLERATED), "200 all the same")
    return ", ".join(cell)


def _table(found: dict[Row, Verdict]) -> Iterator[str]:
    yield "| " + " | ".join((*COLUMNS, "verdict")) + " |"
    yield "|" + " --- |" * (len(COLUMNS) + 1)
    for row, verdict in grouped(found):
        yield "| " + " | ".join((*row, f"**{verdict.value}**")) + " |"


def document() -> str:
    """The whole page."""
    lines = [HEAD]
    lines += ["## No hop removes the cursor, and no key is looked up first", "", *_table(verdicts()), ""]
    lines += [
        "## A key minted at random in one process is looked up first",
        "",
        "A guard: no other process, and no later life of this one, has the key (MCP sessions of the stock manager).",
        "",
        *_table(verdicts(guarded=True)),
        "",
    ]
    lines += ["## A hop removes `Last-Event-ID`", "", *_table(verdicts(stripped=True)), ""]
    lines += [
        "## Whatever else",
        "",
        "| fact | verdict |",
        "| --- | --- |",
        "| no ids on the wire, or none that reaches a client which comes for the first time | **no-resumption** |",
        "| the settings name the clients, and none of them sends the cursor | **no-resumption** |",
        "| ids made anew for each connection, and nothing that looks one up | **none** |",
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.stdout.write(document())
