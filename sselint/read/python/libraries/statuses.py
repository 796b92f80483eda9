"""The numbers of statuses that libraries give names."""

from __future__ import annotations

import re
from http import HTTPStatus

from sselint.read.python.interpreter.machine import Machine
from sselint.read.python.interpreter.values import Const

STATUS = re.compile(r"HTTP_(\d{3})_[A-Z_]+")


def by_name(m: Machine, dotted: str) -> Const | None:
    """The number of a status by its name: `HTTP_409_CONFLICT`, or `CONFLICT` of what the rules say holds them."""
    holder, _, name = dotted.rpartition(".")
    numbered = STATUS.fullmatch(name) if name.startswith("HTTP_") else None
    if numbered is not None:
        return Const.of(int(numbered.group(1)))
    entry = m.rules.entry(holder)
    if entry is None or not entry.options.get("statuses") or name not in HTTPStatus.__members__:
        return None
    return Const.of(int(HTTPStatus[name]))
