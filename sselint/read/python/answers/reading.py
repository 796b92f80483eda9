"""Whether a stream reads the cursor, and from where."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sselint.facts import Cursor, Outcome, Run, Truth
from sselint.read.python.answers.outcome import Path, evidence_of
from sselint.read.python.server.endpoint import Endpoint
from sselint.read.python.server.world import World
from sselint.read.python.source.evidence import LAST_EVENT_ID

NAME = r"last[-_]?event[-_]?id"
READER = re.compile(
    rf"""["'](?:http_)?{NAME}["']"""  # a text of its own: the name of a header, a query parameter or a field
    rf"""|\b{NAME}[ \t]*:"""  # a parameter or a field with its type
    rf"""|\b{NAME}[ \t]*=[ \t]*[\w.]*(?:header|query|param|field|form)"""  # one that says where it comes from
    rf"""|\bdef[ \t]+\w+[ \t]*\([^()]*\b{NAME}\b"""  # a parameter without its type
    rf"""|[\w)\]]\.{NAME}\b""",  # an attribute of a request
    re.IGNORECASE,
)
"""How a file may come to the cursor by its name. A variable of that name, and what is said of it in words, do not."""
ALLOWED = re.compile(r"\w*(?:allow|expos|cors)\w*[ \t]*(?::[^=\n]*)?=[ \t]*[\[({][^\])}]*", re.IGNORECASE)
"""The list of headers that browsers may send (CORS): it names the header for others."""


def cursor_of(world: World, endpoint: Endpoint, paths: Sequence[Path], covered: bool) -> Cursor:
    """What reads the cursor on any of the paths. That nothing does is known where no answer was left out (`covered`),
    or where no file of the tree has a way to it by its name. Where work ended, a middleware that goes through
    all headers is no reader of it, unless something was seen to depend on it."""
    counts = covered or any(path.asks_cursor or path.events("parse") for path in paths)
    events = (e for p in paths for e in p.events("cursor") if counts or not e.data.get("among_others"))
    read = next((event for event in events if event.site is not None), None)
    if read is None and not covered and _may_be_read(world, endpoint):
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


def _may_be_read(world: World, endpoint: Endpoint) -> bool:
    """Whether a file of the tree may read the cursor. Functions that no application mounts are given it under other
    names as well."""
    if world.table.any_text(may_read):
        return True
    return endpoint.is_free and world.table.mentions(world.rules.word_list("cursor_parameters"))


def may_read(text: str) -> bool:
    """Whether a file has a way to the cursor by its name."""
    lower = text.lower()
    return any(word in lower for word in LAST_EVENT_ID) and READER.search(ALLOWED.sub("", text)) is not None
