"""The first element of a history, `log[0]`: what is known here is never older than it."""

from __future__ import annotations

from dataclasses import replace

from sselint.read.python.machine import Hypothesis, Machine
from sselint.read.python.modules import Site
from sselint.read.python.values import Minted, Ref, Tuple, Value, leaves

OLDEST = "oldest"


def element(m: Machine, value: Value, first: bool) -> Value:
    """An element that was taken by its number, remembered as the oldest where it is the first."""
    if not isinstance(value, Ref):
        return _marked(value) if first else value
    if first:
        m.overlay.oldest.add(value)
    else:
        m.overlay.oldest.discard(value)
    return value


def part(m: Machine, holder: Value, value: Value) -> Value:
    """An entry or attribute of something: the oldest element's number is the oldest number."""
    return _marked(value) if isinstance(holder, Ref) and holder in m.overlay.oldest else value


def is_oldest(value: Value) -> bool:
    """Whether a value is, or is made of, the number of the oldest element."""
    return any(isinstance(leaf, Minted) and leaf.phase == OLDEST for leaf in leaves(value))


def against(m: Machine, sign: str, site: Site) -> bool:
    """`cursor sign oldest`: a cursor that is known here stands there or later, one that is not may stand anywhere."""
    if m.hypothesis is Hypothesis.KNOWN and sign in (">=", "<"):
        return sign == ">="
    return m.once(2, ("oldest", site), "condition", "whether the cursor is older than what is kept", site) == 0


def _marked(value: Value) -> Value:
    if isinstance(value, Minted):
        return replace(value, phase=OLDEST)
    return Tuple(tuple(map(_marked, value.items))) if isinstance(value, Tuple) else value
