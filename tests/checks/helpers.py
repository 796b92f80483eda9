"""What a check says of one deployment: through the real judge, the real rules and the real checks."""

from __future__ import annotations

from typing import Any

from sselint.findings import Finding, Judgement
from tests.report import builders


def found(code: str, judgement: Judgement) -> tuple[Finding, ...]:
    """The findings of a code on a judgement that the model is taken to have made."""
    return tuple(f for f in builders.report(judgement).findings if f.code == code)


def only(code: str, judgement: Judgement) -> Finding:
    """The one finding of a code."""
    (finding,) = found(code, judgement)
    return finding


def with_stream(**changes: Any) -> Judgement:
    """A corrupt deployment whose stream differs in `changes`."""
    return builders.corrupt(deployment=builders.deployment(stream=builders.stream(**changes)))


def behind(*hops: Any) -> Judgement:
    """A corrupt deployment behind other hops."""
    return builders.corrupt(deployment=builders.deployment(hops=tuple(builders.hop(thing) for thing in hops)))
