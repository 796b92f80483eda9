"""What stays open of a stream where work ended before all of it was followed.

That something is not there (an id, a reader of the cursor, a replay) is only known where all ways were followed, or
where the text of the tree proves it. What was seen stays seen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sselint.facts import Cursor, IdKind, IdSource, Outcome, Replay, Run, Scope, Truth, Where
from sselint.read.python.answers.outcome import Path
from sselint.read.python.answers.unnamed import may_name
from sselint.read.python.server.world import World

SO_FAR, ENDED = "that was followed, and not all of it was followed", "and work ended before"


@dataclass(frozen=True)
class Unfinished:
    """How far the paths of a stream were followed, and what reads its cursor."""

    world: World
    cursor: Cursor
    broken_off: bool
    """Whether an answer that may matter to the stream was left out."""
    cut: bool
    """Whether any of the paths was broken off on its way."""

    def ids(self, found: IdSource) -> IdSource:
        """The ids of the stream. That there are none is not known where work ended, or where what reads the cursor
        was not found, unless no file writes the field and nothing reads a cursor. Nor is it known where work ended
        that all are written down: a greeting or a farewell may be, and what is sent between them not."""
        if found.kind is IdKind.CONSTANT and self.broken_off:
            why = f"the id is written down in all {SO_FAR}"
            return replace(found, kind=IdKind.UNKNOWN, scope=Scope.UNKNOWN, why=why)
        if found.kind is not IdKind.NONE or not (self._unread_so_far or self._may_carry_ids):
            return found
        why = f"no event carries an id {SO_FAR}"
        return IdSource(IdKind.UNKNOWN, Scope.UNKNOWN, why, found.evidence, reaches_fresh_client=Truth.UNKNOWN)

    def replay(self, found: Replay, ids: IdSource, served: Sequence[Path]) -> Replay:
        """The replay of the stream, whose `served` paths get past every guard. Where work ended, that there is none is
        not known, nor that it is what was read on the way where nothing of it was seen to be sent. Where events have
        no ids and nothing reads a cursor, it is none whatever is left: nobody can ask for it."""
        if found.where is not Where.NONE and any(_is_of_the_replay(path) for path in served):
            return found
        unasked = self.cursor.read is Truth.NO and ids.kind is IdKind.NONE
        followed = not self.broken_off or unasked or not (self.cut or self.cursor.read is Truth.YES)
        if followed and not self._unread_so_far:
            return found
        return replace(found, where=Where.UNKNOWN, why=f"nothing is replayed {SO_FAR}")

    def run(self, found: Run, served: Sequence[Path]) -> Run:
        """What a cursor leads to. Where work ended, that nothing depends on it is not known; nor is that nothing comes
        after it where no event with an id was followed at all: the events that it stands for were not seen to be
        sent."""
        if not self.broken_off:
            return found
        if found.outcome is Outcome.IGNORED:
            return replace(found, outcome=Outcome.UNKNOWN, why=f"nothing that was followed depends on it, {ENDED}")
        silent = not any(frame.id is not None for path in served for frame in path.frames)
        if silent and found.outcome in (Outcome.FROM_HEAD, Outcome.EMPTY):
            return replace(found, outcome=Outcome.UNKNOWN, why=f"no event was followed that comes after it, {ENDED}")
        return found

    @property
    def _unread_so_far(self) -> bool:
        return self.cursor.read is Truth.UNKNOWN

    @property
    def _may_carry_ids(self) -> bool:
        return self.broken_off and (self.cursor.read is Truth.YES or may_name(self.world))


def _is_of_the_replay(path: Path) -> bool:
    """Whether a path sends what may be of a replay: an entry of a store, an event with an id, or a text of which
    nobody knows where its events begin."""
    return any(f.item is not None or f.id is not None or not f.framed for f in path.frames)
