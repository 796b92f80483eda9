"""Globals that are nothing until some function sets them: where it was not seen to run, nobody knows what they are."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from sselint.read.python.interpreter.values import Const, Unknown, Value
from sselint.read.python.source.modules import Module

GLOBAL = re.compile(r"^[ \t]+global[ \t]+([\w, \t]+)", re.MULTILINE)


def alternatives(module: Module, name: str, options: Sequence[Value], rewritten: bool) -> list[Value]:
    """What a global may be beside the values that were seen: `None` alone, although a function of the module sets it
    and no run came to that, is not all that a request may find there."""
    nothing = len(options) == 1 and isinstance(options[0], Const) and options[0].value is None
    if not nothing or rewritten or name not in _set_later(module.source.text):
        return []
    return [Unknown(f"{name}, which a function sets that was not followed")]


@lru_cache(maxsize=2_048)
def _set_later(text: str) -> frozenset[str]:
    return frozenset(name for match in GLOBAL.finditer(text) for name in re.findall(r"\w+", match.group(1)))
