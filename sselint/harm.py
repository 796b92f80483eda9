"""What corrupting runs do to the client: the harm of one end, and every kind that the same facts can come to."""

from __future__ import annotations

from collections import deque
from functools import cache
from typing import NamedTuple

from sselint.model import Situation, State, corrupted, moves, starts


class Harm(NamedTuple):
    """Events that the client never gets, gets twice, or takes for its stream's though they are another's."""

    lost: tuple[str, ...]
    repeated: tuple[str, ...]
    foreign: tuple[str, ...]

    @property
    def kinds(self) -> frozenset[str]:
        """The names of the kinds that occur."""
        return frozenset(name for name, events in self._asdict().items() if events)


def harm(end: State) -> Harm:
    """The harm at the end of a corrupting run. All three are empty where events only come out of order."""
    earlier = end.held[: end.since or 0]
    return Harm(
        lost=tuple(e for e in end.owed if e not in end.answer),
        repeated=tuple(e for n, e in enumerate(end.answer) if e in earlier or e in end.answer[:n]),
        foreign=tuple(e for e in end.answer if e not in end.stream),
    )


@cache
def harms(s: Situation) -> frozenset[str]:
    """Every kind of harm that some corrupting run of the situation does, up to the model's bound."""
    seen = set(starts(s))
    queue = deque(starts(s))
    found: frozenset[str] = frozenset()
    while queue:
        for action, after in moves(s, queue.popleft()):
            if after in seen:
                continue
            seen.add(after)
            if corrupted(action, after):
                found |= harm(after).kinds
            else:
                queue.append(after)
    return found
