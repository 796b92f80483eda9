"""The pieces that the JSON outputs share: evidence and what carries it."""

from __future__ import annotations

from typing import Any

from sselint.facts import Count, Evidence, Guard, Run, Stream

Json = dict[str, Any]


def evidence_items(evidence: Evidence) -> list[Json]:
    """Spans as `{"path", "line", "column", "end_line", "end_column", "note"}`, in the order of the evidence."""
    return [
        {
            "path": span.path,
            "line": span.line,
            "column": span.column,
            "end_line": span.end_line,
            "end_column": span.end_column,
            "note": span.note,
        }
        for span in evidence
    ]


def count_item(count: Count) -> Json:
    """A number as `{"low", "high", "why"}`; `high` null is unbounded or unknown."""
    return {"low": count.low, "high": count.high, "why": count.why}


def run_item(run: Run | None) -> Json | None:
    """A paper run; null where there is none."""
    if run is None:
        return None
    return {
        "outcome": run.outcome.value,
        "why": run.why,
        "status": run.status,
        "reset": run.reset,
        "late": run.late,
        "evidence": evidence_items(run.evidence),
    }


def guard_item(guard: Guard) -> Json:
    """A guard of another key."""
    return {
        "key": guard.key,
        "origin": guard.origin.value,
        "why": guard.why,
        "status": guard.status,
        "evidence": evidence_items(guard.evidence),
    }


def stream_name(stream: Stream) -> str:
    """How links name a stream: `path:symbol`."""
    return f"{stream.path}:{stream.symbol}"
