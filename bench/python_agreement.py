"""How far sselint agrees with labels that a reader gave to public Python servers.

usage: python bench/python_agreement.py LABELS.json CHECKOUTS [TABLE.md]

LABELS.json is a list of records (repo, path, commit, id_source, replay_store, unknown_last_event_id, label); CHECKOUTS
holds one folder a repository, `owner+name`, at the labelled commit. Each repository is audited as a whole, as a user
would. A record is compared with the streams whose evidence cites the labelled file. Exits 1 below nine in ten, or where
a record that keeps a policy is called corrupt.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from sselint.facts import Evidence, KeyOrigin, Outcome, Stream
from sselint.findings import Verdict
from sselint.judge import judge
from sselint.pipeline import audit
from sselint.settings import load_settings

IDS = {
    "per_process_counter": {"counter", "index"},
    "random_unprefixed": {"random", "epoch_prefixed"},
    "clock": {"clock"},
    "shared_store": {"store"},
    "message_derived": {"store", "constant", "index"},
    "client_supplied": {"client_supplied", "unknown"},
    "replica_prefixed": {"replica_prefixed", "epoch_prefixed", "random"},
    "none": {"none"},
    "unknown": {"unknown"},
}
"""Which kinds of ours say the same as a label of the id source."""

REPLAY = {
    "process_memory": {"memory"},
    "durable": {"shared", "pod_disk"},
    "none": {"none"},
    "unknown": {"unknown"},
}
"""Which places of ours say the same as a label of the replay store."""

BEHAVIOUR = {
    "silently_ignored": {Outcome.IGNORED, Outcome.FROM_HEAD, Outcome.EMPTY},
    "replay_all": {Outcome.REPLAY_ALL},
    "numeric_compare": {Outcome.COMPARED},
    "in_band_gap": {Outcome.FAIL_CLOSED},
    "fail_closed": {Outcome.FAIL_CLOSED},
    "not_read": {Outcome.NOT_READ},
    "n/a": {Outcome.NOT_READ},
}
"""Which outcomes of ours say the same as a label of the behaviour on an unknown cursor."""


@dataclass(frozen=True)
class Row:
    """One record: what the label says and what sselint says, a pair for each of the three questions."""

    repository: str
    path: str
    symbol: str
    ids: tuple[str, str, bool]
    replay: tuple[str, str, bool]
    behaviour: tuple[str, str, bool]
    label: str
    verdicts: str

    @property
    def agrees(self) -> bool:
        """Whether all three answers say the same."""
        return self.ids[2] and self.replay[2] and self.behaviour[2]

    @property
    def wrongly_corrupt(self) -> bool:
        """Whether a record that keeps a policy is called corrupt."""
        return self.label.startswith("policy") and "corrupt" in self.verdicts.split(", ")


@cache
def audited(folder: Path) -> tuple[tuple[Stream, ...], dict[str, Verdict], float]:
    """The streams of a checkout, the verdict of each that is deployed, and the seconds it took."""
    began = time.perf_counter()
    settings = load_settings([folder])
    found = audit([folder], settings)
    report = judge(found, settings)
    verdicts = {_name(j.deployment.stream): j.verdict for j in report.judgements}
    return found.streams, verdicts, time.perf_counter() - began


def _name(stream: Stream) -> str:
    return f"{stream.path}:{stream.line}:{stream.symbol}"


def _cited(stream: Stream) -> Iterator[str]:
    evidence: Iterable[Evidence] = (
        stream.evidence,
        stream.ids.evidence,
        stream.replay.evidence,
        stream.cursor.evidence,
        stream.on_foreign.evidence,
    )
    yield stream.path
    yield from (span.path for part in evidence for span in part)


def _lines(record: dict[str, Any]) -> set[int]:
    """The lines of the labelled file that the label names."""
    return {
        line
        for part in ("id_source", "replay_store", "unknown_last_event_id")
        for key in ("generated_at", "on_wire_at", "at")
        for line in record[part].get(key, ())
        if isinstance(line, int)
    }


def _closeness(stream: Stream, record: dict[str, Any]) -> int:
    """How many of the labelled lines the evidence of a stream cites."""
    lines = _lines(record)
    spans = (*stream.ids.evidence, *stream.replay.evidence, *stream.on_foreign.evidence, *stream.evidence)
    return len({span.line for span in spans if span.path == record["path"]} & lines)


def compared(record: dict[str, Any], checkouts: Path) -> Row:
    """One record beside what sselint says of it."""
    streams, verdicts, _ = audited(checkouts / record["repo"].replace("/", "+"))
    about = [s for s in streams if record["path"] in set(_cited(s))]
    about.sort(key=lambda s: (-_closeness(s, record), s.path != record["path"]))  # of equals, what stands in the file
    stream = about[0] if about else None
    ids, replay, behaviour = (
        record["id_source"]["kind"],
        record["replay_store"]["kind"],
        record["unknown_last_event_id"]["behaviour"],
    )
    told = sorted({verdicts[_name(s)].value for s in about if _name(s) in verdicts})
    common = (record["repo"], record["path"], str(record["symbol"] or ""))
    if stream is None or (ids == "none" and stream.ids.kind.value == "none"):
        silent = ids == "none" or ids == "client_supplied"
        word = "no ids" if stream else "no stream"
        same = (word, silent)
        return Row(*common, (ids, *same), (replay, *same), (behaviour, *same), record["label"], ", ".join(told))
    kinds = {s.ids.kind.value for s in about if _closeness(s, record) == _closeness(stream, record)}
    kind = next(iter(sorted(kinds & IDS[ids])), stream.ids.kind.value)
    where, outcome = stream.replay.where.value, stream.on_foreign.outcome
    guarded = any(g.origin is KeyOrigin.RANDOM_LOCAL for g in stream.guards)
    refused = guarded and behaviour == "fail_closed"  # by the guard, before the cursor is looked at
    met = f"guard, then {outcome.value}" if refused else outcome.value
    return Row(
        *common,
        (ids, f"{kind}, {stream.ids.scope.value}", kind in IDS[ids]),
        (replay, where, where in REPLAY[replay]),
        (behaviour, met, refused or outcome in BEHAVIOUR[behaviour]),
        record["label"],
        ", ".join(told),
    )


def table(rows: list[Row]) -> str:
    """The rows as a Markdown table, with the count of agreements."""
    agree = sum(row.agrees for row in rows)
    lines = [
        f"{agree} of {len(rows)} records agree in all three answers (id source, replay place, foreign cursor).",
        "Where they differ, the label comes first and sselint second.",
        "",
        "| repository | file | id source | replay | foreign cursor | label | verdict | agrees |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        cells = (_cell(*pair) for pair in (row.ids, row.replay, row.behaviour))
        name = f"`{row.path}`" + (f" {row.symbol}" if row.symbol else "")
        told = (row.label, row.verdicts or "not deployed", "yes" if row.agrees else "no")
        lines.append("| " + " | ".join((row.repository, name, *cells, *told)) + " |")
    return "\n".join(lines) + "\n"


def _cell(label: str, ours: str, same: bool) -> str:
    return ours if same else f"**{label} / {ours}**"


def main(arguments: list[str]) -> int:
    """Prints the table, or writes it into a file below its heading."""
    labels, checkouts = Path(arguments[0]), Path(arguments[1])
    records = json.loads(labels.read_text())
    rows = [compared(r, checkouts) for r in records if (checkouts / r["repo"].replace("/", "+")).is_dir()]
    text = table(rows)
    print(text)
    for folder in sorted({checkouts / r["repo"].replace("/", "+") for r in records}):
        if folder.is_dir():
            print(f"{audited(folder)[2]:8.2f} s  {folder.name}", file=sys.stderr)
    if len(arguments) > 2:
        page = Path(arguments[2])
        head, mark, _ = page.read_text().partition("<!-- table -->\n")
        page.write_text(head + (mark or "\n<!-- table -->\n") + text)
    agree = sum(row.agrees for row in rows)
    return int(agree < 0.9 * len(rows) or any(row.wrongly_corrupt for row in rows))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
