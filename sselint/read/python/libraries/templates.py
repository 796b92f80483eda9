"""Templates of text whose places have names: `string.Template("id: $key")`."""

from __future__ import annotations

import re

from sselint.read.python.interpreter import text
from sselint.read.python.interpreter.machine import Machine
from sselint.read.python.interpreter.values import Const, Ref, Unknown, Value, mentions_cursor
from sselint.read.python.libraries import library
from sselint.read.python.libraries.context import Context
from sselint.read.python.rules import Effect

PLACE = re.compile(r"\$(?:(\$)|([A-Za-z_]\w*)|\{([A-Za-z_]\w*)\})")


def substituted(m: Machine, effect: Effect, c: Context) -> Value:
    """A template with its places filled from a mapping and from keywords, which come first."""
    given = (*c.arguments.positional, *c.arguments.keywords.values())
    template = library.use(m, c.receiver, "template") if isinstance(c.receiver, Ref) else None
    if not isinstance(template, Const):
        return Unknown("a template that is not written down", any(mentions_cursor(v) for v in given))
    written, end = str(template.value), 0
    parts: list[Value] = []
    for match in PLACE.finditer(written):
        parts.append(Const.of(written[end : match.start()]))
        end = match.end()
        name = match.group(2) or match.group(3)
        parts.append(Const.of("$") if name is None else _filled(m, name, c))
    return text.join([*parts, Const.of(written[end:])])


def _filled(m: Machine, name: str, c: Context) -> Value:
    """What stands for a name: a value is put there as text."""
    found = c.arguments.keywords.get(name)
    if found is None:
        found = text.named(m, c.arguments.keywords.get("**") or c.arguments.get(0), name)
    return text.as_text(m, found, c.arguments.site, c.arguments.frame)
