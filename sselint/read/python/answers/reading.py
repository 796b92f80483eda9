"""Whether a stream reads the cursor, and from where."""

from __future__ import annotations

from collections.abc import Sequence

from sselint.facts import Cursor, Outcome, Run, Truth
from sselint.read.python.answers.outcome import Path, evidence_of
from sselint.read.python.server.world import World
from sselint.read.python.source.evidence import LAST_EVENT_ID


def cursor_of(world: World, paths: Sequence[Path], covered: bool) -> Cursor:
    """What reads the cursor on any of the paths. That nothing does is known where no answer was left out (`covered`),
    or where no file of the tree writes a name of the cursor at all. Where work ended, a middleware that goes through
    all headers is no reader of it, unless something was seen to depend on it."""
    counts = covered or any(path.uses_cursor for path in paths)
    events = (e for p in paths for e in p.events("cursor") if counts or not e.data.get("among_others"))
    read = next((event for event in events if event.site is not None), None)
    if read is None and not covered and _may_be_read(world):
        return Cursor(Truth.UNKNOWN, why="nothing that was followed reads the cursor, and not all of it was followed")
    if read is None:
        return Cursor(Truth.NO, why="nothing reads the cursor")
    how = str(read.data["how"])
    return Cursor(Truth.YES, how.lower(), f"read from the {how}", evidence_of([(read.site, "the cursor is read here")]))


def is_passed_over(paths: Sequence[Path], on_foreign: Run) -> bool:
    """Whether the cursor comes along only among all headers, and nothing depends on it: a middleware that looks for
    headers of its own has not read it."""
    read = [e for p in paths for e in p.events("cursor")]
    return on_foreign.outcome is Outcome.IGNORED and all(e.data.get("among_others") for e in read)


def _may_be_read(world: World) -> bool:
    return world.table.holds(LAST_EVENT_ID) or world.table.mentions(world.rules.word_list("cursor_parameters"))
