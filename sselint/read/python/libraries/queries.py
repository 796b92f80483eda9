"""The query of a request that a program takes apart by hand (`parse_qs`): what the client sent under each name."""

from __future__ import annotations

import re

from sselint.read.python.interpreter.machine import Arguments, Machine, Raised
from sselint.read.python.interpreter.values import (
    Const,
    Exceptional,
    Input,
    Tuple,
    Unknown,
    Value,
    leaves,
    mentions_cursor,
)
from sselint.read.python.libraries import library
from sselint.read.python.libraries.context import Context
from sselint.read.python.rules import Effect
from sselint.read.python.source.modules import Site

NOTHING = Const.of(None)
COMPARED = re.compile(r"""== *["']([\w-]{2,40})["']""")
LITERAL = re.compile(r"""["']([\w-]{2,40})["']""")


def address(m: Machine, effect: Effect, c: Context) -> Value:
    """An address taken apart: of a request's own each part is what the client sent, of any other nothing is said."""
    sent = _of_request(m, c)
    return sent if sent is not None else _unknown(c)


def parsed(m: Machine, effect: Effect, c: Context) -> Value:
    """The names and values of a request's query, as an object that the rules describe."""
    entry = m.rules.entry(str(effect.get("as")))
    if entry is None or _of_request(m, c) is None:
        return _unknown(c)
    return library.make_object(m, entry, Arguments((), {}, c.arguments.site, None))


def values(m: Machine, effect: Effect, c: Context) -> Value:
    """All that was sent under one name, as a list: one value is as good as many."""
    sent = m.world.sent(m, "query", c.argument(effect, "key", "0"), NOTHING, c.arguments.site)
    if not isinstance(sent, Const) or sent.value is not None:
        return Tuple((sent,))
    if effect.get("missing") == "raises":
        raise Raised(Exceptional("KeyError"), c.arguments.site)
    return c.argument(effect, "default", "1") or NOTHING


def pairs(m: Machine, effect: Effect, c: Context) -> Value:
    """What was sent, name by name: under each name that the file writes down for the cursor, or compares with."""
    site = c.arguments.site
    cursors, others = _names(m, site)
    given: dict[str, Value] = {name: Input(f"query {name}") for name in others}
    sent = m.world.sent(m, "query", Const.of(cursors[0]), NOTHING, site) if cursors else NOTHING
    if not isinstance(sent, Const) or sent.value is not None:
        given |= dict.fromkeys(cursors, sent)
    lists = effect.get("rows") == "all"
    return Tuple(tuple(Tuple((Const.of(k), Tuple((v,)) if lists else v)) for k, v in given.items()))


def _names(m: Machine, site: Site) -> tuple[list[str], list[str]]:
    """The names that a query may have, as far as the file asks for them: those of a cursor, which a client sends under
    one of them, and the others."""
    from sselint.read.python.server.world import plain

    written = site.module.source.text
    cursors = sorted({n for n in LITERAL.findall(written) if plain(n) in m.world.cursor_words}, key=_as_header)
    return cursors, [n for n in dict.fromkeys(COMPARED.findall(written)) if n not in cursors]


def _as_header(name: str) -> tuple[bool, str]:
    return "-" in name, name


def _of_request(m: Machine, c: Context) -> Value | None:
    """The query, or the address with it, of the request that is answered, where that is what a call is given."""
    found = leaves(c.arguments.first())
    words = m.rules.word_list("query_texts")
    sent = [leaf for leaf in found if isinstance(leaf, Input) and leaf.name in words]
    return sent[0] if sent and all(isinstance(leaf, Input | Const) for leaf in found) else None


def _unknown(c: Context) -> Value:
    given = (*c.arguments.positional, *c.arguments.keywords.values())
    return Unknown(f"what {c.entry.name} gives", any(mentions_cursor(v) for v in given))
