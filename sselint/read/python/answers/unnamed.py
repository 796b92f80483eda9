"""Whether any event of a tree may carry an id at all, by its text: a proof that needs no run.

Streams without ids are the most, and in a large tree few of them are followed on all ways. Where no file writes the
field, none has one, whatever was not followed.
"""

from __future__ import annotations

import re

from sselint.read.python.server import order
from sselint.read.python.server.world import World

FIELD = re.compile(
    r"""(?<!startswith\()(?<!startswith\(b)(?:["']|\\n|\\r)[ \t]*id[ \t]*:"""  # a text, or its next line, begins so
    r"""|^[ \t]*id:[ \t]*[{%$]"""  # a line of a longer text, with something put in
    r"""|["']id["'][ \t]*(?:[,+][ \t]*)?["']:"""  # put together of its parts
    # a name that is known when it runs, in front of its value
    r"""|(?<!print\()(?<!print\(f)["'](?:\{[^{}]*\}:[ \t]?\{[^{}]*\}|%s:[ \t]?%s)(?:\\r)?\\n""",
    re.MULTILINE,
)
"""The field `id` as an event stream has it (HTML, 9.2.6). `"id": 5` of a dict and `id: int` of a class are none,
and who asks whether a line begins with it reads streams."""
ANY_FIELD = re.compile(r"""(?<!print\()(?<!print\(f)["'](?:\{\w+\}:[ \t]?\{[^{}]*\}|%s:[ \t]?%s)["']""")
"""A line of any name and value. Many lines of a log are such: it counts where a file sends or receives streams."""
KEY = re.compile(r"""\bid[ \t]*=(?!=)|["']id["']""")
"""An argument, an attribute or a key that becomes the field where a library frames the events."""


def may_name(world: World) -> bool:
    """Whether a file of the tree, tests left out, writes the field `id` of an event, uses something of a library that
    does, or sends streams and reads what another server sends, which it may hand on as it is."""
    return world.table.any_text(_named, world.rules.naming, world.rules.word_list("relayed"))


def _named(text: str, naming: frozenset[tuple[str, str]], relayed: tuple[str, ...]) -> bool:
    if FIELD.search(text) or (any(word in text for word in relayed) and order.ANSWERS.search(text)):
        return True
    if ANY_FIELD.search(text) and order.sends(text):
        return True
    return KEY.search(text) is not None and any(head in text and name in text for head, name in naming)
